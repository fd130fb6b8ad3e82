"""Of several things that are needed each is found once, whatever memory knows of them at first."""

from dataclasses import replace

import pytest
from seeing_robot import SeeingRobot, executor

from memory_node.domain.scene import Area, SceneSnapshot
from memory_node.domain.skill import Exploration, FailureReason, SkillCall, SkillResult
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.reading.understanding import Understander


def supports(robot: SeeingRobot, class_name: str) -> list[str]:
    return [robot.world[one.parent_id].class_name for one in robot.world.of_class(class_name)]


def test_second_one_in_another_room_is_found_and_is_not_the_first(word_embedder) -> None:
    robot = SeeingRobot("apartment", word_embedder)
    assert executor(robot, word_embedder).execute("put two books on the bed").success
    assert supports(robot, "Book") == ["Bed", "Bed"]


def test_every_cabinet_is_looked_into(two_cabinets, word_embedder) -> None:
    home = two_cabinets
    planner = OfflinePlanner(Understander(home.kinds, None, word_embedder), home.kinds)
    result = InstructionExecutor(home, home, planner).execute("put the mug in the sink")
    assert result.success, result.failure or result.outcome.failures
    assert home.things["mug"].support_id == "sink"


@pytest.mark.parametrize(("there", "place"), [(True, "desk"), (False, "m-table")])
def test_named_furniture_is_searched_for_before_another_takes_its_part(kitchen, word_embedder, there, place) -> None:
    if there:
        kitchen.things["desk"] = replace(kitchen.things["m-table"], id="desk", object_class="Desk", seen=False)
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder, asks=False), kitchen.kinds)
    result = InstructionExecutor(kitchen, kitchen, planner).execute("put the apple on the desk")
    assert result.success, result.failure or result.outcome.failures
    assert kitchen.things["m-apple"].support_id == place


def test_furniture_that_was_sought_in_vain_is_not_sought_again(kitchen, word_embedder) -> None:
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder, asks=False), kitchen.kinds)
    text = "put the apple on the desk, wash the mug, then put the mug on the desk"
    result = InstructionExecutor(kitchen, kitchen, planner).execute(text)
    assert result.success, result.failure or result.outcome.failures
    explored = [Exploration.of(step.step.call) for step in result.steps if step.step.call.skill == "Explore"]
    assert [search.target_class for search in explored if search.target_class == "Desk"] == ["Desk"]


@pytest.mark.parametrize(
    ("there", "asks", "moved"),
    [(True, True, ["cup"]), (True, False, ["cup"]), (False, True, []), (False, False, ["m-mug1"])],
)
def test_named_thing_is_searched_for_and_never_swapped_for_a_known_one(
    kitchen, word_embedder, there, asks, moved
) -> None:
    if there:
        kitchen.things["cup"] = replace(kitchen.things["m-mug1"], id="cup", object_class="Cup", seen=False)
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder, asks=asks), kitchen.kinds)
    result = InstructionExecutor(kitchen, kitchen, planner).execute("put the cup in the sink")
    assert [name for name, one in kitchen.things.items() if one.support_id == "m-sink"] == moved
    assert result.success is bool(moved)


@pytest.mark.parametrize("asks", [True, False])
def test_furniture_of_a_home_looked_at_everywhere_is_not_sought(kitchen, word_embedder, monkeypatch, asks) -> None:
    scene = kitchen.scene
    viewed = (Area("a1", "kitchen", (0.0, 0.0), last_viewed_ns=9),)
    monkeypatch.setattr(kitchen, "scene", lambda: replace(scene(), stamp_ns=10, areas=viewed))
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder, asks=asks), kitchen.kinds)
    result = InstructionExecutor(kitchen, kitchen, planner).execute("put the apple on the desk")
    assert not any(call.startswith("Explore(Desk") for call in kitchen.calls), kitchen.calls
    assert bool(result.outcome.question) is asks
    assert result.success is not asks


class FullHome(SeeingRobot):
    """A home where nothing can be put anywhere."""

    def execute(self, call: SkillCall) -> SkillResult:
        return SkillResult(call, False, FailureReason.OCCUPIED) if call.skill == "PutObject" else super().execute(call)


@pytest.mark.parametrize("surveyed", [True, False])
def test_another_table_than_a_full_one_is_sought_where_one_may_be_unknown(
    word_embedder, monkeypatch, surveyed: bool
) -> None:
    robot = FullHome("studio", word_embedder)
    robot.execute(SkillCall("GoToObject", ("table",)))
    robot.execute(SkillCall("GoToObject", ("book",)))
    monkeypatch.setattr(SceneSnapshot, "surveyed", surveyed)
    result = executor(robot, word_embedder).execute("put the book on the dining table")
    explored = [
        Exploration.of(step.step.call).target_class for step in result.steps if step.step.call.skill == "Explore"
    ]
    assert ("DiningTable" in explored) is not surveyed
    assert "occupied" in result.outcome.failures[0] or not surveyed


class DarkHome(SeeingRobot):
    """A home where the hand sees nothing that it is to take."""

    def execute(self, call: SkillCall) -> SkillResult:
        dark = call.skill == "PickupObject"
        return SkillResult(call, False, FailureReason.NOT_VISIBLE) if dark else super().execute(call)


def test_what_the_robot_stands_at_is_not_searched_for_when_its_hand_does_not_see_it(word_embedder) -> None:
    robot = DarkHome("studio", word_embedder)
    for name in ("table", "book"):
        robot.execute(SkillCall("GoToObject", (name,)))
    result = executor(robot, word_embedder).execute("put the book on the dining table")
    assert "not visible" in result.outcome.failures[0]
    assert not any(step.step.call.skill == "Explore" for step in result.steps)


def test_search_passes_over_those_that_the_goal_is_done_with(kitchen, word_embedder) -> None:
    planner = OfflinePlanner(Understander(kitchen.kinds, None, word_embedder), kitchen.kinds)
    result = InstructionExecutor(kitchen, kitchen, planner).execute("put three mugs in the sink")
    assert [kitchen.things[name].support_id for name in ("m-mug1", "m-mug2")] == ["m-sink", "m-sink"]
    assert not result.success
    assert "found no mug" in result.outcome.failures[0]
    explored = [Exploration.of(step.step.call) for step in result.steps if step.step.call.skill == "Explore"]
    passed_over = [search.passed_over for search in explored if search.target_class == "Mug"]
    assert passed_over[:3] == [frozenset(), frozenset({"m-mug1"}), frozenset({"m-mug1", "m-mug2"})]
