"""What results of skills and long-term memory make of the brief state."""

from memory_node.context.brief_state import BriefState, Section
from memory_node.context.state_keeper import first_state, kept
from memory_node.context.state_operations import FOLD_OVER, Fold, apply
from memory_node.context.step_observation import KnownThing, StepObservation, TakenStep
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState


def after(*steps: TakenStep, state: BriefState | None = None) -> BriefState:
    state = state or first_state("put the mug away", "")
    for step in steps:
        state = apply(kept(StepObservation(taken=step), state, {}), state)
    return state


def done(skill: str, *names: str) -> TakenStep:
    return TakenStep(SkillCall(skill, names), True)


def failed(reason: FailureReason, skill: str, *names: str, object_id: str = "") -> TakenStep:
    return TakenStep(SkillCall(skill, names), False, reason, object_id)


def test_first_state_knows_hand_and_no_place() -> None:
    assert first_state("put  the mug\naway", "Mug").lines() == (
        "Goal: put the mug away",
        "Robot: the hand holds Mug; the robot stands at nothing known",
    )


def test_effects_of_skills_are_followed() -> None:
    state = after(done("GoToObject", "Mug"), done("PickupObject", "Mug"))
    assert state.belief.agent == ("the hand holds Mug", "the robot stands at Mug")
    state = after(
        done("GoToObject", "Fridge"), done("OpenObject", "Fridge"), done("PutObject", "Mug", "Fridge"), state=state
    )
    assert state.belief.agent == ("the hand is empty", "the robot stands at Fridge")
    assert state.belief.locations == ("Mug is in or on Fridge",)
    assert state.belief.facts == ("Fridge is opened",)


def test_what_lay_on_something_leaves_the_robot_there() -> None:
    state = first_state("fetch the mug", "")
    state = apply(kept(StepObservation(), state, {"Mug": KnownThing("Mug", "Shelf")}), state)
    state = after(done("GoToObject", "Mug"), done("PickupObject", "Mug"), state=state)
    assert state.belief.agent == ("the hand holds Mug", "the robot stands at Shelf")
    assert state.belief.locations == ()


def test_failures_in_a_row_are_counted_and_success_ends_them() -> None:
    far = failed(FailureReason.TOO_FAR, "PickupObject", "Mug")
    state = after(far, far)
    assert state.belief.facts == ("PickupObject(Mug) failed 2 times: too_far", "Mug is out of reach")
    state = after(failed(FailureReason.EXECUTION, "PickupObject", "Mug"), state=state)
    assert "PickupObject(Mug) failed: execution" in state.belief.facts
    assert after(done("GoToObject", "Mug"), state=state).belief.facts == ()


def test_closed_receptacle_is_learnt_from_the_failure() -> None:
    state = after(failed(FailureReason.CLOSED, "PutObject", "Mug", "Fridge"))
    assert "Fridge is closed" in state.belief.facts
    state = after(done("OpenObject", "Fridge"), state=state)
    assert "Fridge is opened" in state.belief.facts
    assert "Fridge is closed" not in state.belief.facts


def test_thing_behind_a_door_is_learnt_with_its_container() -> None:
    state = after(failed(FailureReason.CLOSED, "PickupObject", "Egg", object_id="Fridge"))
    assert state.belief.locations == ("Egg is inside Fridge",)
    assert "Fridge is closed" in state.belief.facts


def test_composite_at_an_unnamed_appliance_leaves_the_place_open() -> None:
    state = after(done("GoToObject", "Mug"), done("PickupObject", "Mug"), done("CleanObject", "Mug"))
    assert "the robot stands at nothing known" in state.belief.agent
    assert "Mug is cleaned" in state.belief.facts


def test_long_term_memory_says_where_things_are() -> None:
    state = first_state("fetch the egg", "")
    known = {"Egg": KnownThing("Egg", "Fridge", inside=True), "Fridge": KnownThing("Fridge", states=(_CLOSED,))}
    state = apply(kept(StepObservation(), state, known), state)
    assert state.belief.locations == ("Egg is inside Fridge",)
    assert state.belief.facts == ("Fridge is closed",)


def test_what_the_hand_holds_has_no_place() -> None:
    state = first_state("wash the mug", "Mug")
    assert apply(kept(StepObservation(), state, {"Mug": KnownThing("Mug", "Shelf")}), state).belief.locations == ()


def test_what_is_close_by_is_believed_until_the_robot_drives_or_finds_it_out_of_reach() -> None:
    near = {"Mug": KnownThing("Mug", is_close=True)}
    state = first_state("fetch the mug", "")
    state = apply(kept(StepObservation(), state, near), state)
    assert state.belief.facts == ("Mug is close by",)
    far = StepObservation(taken=failed(FailureReason.TOO_FAR, "PickupObject", "Mug"))
    refused = apply(kept(far, state, near), state)
    assert "Mug is close by" not in refused.belief.facts
    assert "Mug is out of reach" in refused.belief.facts
    assert after(done("GoToObject", "Shelf"), state=state).belief.facts == ()


def test_subgoals_move_on() -> None:
    goals = ("clean Mug", "place Mug to Shelf", "place Mug to Shelf")
    state = apply(kept(StepObservation(goals), first_state("", ""), {}), first_state("", ""))
    assert (state.progress.current, state.progress.pending) == (
        "clean Mug",
        ("place Mug to Shelf", "place Mug to Shelf (2)"),
    )
    state = apply(kept(StepObservation(goals, 1, done("CleanObject", "Mug")), state, {}), state)
    assert state.progress.completed == ("clean Mug",)
    state = apply(
        kept(StepObservation(goals, 2, failed(FailureReason.OCCUPIED, "PutObject", "Mug", "Shelf")), state, {}), state
    )
    assert state.progress.completed == ("clean Mug",)
    assert "given up: place Mug to Shelf" in state.belief.facts
    state = apply(kept(StepObservation(goals, 3, done("PutObject", "Mug", "Shelf")), state, {}), state)
    assert (state.progress.current, state.progress.pending) == ("", ())


def test_many_finished_subgoals_are_folded() -> None:
    goals = tuple(f"clean Mug{n}" for n in range(20))
    state, folds = first_state("", ""), 0
    for index in range(20):
        delta = kept(StepObservation(goals, index), state, {})
        folds += any(isinstance(operation, Fold) for operation in delta)
        state = apply(delta, state)
    assert folds == 2
    assert len(state.progress.completed) <= FOLD_OVER
    told = " ".join((*state.progress.completed, *state.belief.facts))
    assert all(goal in told for goal in goals[:19])


def test_beliefs_stay_few() -> None:
    state = after(*(done("OpenObject", f"Drawer {n}") for n in range(30)))
    assert len(state.items(Section.FACTS)) == FOLD_OVER
    assert "Drawer 29 is opened" in state.belief.facts


_CLOSED = ObjectState.CLOSED
