"""The offline planner carries instructions out in a simulated home, with and without memory."""

import itertools

import numpy as np
import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import ALL_SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.planner import ProgressKind
from memory_node.sim.placement import Spot, free_spot


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder)


def test_second_instruction_needs_no_exploration_because_memory_answers(robot, word_embedder) -> None:
    run = executor(robot, word_embedder)
    first = run.execute("wash an apple and put it in the bowl")
    second = run.execute("bring me the apple")
    assert first.success
    assert second.success
    assert first.explorations > 0
    assert second.explorations == 0
    assert second.lookups_hit > 0
    apple = robot.world["apple"]
    assert ObjectState.CLEANED in apple.states
    assert robot.world[apple.parent_id].class_name == "User"


def test_without_memory_every_instruction_explores(robot, word_embedder) -> None:
    run = executor(robot, word_embedder, "none")
    run.execute("wash an apple and put it in the bowl")
    second = run.execute("bring me the apple")
    assert second.success
    assert second.explorations > 0
    assert second.lookups_answered == 0


def test_moved_object_is_found_again(robot, word_embedder) -> None:
    run = executor(robot, word_embedder)
    assert run.execute("put the apple on the counter").success
    world = robot.world
    table = world.of_class("CoffeeTable")[0]
    world.grasp(world["apple"])

    spot = free_spot(world["apple"], table, world.contents(table.id), None)
    world.release(world["apple"], spot, table)
    world.take_changes()
    result = run.execute("bring me the apple")
    assert result.success
    assert any(not step.result.success for step in result.steps)


def test_slipping_gripper_is_tried_again(robot, word_embedder) -> None:
    robot.faults = ["PickupObject", "PutObject"]
    result = executor(robot, word_embedder).execute("put the apple in the bowl")
    assert result.success
    assert not robot.faults


def test_slicing_fetches_a_knife_and_delivers_a_slice(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("slice the apple, then put a slice of apple on a plate")
    assert result.success
    slices = robot.world.of_class("AppleSliced")
    assert any(robot.world[piece.parent_id].class_name == "Plate" for piece in slices if piece.parent_id in robot.world)


def put_on_top(robot: SeeingRobot, thing_id: str, class_name: str) -> None:
    """Let someone lay a thing on top of furniture, before the robot's eyes."""
    thing, furniture = robot.world[thing_id], robot.world.of_class(class_name)[0]
    robot.execute(SkillCall("GoToObject", (furniture.id,)))
    robot.world.grasp(thing)
    rise = 0.5 * float(furniture.box.size[2] + thing.box.size[2])
    robot.world.release(thing, Spot(furniture.box.center + np.array([0.0, 0.0, rise]), 0.0), None)
    robot.world.take_changes()
    robot.look()


def test_what_lies_on_top_of_the_fridge_is_not_in_it(robot, word_embedder) -> None:
    put_on_top(robot, "apple", "Fridge")
    result = executor(robot, word_embedder).execute("put the apple in the fridge")
    assert result.success
    assert robot.world["apple"].inside
    assert result.skills > 0


def test_cancelling_stops_before_the_next_skill(robot, word_embedder) -> None:
    answers = itertools.chain([False, False], itertools.repeat(True))
    result = executor(robot, word_embedder).execute("bring me the apple", cancelled=lambda: next(answers))
    assert result.canceled
    assert not result.success
    assert result.skills == 2


def test_unknown_thing_is_given_up_with_the_reason(robot, word_embedder) -> None:
    notes = []
    run = executor(robot, word_embedder)
    result = run.execute("put the tennis racket on the sofa", on_progress=notes.append)
    assert not result.success
    assert "tennis racket" in result.outcome.failures[0]
    assert any(note.kind is ProgressKind.NOTE for note in notes)


def test_senseless_instruction_is_asked_about_without_moving(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("the weather is nice")
    assert not result.success
    assert result.outcome.question
    assert result.skills == 0
    assert type(result.distance_m) is type(result.skill_s) is float  # what a message takes; rosidl aborts at an int


def test_goal_that_needs_what_the_robot_cannot_do_is_given_up_with_the_reason(robot, word_embedder) -> None:
    blind = executor(robot, word_embedder, skills=ALL_SKILLS - {"Explore"}).execute("bring me the tennis racket")
    assert "Explore is not available on this robot" in blind.outcome.failures[0]
    assert blind.skills == 0
    unable = executor(robot, word_embedder, skills=ALL_SKILLS - {"SwitchOn"}).execute("turn on the floor lamp")
    assert not unable.success
    assert "needs SwitchOn" in unable.outcome.failures[0]
    assert {step.step.call.skill for step in unable.steps} <= {"Explore", "GoToObject"}


def test_beside_a_sink_is_on_the_surface_next_to_it(robot, word_embedder) -> None:
    run = executor(robot, word_embedder)
    robot.execute(SkillCall("GoToObject", ("sink_basin",)))
    result = run.execute("put the apple on the edge of the sink")
    assert result.success, result.outcome.failures
    apple = robot.world["apple"]
    assert robot.world[apple.parent_id].class_name == "CounterTop"


def test_goal_that_a_later_one_took_back_is_met_at_the_end(robot, word_embedder) -> None:
    """Cutting takes the knife from where it was to be."""
    goals = (
        Goal(GoalKind.PLACE, Mention("knife", ("Knife",)), destination=Mention("coffee table", ("CoffeeTable",))),
        Goal(GoalKind.SLICE, Mention("apple", ("Apple",))),
    )
    result = executor(robot, word_embedder).execute("", goals=goals)
    assert result.success
    assert robot.world.of_class("AppleSliced")
    assert robot.world[robot.world["knife"].parent_id].class_name == "CoffeeTable"


def test_what_is_left_of_a_thing_that_was_cut_is_meant_by_its_name(robot, word_embedder) -> None:
    assert executor(robot, word_embedder).execute("slice the apple").success
    assert executor(robot, word_embedder).execute("put the apple on a plate").success
    pieces = robot.world.of_class("AppleSliced")
    assert any(robot.world[one.parent_id].class_name == "Plate" for one in pieces if one.parent_id in robot.world)


def test_thing_that_belongs_nobody_knows_where_is_not_said_to_be_put_there(robot, word_embedder) -> None:
    result = executor(robot, word_embedder).execute("put the apple back where it belongs")
    assert not result.success
    assert all(step.result.call.skill != "PutObject" for step in result.steps)


def test_thing_is_meant_by_its_name_and_by_what_people_called_it(robot, word_embedder) -> None:
    for fixture in [thing for thing in robot.world if thing.fixed]:
        robot.execute(SkillCall("GoToObject", (fixture.id,)))
    books = {one.name: one.box.center for one in robot.memory.scene().objects if one.class_name == "Book"}
    assert set(books) == {"Book 1", "Book 2"}
    true_id = {
        name: min(robot.world.of_class("Book"), key=lambda one: float(np.linalg.norm(one.box.center - center))).id
        for name, center in books.items()
    }
    robot.memory.edit("call", "Book 1", new_class="Moby")
    run = executor(robot, word_embedder)
    for said, name, place in (("put Book 2", "Book 2", "CoffeeTable"), ("put moby", "Book 1", "DiningTable")):
        result = run.execute(f"{said} on the {'coffee' if place == 'CoffeeTable' else 'dining'} table")
        assert result.success
        assert robot.world[robot.world[true_id[name]].parent_id].class_name == place
    assert "dining table" in run.execute("where is Moby?").outcome.answer
    assert "coffee table" in run.execute("where is book 2?").outcome.answer
    assert run.execute("put Book 1 and Moby's friend Book 2 on the desk").outcome.question
