"""What came of a skill is what memory sees afterwards; what it does not see is left open."""

from __future__ import annotations

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Target

PLACE = np.array([1.0, 0.0, 0.8])


class Sightings:
    """The part of the lookup that is asked, with what it tells each time."""

    def __init__(self, *seen: list[Target]) -> None:
        self._seen = list(seen)

    def all_seen_since(self, object_class: str, since_ns: int) -> list[Target]:
        found = self._seen.pop(0) if len(self._seen) > 1 else self._seen[0]
        return [one for one in found if one.object_class == object_class]


def thing(object_id: str, at: np.ndarray = PLACE, *states: ObjectState) -> Target:
    return Target(object_id, "Mug", OrientedBox(at, np.full(3, 0.1)), frozenset(states))


def look(*seen: list[Target], look_s: float = 1.0) -> SecondLook:
    return SecondLook(Sightings(*seen), lambda: 1, look_s, lambda _: None)  # type: ignore[arg-type]


def run(canceled: bool = False) -> SkillRun:
    return SkillRun(lambda: canceled, lambda *progress: None)


@pytest.mark.parametrize(
    ("states", "told"),
    [((ObjectState.ON,), True), ((ObjectState.OFF,), False), ((), None), ((ObjectState.DIRTY,), None)],
)
def test_state_is_what_is_seen(states: tuple[ObjectState, ...], told: bool | None) -> None:
    assert look([], [thing("a", PLACE, *states)]).is_now(thing("a"), ObjectState.ON, run()) is told


def test_state_of_another_thing_of_its_class_tells_nothing() -> None:
    assert look([thing("b", PLACE, ObjectState.OFF)]).is_now(thing("a"), ObjectState.ON, run()) is None


def test_nothing_is_looked_at_without_time() -> None:
    assert look([thing("a", PLACE, ObjectState.OFF)], look_s=0.0).is_now(thing("a"), ObjectState.ON, run()) is None


def test_thing_beside_its_place_lies_where_it_is_seen() -> None:
    floor = PLACE + np.array([0.3, 0.2, -0.8])
    assert look([thing("new", floor)]).is_at(thing("a"), PLACE, frozenset({"a"}), run()) == pytest.approx(floor)


def test_thing_at_its_place_and_thing_that_is_not_seen_are_not_doubted() -> None:
    near = PLACE + np.array([0.05, 0.05, 0.02])
    assert look([], [thing("a", near)]).is_at(thing("a"), PLACE, frozenset({"a"}), run()) is None
    assert look([]).is_at(thing("a"), PLACE, frozenset({"a"}), run()) is None


def test_another_that_was_known_before_is_not_what_was_put_down() -> None:
    other = thing("b", PLACE + np.array([0.5, 0.0, 0.0]))
    seen = look([other])
    assert seen.is_at(thing("a"), PLACE, seen.known("Mug"), run()) is None


def test_look_ends_when_the_caller_wants_it() -> None:
    with pytest.raises(SkillFailure) as caught:
        look([]).is_now(thing("a"), ObjectState.ON, run(canceled=True))
    assert caught.value.reason is FailureReason.CANCELED
