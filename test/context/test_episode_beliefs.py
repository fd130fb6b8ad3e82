"""What results of skills and long-term memory make of the brief state."""

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.beliefs import MOST_TOLD, Beliefs
from memory_node.context.brief_state import FOLD_OVER, BriefState, Section, apply
from memory_node.context.episode_guidance import difference, first_beliefs, kept
from memory_node.context.guidance import KnownThing, StepObservation, TakenStep
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.world.state import Thing

KINDS = load_catalogue()
START = first_beliefs("put the mug away", None, KINDS)


def followed(*steps: TakenStep, beliefs: Beliefs = START) -> Beliefs:
    for step in steps:
        beliefs = kept(beliefs, StepObservation(taken=step), {})
    return beliefs


def after(*steps: TakenStep, beliefs: Beliefs = START) -> BriefState:
    return followed(*steps, beliefs=beliefs).brief()


def done(skill: str, *names: str) -> TakenStep:
    return TakenStep(SkillCall(skill, names), True)


def failed(reason: FailureReason, skill: str, *names: str, object_id: str = "") -> TakenStep:
    return TakenStep(SkillCall(skill, names), False, reason, object_id)


def test_first_state_knows_hand_and_no_place() -> None:
    assert first_beliefs("put  the mug\naway", Thing("Mug", "Mug"), KINDS).brief().lines() == (
        "Goal: put the mug away",
        "Robot: the hand holds Mug; the robot stands at nothing known",
    )


def test_effects_of_skills_are_followed() -> None:
    beliefs = followed(done("GoToObject", "Mug"), done("PickupObject", "Mug"))
    assert beliefs.brief().agent == ("the hand holds Mug", "the robot stands at Mug")
    steps = done("GoToObject", "Fridge"), done("OpenObject", "Fridge"), done("PutObject", "Mug", "Fridge")
    state = after(*steps, beliefs=beliefs)
    assert state.agent == ("the hand is empty", "the robot stands at Fridge")
    assert state.locations == ("Mug is inside Fridge",)
    assert state.facts == ("Fridge is opened",)


def test_what_lay_on_something_leaves_the_robot_there() -> None:
    beliefs = kept(START, StepObservation(), {"Mug": KnownThing("Mug", "Shelf"), "Shelf": KnownThing("Shelf")})
    state = after(done("GoToObject", "Mug"), done("PickupObject", "Mug"), beliefs=beliefs)
    assert state.agent == ("the hand holds Mug", "the robot stands at Shelf")
    assert state.locations == ()


def test_failures_in_a_row_are_counted_and_success_ends_them() -> None:
    far = failed(FailureReason.TOO_FAR, "PickupObject", "Mug")
    beliefs = followed(far, far)
    assert set(beliefs.brief().facts) == {
        "PickupObject(Mug) failed 2 times: too_far",
        "Mug is out of reach",
    }
    beliefs = followed(failed(FailureReason.EXECUTION, "PickupObject", "Mug"), beliefs=beliefs)
    assert "PickupObject(Mug) failed: execution" in beliefs.brief().facts
    assert after(done("GoToObject", "Mug"), beliefs=beliefs).facts == ()


def test_closed_receptacle_is_learnt_from_the_failure() -> None:
    beliefs = followed(failed(FailureReason.CLOSED, "PutObject", "Mug", "Fridge"))
    assert "Fridge is closed" in beliefs.brief().facts
    state = after(done("OpenObject", "Fridge"), beliefs=beliefs)
    assert "Fridge is opened" in state.facts
    assert "Fridge is closed" not in state.facts


def test_thing_behind_a_door_is_learnt_with_its_container() -> None:
    state = after(failed(FailureReason.CLOSED, "PickupObject", "Egg", object_id="Fridge"))
    assert state.locations == ("Egg is inside Fridge",)
    assert "Fridge is closed" in state.facts


def test_composite_at_an_unnamed_appliance_leaves_the_place_open() -> None:
    state = after(done("GoToObject", "Mug"), done("PickupObject", "Mug"), done("CleanObject", "Mug"))
    assert "the robot stands at nothing known" in state.agent
    assert "Mug is cleaned" in state.facts


def test_long_term_memory_says_where_things_are() -> None:
    known = {"Egg": KnownThing("Egg", "Fridge", inside=True), "Fridge": KnownThing("Fridge", states=(_CLOSED,))}
    state = kept(START, StepObservation(), known).brief()
    assert state.locations == ("Egg is inside Fridge",)
    assert state.facts == ("Fridge is closed",)


def test_what_the_hand_holds_has_no_place() -> None:
    beliefs = first_beliefs("wash the mug", Thing("Mug", "Mug"), KINDS)
    known = {"Mug": KnownThing("Mug", "Shelf"), "Shelf": KnownThing("Shelf")}
    assert kept(beliefs, StepObservation(), known).brief().locations == ()


def test_what_is_close_by_is_believed_until_the_robot_drives_or_finds_it_out_of_reach() -> None:
    near = {"Mug": KnownThing("Mug", is_close=True)}
    beliefs = kept(START, StepObservation(), near)
    assert beliefs.brief().facts == ("Mug is close by",)
    far = StepObservation(taken=failed(FailureReason.TOO_FAR, "PickupObject", "Mug"))
    refused = kept(beliefs, far, near).brief()
    assert "Mug is close by" not in refused.facts
    assert "Mug is out of reach" in refused.facts
    assert after(done("GoToObject", "Shelf"), beliefs=beliefs).facts == ()


def test_subgoals_move_on() -> None:
    goals = ("clean Mug", "place Mug to Shelf", "place Mug to Shelf")
    beliefs = kept(START, StepObservation(goals), {})
    progress = beliefs.progress
    assert (progress.current, progress.pending) == ("clean Mug", ("place Mug to Shelf", "place Mug to Shelf (2)"))
    beliefs = kept(beliefs, StepObservation(goals, 1, done("CleanObject", "Mug")), {})
    assert beliefs.progress.completed == ("clean Mug",)
    occupied = failed(FailureReason.OCCUPIED, "PutObject", "Mug", "Shelf")
    beliefs = kept(beliefs, StepObservation(goals, 2, occupied), {})
    assert beliefs.progress.completed == ("clean Mug",)
    assert "given up: place Mug to Shelf" in beliefs.brief().facts
    beliefs = kept(beliefs, StepObservation(goals, 3, done("PutObject", "Mug", "Shelf")), {})
    assert (beliefs.progress.current, beliefs.progress.pending) == ("", ())


def test_goal_that_was_taken_back_is_not_completed_and_what_was_met_behind_it_is_not_pending() -> None:
    goals = ("close Fridge", "clean Mug", "place Mug to Shelf")
    beliefs = START
    for index in (0, 1, 2, 0):
        beliefs = kept(beliefs, StepObservation(goals, index, done("CleanObject", "Mug")), {})
    progress = beliefs.progress
    assert (progress.completed, progress.current) == (("clean Mug",), "close Fridge")
    assert progress.pending == ("place Mug to Shelf",)


def test_many_finished_subgoals_are_folded() -> None:
    goals = tuple(f"clean Mug{n}" for n in range(20))
    beliefs = START
    for index in range(20):
        beliefs = kept(beliefs, StepObservation(goals, index), {})
    state = beliefs.brief()
    assert len(state.completed) <= FOLD_OVER
    told = " ".join((*state.completed, *state.facts))
    assert all(goal in told for goal in goals[:19])


def test_beliefs_stay_few() -> None:
    state = after(*(done("OpenObject", f"Drawer {n}") for n in range(30)))
    assert len(state.items(Section.FACTS)) == MOST_TOLD
    assert "Drawer 29 is opened" in state.facts


def test_changes_of_a_model_stay_while_the_rules_tell_more() -> None:
    """A model has dropped one item, written one of its own and replaced the current subgoal."""
    before = kept(START, StepObservation(("clean Mug",), taken=done("OpenObject", "Fridge")), {})
    now = kept(before, StepObservation(("clean Mug", "cool Mug"), 1, done("CloseObject", "Fridge")), {})
    changed = before.brief().with_items(Section.FACTS, ("the mug is chipped",))
    changed = changed.with_items(Section.CURRENT, ("wash the mug well",))
    state = apply(difference(before.brief(), now.brief(), changed), changed)
    assert set(state.facts) == {"the mug is chipped", "Fridge is closed"}
    assert state.current == "cool Mug"
    assert apply(difference(now.brief(), now.brief(), state), state) == state


_CLOSED = ObjectState.CLOSED
