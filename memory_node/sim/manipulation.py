"""What the arm does: pick, put, open, close, toggle, slice, throw, fill, and what a declaration alone describes.

What a skill needs is checked by its declaration (world/skills.py); here is what a body adds: room, sight, water.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import declaration
from memory_node.domain.states import ObjectState
from memory_node.sim.execution import Execution
from memory_node.sim.placement import Spot, fits, free_spot
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.world.skills import failure_of
from memory_node.world.state import Thing as Believed
from memory_node.world.state import WorldState

if TYPE_CHECKING:
    from memory_node.sim.robot import HomeRobot

THROW_AHEAD_M = 0.9
THROW_RANGE_M = 2.0
SPOUT_REACH_M = 0.3  # a vessel in the hand reaches so much farther


def pick_up(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Take a thing into the empty hand."""
    thing = robot.resolve(text)
    make_ready(robot, run, "PickupObject", thing)
    run.work("PickupObject")
    robot.world.grasp(thing)
    robot.body.move(robot.body.pose)
    return thing


def put(robot: HomeRobot, run: Execution, text: str, target: str) -> Thing:
    """Put the held thing on or in a receptacle."""
    held = robot.resolve(text)
    receptacle = robot.resolve_other(target)
    if receptacle in robot.world.with_contents(held):
        raise SkillFailure(FailureReason.WRONG_OBJECT, f"{receptacle.class_name} is in the hand", receptacle.id)
    make_ready(robot, run, "PutObject", held, receptacle)
    if not fits(held, receptacle):
        message = f"{held.class_name} does not fit {receptacle.kind.holds} {receptacle.class_name}"
        raise SkillFailure(FailureReason.PRECONDITION, message, receptacle.id)
    near = robot.body.pose.position if receptacle.fixed and receptacle.kind.holds == "on" else None
    spot = free_spot(held, receptacle, robot.world.contents(receptacle.id), near)
    if spot is None:
        raise SkillFailure(
            FailureReason.OCCUPIED, f"no room {receptacle.kind.holds} {receptacle.class_name}", receptacle.id
        )
    run.work("PutObject")
    robot.world.release(held, spot, receptacle)
    return held


def open_(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Open a door, lid or drawer; a full hand does not hinder (as in AI2-THOR)."""
    thing = robot.resolve(text)
    make_ready(robot, run, "OpenObject", thing)
    if thing.is_on and thing.can(Property.HEATS):
        raise SkillFailure(FailureReason.PRECONDITION, f"{thing.class_name} is running", thing.id)
    run.work("OpenObject")
    robot.world.set_open(thing, True)
    return thing


def close(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Close a door, lid or drawer."""
    thing = robot.resolve(text)
    make_ready(robot, run, "CloseObject", thing)
    run.work("CloseObject")
    robot.world.set_open(thing, False)
    return thing


def toggle_on(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Turn a thing on and wait until its work is done (an appliance's cycle)."""
    thing = robot.resolve(text)
    make_ready(robot, run, "ToggleOn", thing)
    if thing.can(Property.HEATS) and thing.can(Property.OPENABLE) and thing.is_open:
        raise SkillFailure(FailureReason.PRECONDITION, f"{thing.class_name} is open", thing.id)
    run.work("ToggleOn")
    robot.world.set_on(thing, True)
    run.wait(thing.type.looks.cycle_s, f"waiting for {thing.class_name}")
    return thing


def toggle_off(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Turn a thing off."""
    thing = robot.resolve(text)
    make_ready(robot, run, "ToggleOff", thing)
    run.work("ToggleOff")
    robot.world.set_on(thing, False)
    return thing


def slice_(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Cut a thing with the knife in the hand."""
    thing = robot.resolve(text)
    make_ready(robot, run, "SliceObject", thing)
    run.work("SliceObject")
    return robot.world.slice(thing)[0]


def treat(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Do what changes nothing but the states of a thing, by the skill's declaration: wipe it, break it,
    empty it."""
    skill, thing = declaration(run.call.skill), robot.resolve(text)
    make_ready(robot, run, skill.name, thing)
    run.work(skill.name)
    for state in skill.states_of("object", begun=True):
        robot.world.change_state(thing, state)
    return thing


def throw(robot: HomeRobot, run: Execution, text: str, target: str = "") -> Thing:
    """Throw the held thing into a receptacle within two metres, or to the floor ahead, where glass breaks."""
    held = robot.resolve(text)
    make_ready(robot, run, "ThrowObject", held)
    if not target:
        run.work("ThrowObject")
        _drop_ahead(robot, held)
        return held
    receptacle = robot.resolve_other(target)
    if receptacle.kind.holds != "in" or not receptacle.fixed:
        raise SkillFailure(FailureReason.WRONG_OBJECT, f"nothing is thrown into {receptacle.class_name}", receptacle.id)
    reach_for(robot, run, receptacle, max(robot.config.reach_m, THROW_RANGE_M))
    if not receptacle.is_open:
        raise SkillFailure(FailureReason.CLOSED, f"{receptacle.class_name} is closed", receptacle.id)
    spot = free_spot(held, receptacle, robot.world.contents(receptacle.id))
    if spot is None:
        raise SkillFailure(FailureReason.OCCUPIED, f"no room in {receptacle.class_name}", receptacle.id)
    run.work("ThrowObject")
    robot.world.release(held, spot, receptacle)
    return held


def fill(robot: HomeRobot, run: Execution, text: str, source_text: str = "") -> Thing:
    """Fill a held vessel at a tap or a coffee machine within reach."""
    thing = robot.resolve(text)
    make_ready(robot, run, "FillObject", thing)
    here, reach_m = robot.body.pose.position, robot.config.reach_m + SPOUT_REACH_M
    sources = [robot.resolve(source_text)] if source_text else list(robot.world)
    sources = [source for source in sources if source.can(Property.WATERS) or source.can(Property.BREWS)]
    if not any(horizontal_distance(source.box, here) <= reach_m for source in sources):
        raise SkillFailure(FailureReason.PRECONDITION, "no tap or coffee machine within reach", thing.id)
    run.work("FillObject")
    robot.world.change_state(thing, ObjectState.FILLED)
    return thing


def make_ready(robot: HomeRobot, run: Execution, skill: str, *things: Thing) -> None:
    """Turn to the last of some things, where what a skill needs of them holds.

    Raises:
        SkillFailure: what the skill declares does not hold, a thing is broken, or it cannot be seen.
    """
    state = true_state(robot, things)
    call = SkillCall(skill, tuple(thing.id for thing in things))
    failure = failure_of(declaration(skill), state, call)
    if failure is not None:
        raise failure
    rules = (rule.fact for rule in declaration(skill).preconditions)
    names = {name for fact in rules if fact.predicate is Predicate.KIND for name in fact.arguments}
    for argument, thing in zip(declaration(skill).arguments, things):
        if argument.name in names and ObjectState.BROKEN in thing.states:
            raise SkillFailure(FailureReason.PRECONDITION, f"{thing.class_name} is broken", thing.id)
    reach_for(robot, run, things[-1])


def true_state(robot: HomeRobot, things: Sequence[Thing]) -> WorldState:
    """Return the world as it is, as far as a call is about it: its things, what they are in or on, and the hand."""
    world, here = robot.world, robot.body.pose.position
    held = [world.held] if world.held is not None else []
    around = [support for thing in things for support in world.supports(thing)]
    known = {one.id: one for one in (*around, *held, *things)}
    near = {key for key, one in known.items() if horizontal_distance(one.box, here) <= robot.config.reach_m + 1e-6}
    states = {
        key: Believed(
            key, one.class_name, object_id=key, container=one.parent_id, inside=one.inside, states=frozenset(one.states)
        )
        for key, one in known.items()
    }
    return WorldState(
        world.types.catalogue, states, world.held_id, apart=frozenset(known.keys() - near), within=frozenset(near)
    )


def reach_for(robot: HomeRobot, run: Execution, thing: Thing, reach_m: float | None = None) -> None:
    """Turn to a thing that the arm can get at.

    Raises:
        SkillFailure: CLOSED, TOO_FAR or NOT_VISIBLE.
    """
    if thing.id == robot.world.held_id:
        return
    closed = robot.world.closed_around(thing)
    if closed is not None:
        raise SkillFailure(
            FailureReason.CLOSED, f"{thing.class_name} is inside the closed {closed.class_name}", closed.id
        )
    apart = horizontal_distance(thing.box, robot.body.pose.position)
    if apart > (reach_m or robot.config.reach_m) + 1e-6:
        raise SkillFailure(FailureReason.TOO_FAR, f"{thing.class_name} is {apart:.2f} m away", thing.id)
    if robot.world.layout.hides(robot.body.pose.position[:2], thing.box.center[:2]):
        raise SkillFailure(FailureReason.NOT_VISIBLE, f"{thing.class_name} is behind a wall", thing.id)
    run.face(thing)


def _drop_ahead(robot: HomeRobot, held: Thing) -> None:
    ahead = robot.body.pose.apply(np.array([THROW_AHEAD_M, 0.0, 0.5 * float(held.box.size[2])]))
    # It lands where a floor is, not within a cupboard or a wall.
    cell = robot.world.grid.points[robot.world.grid.nearest_node(ahead)]
    robot.world.release(held, Spot(np.array([*cell, ahead[2]]), robot.body.pose.yaw_rad), None)
    if held.can(Property.BREAKABLE):
        robot.world.change_state(held, ObjectState.BROKEN)
