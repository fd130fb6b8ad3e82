"""What the robot found itself keeps the states and places that skills told of it."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.domain.states import ObjectState
from memory_node.planner.found_things import FoundThings
from memory_node.world.state import Thing


def found(*things: Thing) -> FoundThings:
    kept = FoundThings(load_catalogue())
    for thing in things:
        kept.add(thing)
    return kept


APPLE = Thing("Apple", "Apple", "Apple", "apple")
BOWL, BOWL_2 = Thing("Bowl", "Bowl", "Bowl", "bowl"), Thing("Bowl 2", "Bowl", "Bowl", "bowl_2")


def put(support: str, place: str = "bowl") -> SkillResult:
    change = StateChange("apple", "Apple", 0, held=False, support_id=support)
    return SkillResult(SkillCall("PutObject", ("apple", place)), True, object_id="apple", changes=(change,))


@pytest.mark.parametrize("support", ["bowl", "Bowl@1.568,2.932,0.793"])
def test_support_is_known_by_the_robots_id_or_by_class_and_place(support: str) -> None:
    kept = found(APPLE, BOWL, BOWL_2)
    kept.observe(put(support))
    assert kept.state.container_of("Apple") == "Bowl"


def test_support_that_is_one_of_several_stays_unknown() -> None:
    kept = found(APPLE, BOWL, BOWL_2)
    kept.observe(put("Bowl@1.568,2.932,0.793", place="Bowl@1.568,2.932,0.793"))
    assert kept.state.container_of("Apple") == ""


def test_states_and_places_are_judged_under_the_names() -> None:
    kept = found(APPLE, BOWL)
    change = StateChange("apple", "Apple", 0, added=(ObjectState.CLEANED,))
    kept.observe(SkillResult(SkillCall("CleanObject", ("apple",)), True, object_id="apple", changes=(change,)))
    kept.observe(put("Bowl@1,2,3"))
    apple, bowl = kept.judged()
    assert (apple.id, apple.support_id, apple.states) == ("Apple", "Bowl", frozenset({ObjectState.CLEANED}))
    assert (bowl.id, bowl.support_id) == ("Bowl", "")


def test_what_is_left_out_is_nothings_support() -> None:
    kept = found(APPLE, BOWL)
    kept.observe(put("bowl"))
    kept.leave_out("Bowl")
    assert [(thing.id, thing.support_id) for thing in kept.judged()] == [("Apple", "")]
