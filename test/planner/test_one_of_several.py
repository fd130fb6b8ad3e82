"""Which of several things of a kind is taken: the one where it is told to be, else the one that is near."""

from dataclasses import replace

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.skill import SkillCall
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.understanding import Understander


@pytest.fixture
def robot(word_embedder) -> SeeingRobot:
    return SeeingRobot("apartment", word_embedder)


def show(robot: SeeingRobot, *names: str) -> None:
    """Drive the robot to things, in this order, so that memory holds them."""
    for name in names:
        assert robot.execute(SkillCall("GoToObject", (name,))).success


def place_of(robot: SeeingRobot, name: str) -> str:
    return robot.world[name].parent_id


@pytest.mark.parametrize(
    ("words", "moved", "place"),
    [
        ("put the pillow on the bed on the arm chair", "pillow", "arm_chair"),
        ("put the pillow from the bed on the arm chair", "pillow", "arm_chair"),
        ("take the pillow from the bed and put it on the arm chair", "pillow", "arm_chair"),
        ("bring me the pillow that is on the sofa", "cushion", "user"),
        ("bring me the pillow in the bedroom", "pillow", "user"),
        ("bring me the remote control and the pillow from the bed", "pillow", "user"),
    ],
)
@pytest.mark.parametrize("last", ["pillow", "cushion"])
def test_thing_is_the_one_where_it_is_told_to_be(robot, word_embedder, words, moved, place, last) -> None:
    show(robot, "remote", "cushion", "pillow", last, "arm_chair", "user")
    other = ({"pillow", "cushion"} - {moved}).pop()
    at_first = place_of(robot, other)
    result = executor(robot, word_embedder).execute(words)
    assert result.success, result.failure or result.outcome.failures
    assert (place_of(robot, moved), place_of(robot, other)) == (place, at_first)


@pytest.mark.parametrize(
    "words", ["put the bowl from the cabinet on the desk", "take the bowl in the cabinet to the desk"]
)
def test_thing_is_looked_for_where_it_is_told_to_be(robot, word_embedder, words) -> None:
    show(robot, "desk", "bowl")
    result = executor(robot, word_embedder).execute(words)
    assert result.success, result.failure or result.outcome.failures
    assert (place_of(robot, "spare_bowl"), place_of(robot, "bowl")) == ("desk", "dining_table")


@pytest.mark.parametrize(("asks", "moved"), [(True, []), (False, ["m-mug1"])])
def test_another_thing_takes_its_part_only_where_nobody_can_be_asked(kitchen, word_embedder, asks, moved) -> None:
    kitchen.things["drawer"] = replace(kitchen.things["m-fridge"], id="drawer", object_class="Drawer")
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder, asks=asks), kitchen.kinds)
    result = InstructionExecutor(kitchen, kitchen, planner).execute("put the mug from the drawer in the sink")
    assert [name for name, one in kitchen.things.items() if one.support_id == "m-sink" and "mug" in name] == moved
    assert ["I know of one at the counter" in text for text in result.outcome.failures] == [True] * (not moved)


@pytest.mark.parametrize("last", ["pillow", "cushion"])
def test_any_one_is_the_one_nearest_to_where_it_goes(robot, word_embedder, last) -> None:
    show(robot, "cushion", "pillow", "user", last)
    result = executor(robot, word_embedder).execute("bring me a pillow")
    assert result.success, result.failure or result.outcome.failures
    assert (place_of(robot, "cushion"), place_of(robot, "pillow")) == ("user", "bed")


@pytest.mark.parametrize(
    ("words", "thing", "place"),
    [
        ("put the fork in the sink basin", "fork", "sink_basin"),
        ("put the soap bar in the sink basin", "soap_bar", "bath_basin"),
        ("put the alarm clock on a side table", "alarm_clock", "night_stand"),
        ("put the remote control on a side table", "remote", "side_table"),
    ],
)
@pytest.mark.parametrize("last", ["sink_basin", "bath_basin", "night_stand", "side_table"])
def test_place_of_work_and_any_place_is_the_one_nearest_to_the_thing(
    robot, word_embedder, words, thing, place, last
) -> None:
    show(robot, "sink_basin", "bath_basin", "night_stand", "side_table", thing, last)
    result = executor(robot, word_embedder).execute(words)
    assert result.success, result.failure or result.outcome.failures
    assert place_of(robot, thing) == place
