"""Searched plans respect what the skills declare."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.domain.states import ObjectState
from memory_node.planner.planner import PlanningFailedError
from memory_node.planner.search import find_plan
from memory_node.world.state import Thing, WorldState


@pytest.fixture
def state() -> WorldState:
    named = (("apple", "Apple"), ("fridge", "Fridge"), ("counter", "CounterTop"))
    return WorldState.of_things(load_catalogue(), [Thing(name, of_class, of_class) for name, of_class in named])


def plan(state: WorldState, *wanted: Fact) -> list[str]:
    return [str(call) for call in find_plan(state, wanted)]


def test_closed_container_is_opened_before_something_goes_in(state: WorldState) -> None:
    state = state.holding("apple").with_state("fridge", ObjectState.CLOSED)
    wanted = Fact(Predicate.CONTAINED, ("apple", "fridge"))
    assert plan(state, wanted) == ["GoToObject(fridge)", "OpenObject(fridge)", "PutObject(apple, fridge)"]


def test_thing_in_closed_container_is_let_out_first(state: WorldState) -> None:
    state = state.put("apple", "fridge").with_state("fridge", ObjectState.CLOSED)
    steps = plan(state, Fact(Predicate.HOLDING, ("apple",)))
    assert steps.index("OpenObject(fridge)") < steps.index("PickupObject(apple)")


def test_hand_is_emptied_for_the_knife_and_after_cutting(state: WorldState) -> None:
    state = state.with_thing(Thing("knife", "Knife", "Knife"))
    state = state.holding("apple")
    steps = plan(state, Fact(Predicate.STATE, ("apple",), state=ObjectState.SLICED))
    assert steps[:2] == ["GoToObject(counter)", "PutObject(apple, counter)"]
    assert steps[-1] == "SliceObject(apple)"
    assert "PickupObject(knife)" in steps


def test_what_holds_already_needs_no_step(state: WorldState) -> None:
    state = state.put("apple", "counter")
    assert plan(state, Fact(Predicate.CONTAINED, ("apple", "counter"))) == []


def test_composite_names_the_fixture_and_needs_the_object_in_the_hand(state: WorldState) -> None:
    state = state.with_thing(Thing("sink", "SinkBasin", "SinkBasin@1,2,0.9"))
    steps = plan(state, Fact(Predicate.STATE, ("apple",), state=ObjectState.CLEANED))
    assert steps[-2:] == ["PickupObject(apple)", "CleanObject(apple, sink)"]


def test_lamps_are_switched_and_taps_are_toggled(state: WorldState) -> None:
    state = state.with_thing(Thing("lamp", "DeskLamp", "DeskLamp"))
    state = state.with_thing(Thing("tap", "Faucet", "Faucet"))
    assert plan(state, Fact(Predicate.STATE, ("lamp",), state=ObjectState.ON))[-1] == "SwitchOn(lamp)"
    assert plan(state, Fact(Predicate.STATE, ("tap",), state=ObjectState.ON))[-1] == "ToggleOn(tap)"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Fact(Predicate.HOLDING, ("fridge",)), "cannot carry the fridge"),
        (Fact(Predicate.CONTAINED, ("counter", "fridge")), "cannot carry the counter"),
        (Fact(Predicate.CONTAINED, ("apple", "lamp")), "cannot put anything in or on the .*lamp"),
        (Fact(Predicate.STATE, ("fridge",), state=ObjectState.SLICED), "know no way"),
        (Fact(Predicate.HOLDING_TOOL, ability="cuts"), "know no way"),
    ],
)
def test_impossible_wish_is_refused(state: WorldState, wanted: Fact, reason: str) -> None:
    state = state.with_thing(Thing("lamp", "DeskLamp", "DeskLamp"))
    with pytest.raises(PlanningFailedError, match=reason):
        find_plan(state, [wanted])


def test_thing_out_of_reach_from_its_support_is_driven_to_itself(state: WorldState) -> None:
    state = state.put("apple", "counter").standing_at("counter")
    wanted = Fact(Predicate.HOLDING, ("apple",))
    assert plan(state, wanted) == ["PickupObject(apple)"]
    state = state.out_of_reach("apple")
    assert plan(state, wanted) == ["GoToObject(apple)", "PickupObject(apple)"]


def test_plan_leaves_out_what_the_robot_cannot_do_and_says_what_it_lacks(state: WorldState) -> None:
    able = ALL_SKILLS - {"CleanObject", "OpenObject"}
    steps = find_plan(state, [Fact(Predicate.CONTAINED, ("apple", "counter"))], skills=able)
    assert str(steps[-1]) == "PutObject(apple, counter)"
    state = state.holding("apple").with_state("fridge", ObjectState.CLOSED)
    with pytest.raises(PlanningFailedError, match="needs OpenObject"):
        find_plan(state, [Fact(Predicate.CONTAINED, ("apple", "fridge"))], skills=able)


def test_what_is_in_the_way_is_not_put_into_the_thing_that_is_wanted(state: WorldState) -> None:
    state = state.with_thing(Thing("bowl", "Bowl", "Bowl"))
    state = state.holding("apple")
    steps = plan(state, Fact(Predicate.HOLDING, ("bowl",)))
    assert "PutObject(apple, bowl)" not in steps
    assert "PickupObject(bowl)" in steps


def test_nobody_is_handed_what_is_only_in_the_way(state: WorldState) -> None:
    for name, of_class in (("user", "User"), ("knife", "Knife")):
        state = state.with_thing(Thing(name, of_class, of_class))
    state = state.holding("knife").standing_at("user")
    steps = plan(state, Fact(Predicate.CONTAINED, ("apple", "user")))
    assert "PutObject(knife, user)" not in steps
    assert steps[-1] == "PutObject(apple, user)"


@pytest.mark.parametrize("wanted", ["GarbageCan", "Fridge", "SinkBasin", "Toaster"])
def test_what_is_only_in_the_way_does_not_go_where_another_thing_is_to(state: WorldState, wanted: str) -> None:
    for name, of_class in (("mug", "Mug"), ("place", wanted)):
        state = state.with_thing(Thing(name, of_class, of_class))
    state = state.holding("mug").standing_at("place")
    steps = plan(state, Fact(Predicate.CONTAINED, ("apple", "place")))
    assert [one for one in steps if one.startswith("Put")] == ["PutObject(mug, counter)", "PutObject(apple, place)"]
