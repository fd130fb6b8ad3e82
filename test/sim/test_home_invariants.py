"""Whatever a planner asks for, in whatever order, the home stays one that could exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import EXCLUSIVE
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import HAND
from memory_node.sim.world import World

WORDS = [
    "apple", "Apple", "knife", "bowl", "Bowl", "table", "counter", "fridge", "Fridge", "microwave", "Microwave",
    "sink_basin", "SinkBasin", "Faucet", "tomato", "Tomato", "mug", "cabinet", "Cabinet", "user", "GarbageCan",
    "AppleSliced", "Book", "bed", "lamp", "FloorLamp", "Apple@4.0,1.8,0.8", "Apple@1,1,1", "Unicorn", "1.5,1.5",
    "9,9", "Apple@here", " ",
]  # fmt: skip


def check(world: World) -> None:
    assert (world.held is None) == (not world.held_id)
    held = [thing for thing in world if thing.parent_id == HAND]
    assert held == ([world.held] if world.held else [])
    listed = [child.id for parent in ["", HAND, *(thing.id for thing in world)] for child in world.contents(parent)]
    assert sorted(listed) == sorted(thing.id for thing in world)
    for thing in world:
        assert thing.parent_id in ("", HAND) or thing.parent_id in world
        assert thing not in list(world.supports(thing))
        assert np.isfinite(thing.box.center).all()
        assert thing.box.bottom_m > -0.05
        assert all(len(thing.states & group) <= 1 for group in EXCLUSIVE)
        for support in world.supports(thing):
            reach = 0.5 * float(np.linalg.norm(support.box.size)) + 0.5 * float(np.linalg.norm(thing.box.size))
            assert np.linalg.norm(thing.box.center - support.box.center) < reach + 0.35


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(SKILLS)), st.lists(st.sampled_from(WORDS), max_size=3)),
        min_size=5,
        max_size=40,
    )
)
def test_no_sequence_of_calls_breaks_the_world(calls: list[tuple[str, list[str]]]) -> None:
    robot = HomeRobot(load_home("studio"))
    clock = robot.world.now_ns
    for skill, arguments in calls:
        if skill == "PickupObject" and arguments:  # so that something is in the hand more often than by luck
            robot.execute(SkillCall("GoToObject", (arguments[0],)))
        result = robot.execute(SkillCall(skill, tuple(arguments)))
        assert result.duration_s >= 0.0
        assert robot.world.now_ns >= clock
        clock = robot.world.now_ns
        check(robot.world)


@pytest.mark.parametrize("name", ["apartment", "studio"])
def test_shipped_homes_are_consistent(name: str) -> None:
    world = load_home(name)
    check(world)
    for thing in world:
        support = next(world.supports(thing), None)
        if support is not None and not thing.fixed:
            assert thing.box.bottom_m >= support.box.bottom_m
            assert support.box.contains(thing.box.center[None], margin_m=0.3).all()


def test_apartment_is_large_enough() -> None:
    world = load_home("apartment")
    assert len(world.layout.rooms) >= 3
    assert sum(thing.fixed for thing in world) >= 15
    assert sum(not thing.fixed for thing in world) >= 30
    robot = HomeRobot(world)
    assert "Apple" not in {thing.class_name for thing in robot.visible_objects(all_around=True)}
