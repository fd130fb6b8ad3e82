"""Where the robot stands to use a thing, and the base's skills: go to a thing, explore places until a thing is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.domain.skill import Exploration, FailureReason, SkillCall, SkillFailure
from memory_node.sim.execution import Execution
from memory_node.sim.manipulation import close, open_
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import horizontal_distance, parse_remembered, thing_at
from memory_node.sim.world import DRAWER_TRAVEL, World

# An arm works best at this distance from the nearest edge of a thing.
COMFORTABLE_M = 0.5
# Weight of a metre of detour against a metre off the best distance.
DETOUR_WEIGHT = 0.05
SIDE_PENALTY_M = 0.6


def facing(position: FloatArray, target: FloatArray) -> Pose:
    """Return the planar pose at `position` (x, y) that looks at `target` (x, y)."""
    return Pose.planar(position[0], position[1], float(np.arctan2(target[1] - position[1], target[0] - position[0])))


def stand_off(world: World, thing: Thing, robot: Pose, reach_m: float) -> Pose | None:
    """Return the best reachable pose from which the thing is within `reach_m`, or None when there is none.

    An approach pose that the home declares for the thing, or for what it is on or in, wins when it serves.
    """
    for candidate in (thing, *world.supports(thing)):
        approach = candidate.approach
        if approach is None or horizontal_distance(thing.box, approach.position) > reach_m:
            continue
        if np.isfinite(world.grid.distance(robot.position, approach.position)):
            return facing(approach.position, thing.box.center) if candidate is not thing else approach
    return _best_cell(world, thing, robot, reach_m)


def stand_off_point(world: World, target: FloatArray, robot: Pose, reach_m: float) -> Pose | None:
    """Return the closest reachable pose to a bare place (x, y), or None when none is within `reach_m` of it."""
    grid = world.grid
    apart = np.linalg.norm(grid.points - np.asarray(target)[:2], axis=1)
    reached = np.isfinite(grid.distances_from(robot.position))
    index = int(np.argmin(np.where(reached, apart, np.inf)))
    if not reached[index] or apart[index] > reach_m:
        return None
    x, y = (float(value) for value in grid.points[index])
    return facing(grid.points[index], target) if apart[index] > 0.05 else Pose.planar(x, y, robot.yaw_rad)


def _best_cell(world: World, thing: Thing, robot: Pose, reach_m: float) -> Pose | None:
    grid = world.grid
    detour = grid.distances_from(robot.position)
    near = np.flatnonzero(_distances(thing, grid.points) <= reach_m)
    near = near[np.isfinite(detour[near])]
    if not len(near):
        return None
    apart = _distances(thing, grid.points[near])
    cost = (
        np.abs(apart - _comfortable(thing))
        + DETOUR_WEIGHT * detour[near]
        + _side_penalty(world, thing, grid.points[near])
    )
    for index in np.argsort(cost):
        cell = grid.points[near[index]]
        if not world.layout.hides(cell, thing.box.center[:2]):
            return facing(cell, thing.box.center)
    return None


def _comfortable(thing: Thing) -> float:
    """Return the best distance in metres: a drawer still has to come out, and to be looked into then."""
    comes_out = thing.kind.slides and not thing.is_open
    return COMFORTABLE_M + (DRAWER_TRAVEL * float(thing.box.size[0]) if comes_out else 0.0)


def _distances(thing: Thing, points: FloatArray) -> FloatArray:
    beyond = np.abs(thing.box.local(points)) - 0.5 * thing.box.size[:2]
    return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=1))


def _side_penalty(world: World, thing: Thing, points: FloatArray) -> FloatArray:
    """Return (n,): doors and drawers are used from the front, so that standing aside costs, fully at 90 degrees."""
    front = next((item for item in (thing, *world.supports(thing)) if item.fixed and item.kind.holds == "in"), None)
    if front is None:
        return np.zeros(len(points))
    offset = points - front.box.center[:2]
    angles = np.arctan2(offset[:, 1], offset[:, 0]) - front.box.yaw_rad
    aside = np.array([abs(wrap_angle(float(angle))) for angle in angles])
    return np.asarray(SIDE_PENALTY_M * np.minimum(aside / (0.5 * np.pi), 1.0))


if TYPE_CHECKING:
    from memory_node.sim.robot import HomeRobot

# A place that the base cannot stand on counts as reached from this far.
PLACE_WITHIN_M = 1.0


def go_to(robot: HomeRobot, run: Execution, text: str) -> Thing | None:
    """Drive to where the arm can use a thing and look at it; a bare place gives None.

    If nothing is at a remembered place, the robot drives there and then fails with NOT_FOUND.
    """
    run.risk("GoToObject")
    place = robot.place(text)
    if place is not None:
        drive_to(robot, run, _beside(robot, place, text))
        return None
    remembered = parse_remembered(text)
    if remembered is not None and thing_at(robot.world, remembered) is None:
        drive_to(robot, run, _beside(robot, np.array(remembered.position), text))
        run.look_around(list, f"looking for {remembered.object_class}")
    thing = robot.resolve(text)
    if thing.id == robot.world.held_id:
        return thing
    drive_to(robot, run, stand_off_or_fail(robot, thing))
    run.face(thing)
    closed = robot.world.closed_around(thing)
    if closed is not None:
        raise SkillFailure(FailureReason.CLOSED, f"{closed.class_name} there is closed", closed.id)
    return thing


def explore(robot: HomeRobot, run: Execution, exploration: Exploration) -> Thing:
    """Visit places in order, looking around at each, until a thing of the wanted class is seen.

    A stop is an area's id, a place "x,y", or a closed container (id or class@x,y,z), which is opened, looked into and
    closed again when the thing is not in it.
    """
    run.risk("Explore")
    wanted, stops = exploration.target_class, exploration.stops
    phase = f"looking for {wanted}"

    def candidates() -> list[Thing]:
        return [thing for thing in _wanted(robot, wanted) if thing.id not in exploration.passed_over]

    seen = run.look_around(candidates, phase)
    for stop in stops:
        if seen is not None:
            return seen
        seen = _visit(robot, run, stop, candidates, phase)
    if seen is None:
        raise SkillFailure(FailureReason.NOT_FOUND, f"no {wanted} seen at {len(stops)} places")
    return seen


def drive_to(robot: HomeRobot, run: Execution, goal: Pose) -> None:
    """Follow the shortest path to a pose.

    Raises:
        SkillFailure: UNREACHABLE.
    """
    path = robot.world.grid.path(robot.body.pose.position[:2], goal.position[:2])
    if path is None:
        raise SkillFailure(FailureReason.UNREACHABLE, "no free path leads there")
    run.drive(path, "driving")
    run.turn(goal.yaw_rad, "driving")


def stand_off_or_fail(robot: HomeRobot, thing: Thing) -> Pose:
    """Return where to stand to use a thing, or fail with UNREACHABLE."""
    pose = stand_off(robot.world, thing, robot.body.pose, robot.config.reach_m)
    if pose is None:
        raise SkillFailure(FailureReason.UNREACHABLE, f"no free place within reach of {thing.class_name}", thing.id)
    return pose


def _visit(
    robot: HomeRobot, run: Execution, stop: str, candidates: Callable[[], list[Thing]], phase: str
) -> Thing | None:
    place = robot.place(stop)
    if place is not None:
        drive_to(robot, run, _beside(robot, place, stop))
        run.explored_areas += 1
        return run.look_around(candidates, phase)
    container = robot.resolve(stop)
    drive_to(robot, run, stand_off_or_fail(robot, container))
    run.explored_areas += 1
    opens = container.can(Property.OPENABLE) and not container.is_open
    if opens:
        robot.hinder(run, SkillCall("OpenObject", (container.id,)))
        open_(robot, run, container.id)
    run.face(container)
    run.wait(robot.config.look_s, phase)
    seen = next((thing for thing in candidates() if run.sees(thing)), None)
    if opens and seen is None:
        close(robot, run, container.id)
    return seen


def _wanted(robot: HomeRobot, wanted: str) -> list[Thing]:
    world = robot.world
    things = [world[wanted]] if wanted in world else world.of_class(wanted)
    return [thing for thing in things if thing.parent_id != HAND]


def _beside(robot: HomeRobot, place: FloatArray, text: str) -> Pose:
    pose = stand_off_point(robot.world, place, robot.body.pose, PLACE_WITHIN_M)
    if pose is None:
        raise SkillFailure(FailureReason.UNREACHABLE, f"no free path leads to {text}")
    return pose
