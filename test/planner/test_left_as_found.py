"""How a robot leaves what it used, in a simulated home: doors that it opened, and all that was cut."""

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionExecutor


@pytest.fixture
def robot(word_embedder: TextEmbedder) -> SeeingRobot:
    robot = SeeingRobot("apartment", word_embedder)
    for name in ("fork", "kitchen_drawer", "kitchen_drawer_low", "apple", "plate", "knife", "fridge", "cup"):
        assert robot.execute(SkillCall("GoToObject", (name,))).success
    return robot


@pytest.fixture
def planner(robot: SeeingRobot, word_embedder: TextEmbedder) -> InstructionExecutor:
    return executor(robot, word_embedder)


def drawers_open(robot: SeeingRobot) -> list[str]:
    return [one.id for one in robot.world.of_class("Drawer") if one.is_open]


def test_drawer_is_closed_once_all_is_in_it(robot, planner) -> None:
    result = planner.execute("put the fork and the cup in the kitchen drawer")
    assert result.success, result.outcome.failures
    assert robot.world["fork"].parent_id == robot.world["cup"].parent_id
    assert drawers_open(robot) == []
    assert [step.step.call.skill for step in result.steps].count("OpenObject") == 1


def test_drawer_stays_open_where_that_is_asked_for(robot, planner) -> None:
    assert planner.execute("put the fork in the kitchen drawer and leave it open").success
    assert drawers_open(robot) == [robot.world["fork"].parent_id]


def test_drawer_that_was_open_stays_open(robot, planner) -> None:
    assert planner.execute("open the kitchen drawer").success
    opened = drawers_open(robot)
    assert planner.execute("put the fork in it").success
    assert drawers_open(robot) == opened == [robot.world["fork"].parent_id]


def test_all_that_is_to_be_opened_stays_open(robot, planner) -> None:
    assert planner.execute("open all the drawers").success
    assert len(drawers_open(robot)) > 1
    assert planner.execute("close all the drawers").success
    assert drawers_open(robot) == []


def test_fridge_is_closed_when_something_is_taken_out(robot, planner) -> None:
    assert planner.execute("bring me the egg").success
    assert not robot.world["fridge"].is_open


def test_look_into_the_fridge_tells_what_is_in_it(robot, planner) -> None:
    result = planner.execute("have a look in the fridge")
    assert result.success
    assert "egg" in result.outcome.answer
    assert not robot.world["fridge"].is_open


@pytest.mark.parametrize("then", ["put it on the plate", "put the apple on the plate"])
def test_all_slices_are_meant_by_what_was_cut(robot, planner, then: str) -> None:
    result = planner.execute(f"slice the apple and {then}")
    assert result.success, result.outcome.failures
    pieces = robot.world.of_class("AppleSliced")
    assert len(pieces) > 1
    assert {one.parent_id for one in pieces} == {"plate"}


def test_one_slice_is_one(robot, planner) -> None:
    assert planner.execute("slice the apple and put a slice of it on the plate").success
    assert [one.parent_id for one in robot.world.of_class("AppleSliced")].count("plate") == 1


def test_other_slices_are_several_and_not_the_one_that_was_placed(robot, planner) -> None:
    assert planner.execute("slice the apple and put a slice of it on the plate").success
    assert planner.execute("put the other slices in the kitchen drawer").success
    places = [one.parent_id for one in robot.world.of_class("AppleSliced")]
    assert places.count("plate") == 1
    assert places.count("kitchen_drawer") + places.count("kitchen_drawer_low") > 1


def test_dishes_of_every_kind_on_a_table_are_washed(robot, planner) -> None:
    for name in ("bowl", "sink_basin"):
        assert robot.execute(SkillCall("GoToObject", (name,))).success
    result = planner.execute("wash the dishes on the dining table")
    assert result.success, result.outcome.failures
    washed = {one for one in ("bowl", "plate", "cup", "fork") if ObjectState.CLEANED in robot.world[one].states}
    assert washed == {"bowl", "plate", "cup"}


def test_nothing_is_thrown_away_that_is_not_known_to_be_as_told(robot, planner) -> None:
    assert robot.execute(SkillCall("GoToObject", ("garbage_can",))).success
    result = planner.execute("throw away all the empty cups")
    assert not result.success
    assert robot.world["cup"].parent_id == "dining_table"
