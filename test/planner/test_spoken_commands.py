"""What people say to a robot, in a simulated home: go, stop, drop, put back, ask, answer, over several instructions."""

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.planner import PlanProgress, ProgressKind


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder)


@pytest.fixture
def planner(robot: SeeingRobot, word_embedder: TextEmbedder) -> InstructionExecutor:
    return executor(robot, word_embedder)


def show(robot: SeeingRobot, *classes: str) -> None:
    """Drive the robot to all things of some classes, so that memory holds them."""
    for name in classes:
        for thing in robot.world.of_class(name):
            assert robot.execute(SkillCall("GoToObject", (thing.id,))).success


def skills(result: InstructionResult) -> list[str]:
    return [step.step.call.skill for step in result.steps]


def test_question_comes_back_with_choices_and_nothing_is_done(robot, planner) -> None:
    show(robot, "DiningTable", "CoffeeTable")
    reports: list[PlanProgress] = []
    result = planner.execute("put the apple on the table", reports.append)
    assert not result.success
    assert result.steps == ()
    assert len(result.outcome.choices) > 1
    asked = [report for report in reports if report.kind is ProgressKind.QUESTION]
    assert [(report.text, report.choices) for report in asked] == [(result.outcome.question, result.outcome.choices)]


def test_next_instruction_answers_the_question(robot, planner) -> None:
    show(robot, "DiningTable", "CoffeeTable")
    planner.execute("put the apple on the table")
    result = planner.execute("the coffee table")
    assert result.success, result.outcome.failures
    assert robot.world[robot.world["apple"].parent_id].class_name == "CoffeeTable"


def test_thing_is_brought_to_furniture_of_the_room_that_is_named(robot, planner) -> None:
    show(robot, "Apple", "Bed", "Dresser", "CoffeeTable", "CounterTop")
    result = planner.execute("bring the apple to the bedroom")
    assert result.success, result.failure or result.outcome.failures
    assert robot.world[robot.world["apple"].parent_id].class_name in ("Bed", "Dresser", "Desk", "SideTable")
    assert result.explorations == 0


def test_all_things_in_a_room_are_those_that_are_there(robot, planner) -> None:
    show(robot, "Drawer")
    result = planner.execute("open all the drawers in the bedroom")
    assert result.success, result.failure or result.outcome.failures
    drawers = robot.world.of_class("Drawer")
    assert [one.id for one in drawers if ObjectState.OPENED in one.states] == ["night_drawer"]
    assert len(drawers) > 1


def test_things_of_one_room_are_carried_to_another_and_no_others(robot, planner) -> None:
    show(robot, "Book", "Box")
    result = planner.execute("carry all the books from the bedroom to the box")
    assert result.success, result.failure or result.outcome.failures
    assert (robot.world["book"].parent_id, robot.world["novel"].parent_id) == ("box", "book_shelf")


def test_it_is_the_thing_of_the_instruction_before(robot, planner) -> None:
    assert planner.execute("wash the apple").success
    result = planner.execute("put it in the bowl")
    assert result.success, result.outcome.failures
    assert robot.world[robot.world["apple"].parent_id].class_name == "Bowl"


def test_thing_is_put_back_where_it_was(robot, planner) -> None:
    before = robot.world["apple"].parent_id
    assert planner.execute("bring me the apple").success
    assert robot.world["apple"].parent_id != before
    result = planner.execute("put it back")
    assert result.success, result.outcome.failures
    assert robot.world["apple"].parent_id == before


def test_what_the_hand_holds_is_dropped(robot, planner) -> None:
    assert planner.execute("pick up the apple").success
    result = planner.execute("let go of it")
    assert result.success, result.outcome.failures or result.outcome.question
    assert robot.world["apple"].parent_id
    assert skills(result)[-1] == "PutObject"


def test_empty_hand_drops_nothing(planner) -> None:
    result = planner.execute("put it down")
    assert not result.success
    assert result.steps == ()


def test_robot_goes_to_a_room_that_memory_knows(robot, planner) -> None:
    rooms = [room.name for room in robot.memory.scene().rooms if room.name]
    assert rooms
    result = planner.execute(f"go to the {rooms[0]}")
    assert result.success, result.outcome.failures
    assert skills(result) == ["GoToObject"]


def test_unknown_room_is_said_without_motion(planner) -> None:
    result = planner.execute("go to the balcony")
    assert not result.success
    assert result.steps == ()
    assert "balcony" in result.outcome.failures[0]


@pytest.mark.parametrize("words", ["stop", "wait a moment"])
def test_stopping_and_waiting_move_nothing(planner, words: str) -> None:
    result = planner.execute(words)
    assert result.success
    assert result.steps == ()


def test_memory_answers_without_motion(planner) -> None:
    assert planner.execute("wash the apple and put it in the bowl").success
    answers = {
        "where is the apple?": "The apple is in the bowl",
        "what is in the bowl?": "In or on the bowl: apple.",
        "how many apples are there?": "I know of 1 apple.",
        "is the apple clean?": "Yes, the apple is clean.",
        "where is the tennis racket?": "I do not know where the tennis racket is.",
        "is the tennis racket broken?": "I do not know where the tennis racket is.",
        "are there any tennis rackets?": "I know of no tennis racket.",
    }
    for question, answer in answers.items():
        reports: list[PlanProgress] = []
        result = planner.execute(question, reports.append)
        assert result.success, question
        assert result.steps == ()
        assert result.outcome.answer.startswith(answer)
        assert [report.text for report in reports if report.kind is ProgressKind.ANSWER] == [result.outcome.answer]


def test_question_between_orders_keeps_what_was_spoken_of(robot, planner) -> None:
    assert planner.execute("is the apple clean?").outcome.answer
    result = planner.execute("wash it and put it in the bowl")
    assert result.success, result.outcome.failures
    assert robot.world[robot.world["apple"].parent_id].class_name == "Bowl"


def test_other_one_is_not_the_one_just_handled(robot, planner) -> None:
    show(robot, "Pillow")
    pillows = robot.world.of_class("Pillow")
    assert len(pillows) > 1
    assert planner.execute("put a pillow on the bed").success
    assert planner.execute("put the other pillow on the bed").success
    assert [robot.world[one.parent_id].class_name for one in pillows].count("Bed") == 2


def test_all_of_a_class_are_moved(robot, planner) -> None:
    show(robot, "Pillow")
    pillows = robot.world.of_class("Pillow")
    assert len(pillows) > 1
    result = planner.execute("put all the pillows on the sofa")
    assert result.success, result.outcome.failures
    assert {robot.world[one.parent_id].class_name for one in pillows} == {"Sofa"}


def test_questions_about_places_keep_the_place(robot, planner) -> None:
    show(robot, "Apple", "Bed", "CounterTop", "Fridge")
    assert planner.execute("put the apple in the fridge").success
    answers = {
        "is there an apple on the bed?": "No, the apple is in the fridge",
        "is there an apple in the fridge?": "Yes, the apple is in the fridge",
        "is the apple on the bed?": "No, the apple is in the fridge",
        "how many apples are on the bed?": "I know of none there; the apple is in the fridge",
        "how many apples are left in the house?": "I know of 1 apple",
        "is the fridge empty?": "None that I know of: The fridge:",
        "is the fridge colder than the oven?": "I did not understand the question",
    }
    for question, expected in answers.items():
        result = planner.execute(question)
        assert result.steps == ()
        assert (result.outcome.answer or result.outcome.question).startswith(expected), question
