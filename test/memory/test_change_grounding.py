from dataclasses import replace

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.intake.intake import ChangeGrounding
from memory_node.scene_graph.graph import SceneGraph


def thing(object_id: str, name: str, x_m: float, held: bool = False, within: str = "") -> SceneObject:
    return SceneObject(
        id=object_id,
        class_probabilities={name: 1.0},
        box=OrientedBox(np.array([x_m, 0.0, 0.8]), np.full(3, 0.1)),
        covariance=np.eye(3) * 1e-4,
        existence=0.9,
        first_seen_ns=1,
        last_seen_ns=1,
        support_id="robot" if held else within,
    )


class Things:
    def __init__(self, *things: SceneObject) -> None:
        self._scene = SceneGraph()
        self._made = iter(f"new{i}" for i in range(9))
        self.put(*things)

    def put(self, *things: SceneObject) -> None:
        for one in things:
            self._scene.add_object(one)

    def grounding(self) -> ChangeGrounding:
        return ChangeGrounding(self._scene, lambda: next(self._made))


@pytest.fixture
def things() -> Things:
    return Things(thing("a1", "Apple", 1.0), thing("a2", "Apple", 3.0), thing("t", "Table", 1.0))


def test_nearest_of_the_class_is_meant(things: Things) -> None:
    change = StateChange("their-7", "Apple", 1, held=True, position=(2.8, 0.0, 0.8))
    assert things.grounding().ground(change).object_id == "a2"


def test_executors_id_is_remembered_once_it_is_resolved(things: Things) -> None:
    grounding = things.grounding()
    grounding.ground(StateChange("their-7", "Apple", 1, held=True, position=(2.8, 0.0, 0.8)))
    later = grounding.ground(StateChange("their-7", "Apple", 2, held=False, position=(9.0, 0.0, 0.8)))
    assert (later.object_id, later.position) == ("a2", (9.0, 0.0, 0.8))


def test_executors_id_is_of_another_thing_once_memory_knows_one_where_the_executor_has_it() -> None:
    things = Things(thing("d1", "Drawer", 1.0))
    grounding = things.grounding()
    change = StateChange("their-7", "Drawer", 1, added=(ObjectState.OPENED,), position=(1.2, 0.0, 0.8))
    assert grounding.ground(change).object_id == "d1"
    things.put(thing("d2", "Drawer", 1.21))
    effect = StateChange("their-7", "Drawer", 2, added=(ObjectState.CLEANED,), position=(1.2, 0.0, 0.8))
    assert grounding.ground(effect).object_id == "d2"


def test_an_executors_id_whose_thing_turns_out_to_be_anothers_is_looked_up_anew() -> None:
    things = Things(thing("a1", "Apple", 1.0), thing("a2", "Apple", 1.4))
    grounding = things.grounding()
    mine = StateChange("their-1", "Apple", 1, held=True, position=(1.0, 0.0, 0.8))
    other = StateChange("their-2", "Apple", 1, added=(ObjectState.CLEANED,), position=(1.4, 0.0, 0.8))
    assert [grounding.ground(one).object_id for one in (mine, other)] == ["a1", "a2"]
    # Memory knows them the other way round: like things are not told apart.
    things.put(thing("a1", "Apple", 1.4), thing("a2", "Apple", 1.0))
    assert [grounding.ground(one).object_id for one in (mine, other)] == ["a2", "a1"]


def test_what_is_held_is_the_same_thing_whatever_lies_where_it_was() -> None:
    things = Things(thing("a1", "Apple", 1.0, held=True))
    grounding = things.grounding()
    change = StateChange("their-7", "Apple", 1, held=True, position=(1.2, 0.0, 0.8))
    assert grounding.ground(change).object_id == "a1"
    things.put(thing("a2", "Apple", 1.2))
    assert grounding.ground(change).object_id == "a1"


def test_what_is_opened_in_a_box_that_is_carried_stays_the_same_thing() -> None:
    box, laptop = thing("b", "Box", 1.0), thing("l1", "Laptop", 1.0, within="b")
    things = Things(box, laptop, thing("l2", "Laptop", 3.2))
    grounding = things.grounding()
    change = StateChange("their-7", "Laptop", 1, added=(ObjectState.OPENED,), position=(1.0, 0.0, 0.8))
    assert grounding.ground(change).object_id == "l1"
    things.put(thing("b", "Box", 1.0, held=True), laptop)
    assert grounding.ground(replace(change, position=(3.0, 0.0, 0.8))).object_id == "l1"
    things.put(box, laptop)
    assert grounding.ground(replace(change, position=(3.0, 0.0, 0.8))).object_id == "l2"


@pytest.mark.parametrize("told", [{"held": False}, {"support_id": "t1"}])
def test_what_an_executor_put_beside_a_like_thing_stays_the_same_thing(told: dict[str, object]) -> None:
    things = Things(thing("t1", "Table", 3.0), thing("m1", "Mug", 1.0))
    grounding = things.grounding()
    grounding.ground(StateChange("their-7", "Mug", 1, added=(ObjectState.CLEANED,), position=(1.0, 0.0, 0.8)))
    things.put(thing("m2", "Mug", 3.1))
    put = replace(StateChange("their-7", "Mug", 2, position=(3.0, 0.0, 0.8)), **told)
    assert grounding.ground(put).object_id == "m1"


def test_place_of_a_mere_effect_is_no_news(things: Things) -> None:
    change = things.grounding().ground(StateChange("their-7", "Apple", 1, position=(1.1, 0.0, 0.8)))
    assert (change.object_id, change.position) == ("a1", None)


def test_support_by_class_and_place_becomes_its_id(things: Things) -> None:
    change = StateChange("a1", "Apple", 1, held=False, support_id="Table@1.100,0.000,0.800", position=(1.0, 0.0, 0.8))
    assert things.grounding().ground(change).support_id == "t"


def test_what_is_put_down_is_what_was_held() -> None:
    things = Things(thing("a1", "Apple", 1.0), thing("a2", "Apple", 1.1, held=True))
    change = StateChange("", "Apple", 1, held=False, position=(1.0, 0.0, 0.8))
    assert things.grounding().ground(change).object_id == "a2"


def test_unknown_thing_and_slice_get_new_ids(things: Things) -> None:
    grounding = things.grounding()
    assert grounding.ground(StateChange("x", "Apple", 1, position=(7.0, 0.0, 0.8))).object_id == "new0"
    grounding.ground(StateChange("whole", "Apple", 1, position=(1.0, 0.0, 0.8), destroyed=True))
    cut = grounding.ground(StateChange("s1", "AppleSliced", 2, position=(1.0, 0.0, 0.8), created_from="whole"))
    assert (cut.object_id, cut.created_from) == ("new1", "a1")


def test_executors_id_that_was_named_longest_ago_is_forgotten_first(
    things: Things, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_node.intake.intake.KNOWN_IDS", 2)
    grounding = things.grounding()
    for name, x_m in (("one", 1.0), ("two", 3.0), ("one", 1.0), ("three", 3.0)):
        grounding.ground(StateChange(name, "Apple", 1, position=(x_m, 0.0, 0.8)))
    told = {name: grounding.ground(StateChange(name, "Apple", 2)).object_id for name in ("one", "two")}
    assert told == {"one": "a1", "two": "new0"}, (
        "of two apples nobody can tell which is meant by an id that is forgotten"
    )
