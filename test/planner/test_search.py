"""Searched plans respect what the skills declare."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief
from memory_node.planner.planner import PlanningFailedError
from memory_node.planner.search import Wanted, find_plan
from memory_node.world.state import Thing, WorldState


@pytest.fixture
def belief() -> Belief:
    belief = Belief(WorldState(load_catalogue()))
    for name, object_class in (("apple", "Apple"), ("fridge", "Fridge"), ("counter", "CounterTop")):
        belief.add(Thing(name, object_class, object_class))
    return belief


def plan(belief: Belief, *wanted: Wanted) -> list[str]:
    return [str(call) for call in find_plan(belief, wanted)]


def test_closed_container_is_opened_before_something_goes_in(belief: Belief) -> None:
    belief.state = belief.state.holding("apple").with_state("fridge", ObjectState.CLOSED)
    wanted = Wanted(Predicate.CONTAINED, ("apple", "fridge"))
    assert plan(belief, wanted) == ["GoToObject(Fridge)", "OpenObject(Fridge)", "PutObject(Apple, Fridge)"]


def test_thing_in_closed_container_is_let_out_first(belief: Belief) -> None:
    belief.state = belief.state.put("apple", "fridge").with_state("fridge", ObjectState.CLOSED)
    steps = plan(belief, Wanted(Predicate.HOLDING, ("apple",)))
    assert steps.index("OpenObject(Fridge)") < steps.index("PickupObject(Apple)")


def test_hand_is_emptied_for_the_knife_and_after_cutting(belief: Belief) -> None:
    belief.add(Thing("knife", "Knife", "Knife"))
    belief.state = belief.state.holding("apple")
    steps = plan(belief, Wanted(Predicate.STATE, ("apple",), ObjectState.SLICED))
    assert steps[:2] == ["GoToObject(CounterTop)", "PutObject(Apple, CounterTop)"]
    assert steps[-1] == "SliceObject(Apple)"
    assert "PickupObject(Knife)" in steps


def test_what_holds_already_needs_no_step(belief: Belief) -> None:
    belief.state = belief.state.put("apple", "counter")
    assert plan(belief, Wanted(Predicate.CONTAINED, ("apple", "counter"))) == []


def test_composite_names_the_fixture_and_needs_the_object_in_the_hand(belief: Belief) -> None:
    belief.add(Thing("sink", "SinkBasin", "SinkBasin@1,2,0.9"))
    steps = plan(belief, Wanted(Predicate.STATE, ("apple",), ObjectState.CLEANED))
    assert steps[-2:] == ["PickupObject(Apple)", "CleanObject(Apple, SinkBasin@1,2,0.9)"]


def test_lamps_are_switched_and_taps_are_toggled(belief: Belief) -> None:
    belief.add(Thing("lamp", "DeskLamp", "DeskLamp"))
    belief.add(Thing("tap", "Faucet", "Faucet"))
    assert plan(belief, Wanted(Predicate.STATE, ("lamp",), ObjectState.ON))[-1] == "SwitchOn(DeskLamp)"
    assert plan(belief, Wanted(Predicate.STATE, ("tap",), ObjectState.ON))[-1] == "ToggleOn(Faucet)"


def test_impossible_wish_is_refused(belief: Belief) -> None:
    with pytest.raises(PlanningFailedError, match="no skills lead"):
        find_plan(belief, [Wanted(Predicate.HOLDING, ("fridge",))])


def test_thing_out_of_reach_from_its_support_is_driven_to_itself(belief: Belief) -> None:
    belief.state = belief.state.put("apple", "counter").standing_at("counter")
    wanted = Wanted(Predicate.HOLDING, ("apple",))
    assert plan(belief, wanted) == ["PickupObject(Apple)"]
    belief.state = belief.state.out_of_reach("apple")
    assert plan(belief, wanted) == ["GoToObject(Apple)", "PickupObject(Apple)"]


def test_plan_leaves_out_what_the_robot_cannot_do_and_says_what_it_lacks(belief: Belief) -> None:
    belief.skills = ALL_SKILLS - {"CleanObject", "OpenObject"}
    steps = plan(belief, Wanted(Predicate.CONTAINED, ("apple", "counter")))
    assert steps[-1] == "PutObject(Apple, CounterTop)"
    belief.state = belief.state.holding("apple").with_state("fridge", ObjectState.CLOSED)
    with pytest.raises(PlanningFailedError, match="needs OpenObject: not available on this robot"):
        find_plan(belief, [Wanted(Predicate.CONTAINED, ("apple", "fridge"))])


def test_what_is_in_the_way_is_not_put_into_the_thing_that_is_wanted(belief: Belief) -> None:
    belief.add(Thing("bowl", "Bowl", "Bowl"))
    belief.state = belief.state.holding("apple")
    steps = plan(belief, Wanted(Predicate.HOLDING, ("bowl",)))
    assert "PutObject(Apple, Bowl)" not in steps
    assert "PickupObject(Bowl)" in steps
