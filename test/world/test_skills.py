"""What a skill needs, does and may be done with, in a believed world."""

from dataclasses import replace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import ObjectState
from memory_node.world.facts import MEANINGS
from memory_node.world.skills import after, after_failure, declared_changes, possible, unmet, with_declared_states
from memory_node.world.state import Thing, WorldState


def world(*names: str, held: str = "", at: str = "") -> WorldState:
    """Return a state of things that are called by their class, or by class and number."""
    things = [Thing(name, name.split()[0], name) for name in names]
    return WorldState.of_things(load_catalogue(), things).holding(held).standing_at(at)


def reasons(state: WorldState, skill: str, *arguments: str, known_only: bool = True) -> list[FailureReason]:
    return [one.reason for one in unmet(SKILLS[skill], state, SkillCall(skill, arguments), known_only)]


def done(state: WorldState, skill: str, *arguments: str) -> WorldState:
    return after(SKILLS[skill], state, SkillCall(skill, arguments))


def failed(state: WorldState, skill: str, *arguments: str, reason: FailureReason, thing: str = "") -> WorldState:
    return after_failure(SKILLS[skill], state, SkillCall(skill, arguments), reason, thing)


def test_every_declared_fact_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Predicate)


def test_what_nobody_knows_keeps_nobody_but_a_planner_from_a_call() -> None:
    state = world("Apple", "Fridge", held="Apple").standing_at(None)
    assert reasons(state, "PutObject", "Apple", "Fridge") == []
    assert reasons(state, "PutObject", "Apple", "Fridge", known_only=False) == [
        FailureReason.TOO_FAR,
        FailureReason.CLOSED,
    ]


def test_empty_hand_is_told_from_one_that_holds_something_else() -> None:
    assert reasons(world("Apple", "Table"), "ThrowObject", "Apple") == [FailureReason.HAND_EMPTY]
    assert reasons(world("Apple", "Mug", held="Mug"), "ThrowObject", "Apple") == [FailureReason.NOT_HOLDING]


def test_tool_is_one_that_can_do_what_the_skill_declares() -> None:
    for tool, wanted in (("Knife", []), ("Mug", [FailureReason.NOT_HOLDING])):
        assert reasons(world("Bread", tool, held=tool, at="Bread"), "SliceObject", "Bread") == wanted


def test_closed_thing_that_the_robot_names_is_what_memory_holds_it_to_be_in() -> None:
    state = world("Apple", "Fridge").put("Apple", "Fridge", True)
    told = failed(state, "GoToObject", "Apple", reason=FailureReason.CLOSED, thing="robots-fridge")
    assert (told.things["Fridge"].object_id, told.has("Fridge", ObjectState.CLOSED)) == ("robots-fridge", True)
    assert told.things["Apple"].container == "Fridge"
    on_a_table = world("Apple", "Table").put("Apple", "Table")
    moved = failed(on_a_table, "GoToObject", "Apple", reason=FailureReason.CLOSED, thing="robots-fridge")
    assert moved.things["Apple"].container == "robots-fridge"
    assert not moved.things["Table"].object_id


def test_thing_in_a_bowl_in_a_closed_fridge_is_not_accessible() -> None:
    state = world("Apple", "Bowl", "Fridge", at="Fridge").put("Apple", "Bowl", True).put("Bowl", "Fridge", True)
    state = state.with_state("Fridge", ObjectState.CLOSED)
    assert reasons(state, "PickupObject", "Apple") == [FailureReason.CLOSED]
    assert reasons(done(state, "OpenObject", "Fridge"), "PickupObject", "Apple") == []


def test_what_lies_on_a_closed_fridge_is_in_the_open() -> None:
    state = world("Bread", "Fridge", at="Fridge").put("Bread", "Fridge", False)
    assert reasons(state.with_state("Fridge", ObjectState.CLOSED), "PickupObject", "Bread", known_only=False) == []


def test_thing_is_in_its_receptacle_and_out_of_the_hand_after_putting() -> None:
    state = done(world("Apple", "Fridge", held="Apple", at="Fridge"), "PutObject", "Apple", "Fridge")
    assert (state.held, state.container_of("Apple"), state.things["Apple"].inside) == ("", "Fridge", True)


def test_other_things_on_a_support_stay_in_reach_after_one_was_taken() -> None:
    state = world("Apple", "Mug", "CounterTop", at="Apple").put("Apple", "CounterTop").put("Mug", "CounterTop")
    state = done(state, "PickupObject", "Apple")
    assert reasons(state.holding(""), "PickupObject", "Mug", known_only=False) == []


def test_cut_thing_goes_on_as_its_pieces_where_it_was() -> None:
    state = world("Bread", "Knife", "CounterTop", held="Knife", at="Bread").put("Bread", "CounterTop")
    declared = done(state.with_state("Bread", ObjectState.COLD), "SliceObject", "Bread").things["Bread"]
    assert (declared.object_class, declared.container) == ("BreadSliced", "CounterTop")
    assert declared.states == {ObjectState.SLICED, ObjectState.COLD}
    changes = [StateChange("Bread", "Bread", 1, destroyed=True)]
    changes += [StateChange(f"Bread/{n}", "BreadSliced", 1, created_from="Bread") for n in range(3)]
    told = state.told(changes).things["Bread"]
    assert (told.object_class, told.container, told.count) == ("BreadSliced", "CounterTop", 3)
    assert told.call_name == "Bread/0"


def test_lamps_are_offered_to_be_switched_and_taps_to_be_toggled() -> None:
    for name, offered in (("DeskLamp", "SwitchOn"), ("Faucet", "ToggleOn")):
        calls = {str(call) for call in possible(world(name, at=name), SKILLS.values())}
        assert f"{offered}({name})" in calls
        assert len([call for call in calls if call.endswith(f"On({name})")]) == 1


def test_what_changes_nothing_is_not_offered() -> None:
    state = world("Fridge", at="Fridge").with_state("Fridge", ObjectState.OPENED)
    assert {str(call) for call in possible(state, SKILLS.values())} == {"CloseObject(Fridge)"}


@pytest.mark.parametrize("thing", ["", "cabinet-7"])
def test_failure_tells_what_a_thing_is_shut_in(thing: str) -> None:
    state = world("Pen", "Cabinet 1").put("Pen", "Cabinet 1", True)
    state = failed(state, "PickupObject", "Pen", reason=FailureReason.CLOSED, thing=thing)
    assert state.container_of("Pen") == "Cabinet 1"
    assert state.has("Cabinet 1", ObjectState.CLOSED)
    assert state.things["Cabinet 1"].object_id == thing


def test_failure_tells_what_the_hand_holds() -> None:
    state = failed(world("Pen", "Mug"), "PickupObject", "Pen", reason=FailureReason.HAND_FULL, thing="Mug")
    assert state.held == "Mug"
    assert failed(state, "ThrowObject", "Pen", reason=FailureReason.HAND_EMPTY).held == ""


def test_switch_that_was_on_already_is_on() -> None:
    state = failed(world("Faucet"), "ToggleOn", "Faucet", reason=FailureReason.PRECONDITION)
    assert state.has("Faucet", ObjectState.ON)


def test_a_robot_that_tells_only_what_changed_has_brought_about_what_is_declared() -> None:
    held = StateChange("m1", "Lettuce", 5, held=True)
    cooled = SkillResult(SkillCall("CoolObject", ("m1", "Fridge")), True, object_id="m1", changes=(held,))
    (change,) = with_declared_states(cooled)
    assert (change.added, change.removed) == ((ObjectState.COLD,), (ObjectState.HEATED,))
    told = StateChange("m1", "Lettuce", 5, added=(ObjectState.HEATED,))
    assert with_declared_states(replace(cooled, changes=(told,))) == (told,), "the robot knows better"
    failed_call = replace(cooled, success=False, reason=FailureReason.EXECUTION)
    assert with_declared_states(failed_call) == (held,)


def test_declared_effects_are_changes_of_the_things_that_they_are_about() -> None:
    mug, table = Thing("", "Mug", object_id="m"), Thing("", "Table", object_id="t")
    things = {"object": mug, "receptacle": table}
    (put,) = declared_changes(SKILLS["PutObject"], things, 5, inside=True, position=(1.0, 2.0, 3.0))
    assert put == StateChange("m", "Mug", 5, held=False, support_id="t", inside=True, position=(1.0, 2.0, 3.0))
    (cooled,) = declared_changes(SKILLS["CoolObject"], {"object": mug}, 5)
    assert (cooled.added, cooled.removed) == ((ObjectState.COLD,), (ObjectState.HEATED,))
