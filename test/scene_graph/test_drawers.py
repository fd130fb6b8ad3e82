"""A drawer that somebody pulls out and pushes in while the robot looks stays one thing, with what lies in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph

World = Any  # BoxWorld of conftest.py
SHUT, OUT = 2.0, 1.7
SIZE = (0.46, 0.56, 0.18)


def look(graph: SceneGraph, world: World, start_s: float, state: ObjectState | None, upper_m: float) -> None:
    """Look four times at two drawers above each other, of which the upper one stands at upper_m."""
    world.put("Drawer1", upper_m, 0.0, 0.75, SIZE, 3.1416)
    world.put("Drawer2", SHUT, 0.0, 0.5, SIZE, 3.1416)
    shut = StateBelief(ObjectState.CLOSED, 1.0, 1)
    for number, camera in enumerate(world.views(4)):
        frame = world.frame(start_s + 0.1 * number, camera)
        seen = tuple(
            one if state is None
            else replace(one, states=(StateBelief(state, 1.0, 1) if one.box.center[2] > 0.6 else shut,))
            for one in frame.observations
        )  # fmt: skip
        graph.observe(replace(frame, observations=seen))


@pytest.fixture
def graph() -> SceneGraph:
    return SceneGraph(SceneGraphConfig())


def upper(graph: SceneGraph) -> list[str]:
    return [one.id for one in graph.objects_of_class("Drawer") if one.box.center[2] > 0.6]


def test_drawer_that_was_pulled_out_and_pushed_in_is_one_drawer(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, ObjectState.CLOSED, SHUT)
    (known,) = upper(graph)
    look(graph, world, 5.0, ObjectState.OPENED, OUT)
    assert upper(graph) == [known]
    assert graph.object(known).box.center[0] == pytest.approx(OUT, abs=0.05)
    look(graph, world, 9.0, ObjectState.CLOSED, SHUT)
    assert upper(graph) == [known]
    assert graph.object(known).box.center[0] == pytest.approx(SHUT, abs=0.05)
    assert len(graph.objects_of_class("Drawer")) == 2


@pytest.mark.parametrize("yaw_rad", [0.0, 0.25 * np.pi])
def test_drawer_that_comes_close_to_the_next_one_is_not_that_one(graph: SceneGraph, yaw_rad: float) -> None:
    """The one in front stands nearer to where the one behind it was pulled out to."""
    ahead, spoon = np.array([np.cos(yaw_rad), np.sin(yaw_rad), 0.0]), (0.2, 0.02, 0.02)

    def observe(second: int, door: ObjectState, behind_m: float) -> None:
        stamp_ns = second * 10**9
        seen = [
            ObjectObservation({"Drawer": 1.0}, OrientedBox(at_m * ahead, np.array(SIZE), yaw_rad), np.eye(3) * 1e-4,
                              states=(StateBelief(state, 1.0, stamp_ns),))
            for at_m, state in ((behind_m, door), (0.55, ObjectState.CLOSED))
        ]  # fmt: skip
        if door is ObjectState.OPENED:
            inside = OrientedBox(behind_m * ahead - [0.0, 0.0, 0.06], np.array(spoon), yaw_rad)
            seen.append(ObjectObservation({"Spoon": 1.0}, inside, np.eye(3) * 1e-4))
        graph.observe(Frame(stamp_ns, Pose.planar(-0.5, 0.0, 0.0, 1.3), None, tuple(seen)))

    for second in (1, 2):
        observe(second, ObjectState.CLOSED, 0.0)
    behind, front = sorted(graph.objects_of_class("Drawer"), key=lambda one: float(one.box.center @ ahead))
    for second, door, behind_m in ((3, "opened", 0.32), (4, "closed", 0.0), (5, "opened", 0.32)):
        observe(second, ObjectState(door), behind_m)
    assert [float(graph.object(one.id).box.center @ ahead) for one in (behind, front)] == pytest.approx([0.32, 0.55])
    assert [one.support_id for one in graph.objects_of_class("Spoon")] == [behind.id]


@pytest.mark.parametrize("state", [None, ObjectState.CLOSED])
def test_drawer_that_stands_elsewhere_and_was_not_opened_is_another(
    graph: SceneGraph, world: World, state: ObjectState | None
) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, state, SHUT)
    (known,) = upper(graph)
    look(graph, world, 5.0, state, OUT)
    assert set(upper(graph)) - {known}


def test_drawer_that_is_said_to_be_out_is_the_one_on_whose_rail_that_is(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, ObjectState.CLOSED, OUT)
    rows, away_m = graph.distances("Drawer", (OUT, 0.0, 0.5), ObjectState.OPENED)
    lower = [graph.object(graph.id_of(row)).box.center[2] < 0.6 for row in rows.tolist()]
    assert away_m[lower] == pytest.approx([0.0], abs=0.05)
    assert away_m[[not one for one in lower]] == pytest.approx([0.25], abs=0.05)


def test_drawer_that_is_out_was_not_pulled_out_just_now_where_it_is_not(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, ObjectState.CLOSED, SHUT)
    look(graph, world, 5.0, ObjectState.OPENED, OUT)
    for door, off_m in ((ObjectState.CLOSED, 0.0), (ObjectState.OPENED, abs(OUT - SHUT))):
        rows, away_m = graph.distances("Drawer", (SHUT, 0.0, 0.75), door)
        is_upper = [graph.object(graph.id_of(row)).box.center[2] > 0.6 for row in rows.tolist()]
        assert away_m[is_upper] == pytest.approx([off_m], abs=0.05)


def test_reference_to_a_shut_drawer_means_it_when_it_is_pulled_out(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, ObjectState.CLOSED, SHUT)
    (known,) = upper(graph)
    look(graph, world, 5.0, ObjectState.OPENED, OUT)
    found = graph.meant(f"Drawer@{SHUT},0.0,0.75")  # the lower drawer is nearer to that now
    assert found.id == known


def test_of_two_drawers_that_slide_to_one_place_the_nearer_is_there(graph: SceneGraph, world: World) -> None:
    world.boxes.clear()
    look(graph, world, 1.0, ObjectState.CLOSED, SHUT)
    between = (SHUT + 0.15, 0.001, 0.5)  # a millimetre off the nearer one's rail
    world.put("Drawer3", SHUT + 0.6, 0.001, 0.5, SIZE, 3.1416)
    look(graph, world, 5.0, ObjectState.CLOSED, SHUT)
    rows, away_m = graph.distances("Drawer", between, ObjectState.OPENED)
    nearest = graph.object(graph.id_of(int(rows[np.argmin(away_m)])))
    assert nearest.box.center == pytest.approx((SHUT, 0.0, 0.5), abs=0.05)
