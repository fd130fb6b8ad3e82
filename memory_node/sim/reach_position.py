"""Where the robot stands to use a thing."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
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
