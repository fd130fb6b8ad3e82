"""Units by object and by class, and those that left."""

import numpy as np

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.short_term.units import HeldUnits


def unit(object_id: str, object_class: str = "Mug") -> MemoryUnit:
    return MemoryUnit(object_id, object_class, np.zeros(3), np.eye(3), 1)


def test_a_unit_with_another_class_leaves_its_old_class() -> None:
    units = HeldUnits()
    units.put(unit("a", "Mug"))
    units.put(unit("a", "Cup"))
    assert units.ids_of_class("Mug") == ()
    assert units.ids_of_class("Cup") == ("a",)
    assert [held.object_class for held in units.all()] == ["Cup"]


def test_a_unit_that_left_is_known_until_sixteen_others_have_left() -> None:
    units = HeldUnits()
    for number in range(17):
        units.put(unit(f"o{number}"))
        units.drop(f"o{number}")
    assert len(units) == 0
    assert units.held_or_departed("o0") is None
    assert units.held_or_departed("o1") is not None
    units.forget_departed()
    assert units.held_or_departed("o1") is None


def test_a_unit_that_comes_back_has_not_left() -> None:
    units = HeldUnits()
    units.put(unit("a", "Bread"))
    units.drop("a")
    units.put(unit("a", "Loaf"))
    units.forget_departed()
    found = units.held_or_departed("a")
    assert found is not None
    assert found.object_class == "Loaf"


def test_named_units_are_held_ones_of_an_id_or_a_class() -> None:
    units = HeldUnits()
    for object_id, object_class in (("a", "Mug"), ("b", "Cup"), ("c", "Cup")):
        units.put(unit(object_id, object_class))
    assert units.named(["a", "gone"], ["Cup", "Plate"]) == {"a", "b", "c"}
