"""Verbs that treat things are carried out at the places, with the tools and in the vessels that they need."""

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanProgress, ProgressKind

S = ObjectState


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder)


def classes_used(robot: SeeingRobot, result: InstructionResult, *skills: str) -> set[str]:
    """Return the classes of the last arguments of successful skills."""
    used = [step.step.call for step in result.steps if step.result.success and step.step.call.skill in skills]
    texts = [call.arguments[-1] for call in used]
    return {robot.world[text].class_name if text in robot.world else text.partition("@")[0] for text in texts}


def states_of(robot: SeeingRobot, class_name: str) -> set[ObjectState]:
    return {state for thing in robot.world.of_class(class_name) for state in thing.states}


def test_toast_is_made_of_a_slice_in_the_toaster(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("toast the bread and put it on the plate")
    assert result.success, result.outcome.failures
    assert classes_used(robot, result, "HeatObject") == {"Toaster"}
    toast = [piece for piece in robot.world.of_class("BreadSliced") if S.COOKED in piece.states]
    assert [robot.world[piece.parent_id].class_name for piece in toast] == ["Plate"]


def test_boiling_takes_a_pot_on_a_burner_that_is_off_again(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("mash the potato")
    assert result.success, result.outcome.failures
    (boiled,) = robot.world.of_class("Potato")
    pot = robot.world[boiled.parent_id]
    assert {S.HEATED, S.COOKED} <= boiled.states
    assert (pot.class_name, robot.world[pot.parent_id].class_name) == ("Pot", "StoveBurner")
    assert not any(burner.is_on for burner in robot.world.of_class("StoveBurner"))


def test_frying_uses_the_pan_where_it_stands_on_the_stove(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("fry the egg and bring it to me")
    assert result.success, result.outcome.failures
    (egg,) = robot.world.of_class("Egg")
    assert S.COOKED in egg.states
    assert robot.world[egg.parent_id].class_name == "User"
    assert robot.world["pan"].parent_id == "burner_front"


@pytest.mark.parametrize(
    ("text", "thing", "place"),
    [("bake the potato", "Potato", "Oven"), ("melt the butter", "Butter", "Microwave")],
)
def test_heat_comes_from_what_the_verb_asks_for(robot, word_embedder, text: str, thing: str, place: str) -> None:
    result = executor(robot, word_embedder).execute(text)
    assert result.success, result.outcome.failures
    assert classes_used(robot, result, "HeatObject") == {place}
    assert S.HEATED in states_of(robot, thing)


def test_peeling_takes_a_knife(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("peel the apple")
    assert result.success, result.outcome.failures
    assert robot.world.held.class_name in ("Knife", "ButterKnife")
    assert robot.world.of_class("AppleSliced")


def test_vessel_is_emptied_over_a_sink(robot, word_embedder) -> None:
    robot.world.change_state(robot.world["cup"], S.FILLED)
    robot.world.take_changes()
    result = executor(robot, word_embedder).execute("pour out the cup")
    assert result.success, result.outcome.failures
    assert S.FILLED not in robot.world["cup"].states
    went = classes_used(robot, result, "GoToObject")
    assert went & {"SinkBasin", "BathtubBasin", "Toilet"}


def test_without_a_toaster_bread_is_heated_as_usual_and_that_is_said(robot, word_embedder) -> None:
    robot.world.destroy(robot.world["toaster"])
    robot.world.take_changes()
    notes: list[PlanProgress] = []
    result = executor(robot, word_embedder).execute("toast the bread", on_progress=notes.append)
    assert result.success, result.outcome.failures
    assert classes_used(robot, result, "HeatObject") == {"Microwave"}
    assert any(note.kind is ProgressKind.NOTE and "toaster" in note.text for note in notes)


def test_what_cannot_be_heated_is_not_heated(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("heat the book")
    assert not result.success
    assert not classes_used(robot, result, "HeatObject")


@pytest.mark.parametrize(
    ("text", "thing", "place"),
    [
        ("put the potato in the oven", "Potato", "Oven"),
        ("put the spatula in the toaster", "Spatula", "Toaster"),
    ],
)
def test_things_go_in_and_on_what_holds_them(robot, word_embedder, text: str, thing: str, place: str) -> None:
    result = executor(robot, word_embedder).execute(text)
    assert result.success, result.outcome.failures
    (moved,) = robot.world.of_class(thing)
    assert robot.world[moved.parent_id].class_name == place


@pytest.mark.parametrize("name", ["oven", "stove"])
def test_appliances_are_switched(robot, word_embedder, name: str) -> None:
    on = executor(robot, word_embedder).execute(f"turn on the {name}")
    assert on.success, on.outcome.failures
    running = [thing for thing in robot.world if thing.is_on]
    assert len(running) == 1
    assert executor(robot, word_embedder).execute(f"turn off the {name}").success
    assert not running[0].is_on
