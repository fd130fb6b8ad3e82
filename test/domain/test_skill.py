"""The call of Explore says what is looked for, where, and what does not count."""

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import Exploration, SkillCall


def test_call_is_read_as_it_was_written() -> None:
    asked = Exploration("Mug", ("1.0,2.0", "Fridge@1.0,2.0,0.9"), frozenset({"mug|1", "m-7"}))
    assert asked.call.arguments == ("Mug", "1.0,2.0", "Fridge@1.0,2.0,0.9", "not:m-7", "not:mug|1")
    assert Exploration.of(asked.call) == asked


def test_class_alone_leaves_the_places_to_the_robot() -> None:
    assert Exploration.of(SkillCall("Explore", ("Mug",))) == Exploration("Mug")


def test_call_without_a_class_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="class to look for"):
        Exploration.of(SkillCall("Explore"))
