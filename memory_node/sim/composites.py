"""Skills made of skills: clean, heat and cool a thing with an appliance, and hold it again at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.domain.skill_declaration import Appliance
from memory_node.domain.skill_library import GOAL_OF_SKILL, GoalKind, declaration
from memory_node.domain.states import ObjectState
from memory_node.sim.execution import Execution
from memory_node.sim.manipulation import close, make_ready, open_, pick_up, put, toggle_off, toggle_on
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.searching import drive_to, go_to, stand_off_or_fail
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import tap_of

if TYPE_CHECKING:
    from memory_node.sim.robot import HomeRobot


def clean(robot: HomeRobot, run: Execution, text: str, basin_text: str = "") -> Thing:
    """Wash a thing in a basin under its running tap."""
    thing = _take(robot, run, text)
    basin = _appliance(robot, run, basin_text, GoalKind.CLEAN)
    tap = tap_of(robot.world, basin)
    if tap is None:
        raise SkillFailure(FailureReason.PRECONDITION, f"{basin.class_name} has no tap", basin.id)
    in_basin = free_spot(thing, basin, robot.world.contents(basin.id)) is not None and fits(thing, basin)
    if in_basin:
        put(robot, run, thing.id, basin.id)
    _come_near(robot, run, tap)
    if tap.is_on:
        run.wait(tap.type.looks.cycle_s, "washing")
    else:
        toggle_on(robot, run, tap.id)
    if not in_basin:  # no room: it was held under the water
        robot.world.change_state(thing, ObjectState.CLEANED)
    toggle_off(robot, run, tap.id)
    if in_basin:
        _come_near(robot, run, thing)
        pick_up(robot, run, thing.id)
    return thing


def treat_at(robot: HomeRobot, run: Execution, text: str, appliance_text: str = "") -> Thing:
    """Heat a thing in or on an appliance until it is hot, and cooked if it can be, or cool it in one, by the declared
    steps; the robot stands there already, and what is open is not opened."""
    skill = declaration(run.call.skill)
    goal = GOAL_OF_SKILL[skill.name]
    thing = _take(robot, run, text)
    make_ready(robot, run, skill.name, thing)
    appliance = _appliance(robot, run, appliance_text, goal)
    heats = goal is GoalKind.HEAT
    if not appliance.can(Property.HEATS if heats else Property.COOLS):
        raise SkillFailure(FailureReason.WRONG_OBJECT, f"{appliance.class_name} {goal}s nothing", appliance.id)
    works = Appliance(appliance.id, appliance.can(Property.OPENABLE), appliance.id if heats else "")
    for step in skill.steps_at(thing.id, works):
        if step.skill not in _STEPS or (step.skill == "OpenObject" and appliance.is_open):
            continue
        _STEPS[step.skill](robot, run, *step.arguments)
        is_shut_in = step.skill == ("CloseObject" if works.opens else "PutObject") and thing.parent_id == appliance.id
        if is_shut_in and not heats:
            run.wait(appliance.type.looks.cycle_s, "cooling")
    return thing


_STEPS: dict[str, Callable[..., Thing]] = {
    "OpenObject": open_,
    "PutObject": put,
    "CloseObject": close,
    "ToggleOn": toggle_on,
    "ToggleOff": toggle_off,
    "PickupObject": pick_up,
}


def _take(robot: HomeRobot, run: Execution, text: str) -> Thing:
    """Return the named thing in the hand; fetch it when the hand is empty."""
    held = robot.world.held
    if held is not None:
        if robot.is_held(text):
            return held
        raise SkillFailure(FailureReason.HAND_FULL, f"the hand holds {held.class_name}", held.id)
    found = go_to(robot, run, text)
    if found is None:
        raise SkillFailure(FailureReason.INVALID_CALL, f"{text!r} is a place, not a thing")
    return pick_up(robot, run, found.id)


def _appliance(robot: HomeRobot, run: Execution, text: str, goal: GoalKind) -> Thing:
    """Return the appliance that is named, else the first in view of those where this is usually done; drive there."""
    appliance = robot.resolve(text) if text else _usual_appliance(robot, goal)
    drive_to(robot, run, stand_off_or_fail(robot, appliance))
    return appliance


def _usual_appliance(robot: HomeRobot, goal: GoalKind) -> Thing:
    usual = robot.world.types.catalogue.usual_treatment(goal)
    failure = SkillFailure(FailureReason.INVALID_CALL, f"no class of this label space serves to {goal}")
    for name in usual.at if usual is not None else ():
        try:
            return robot.resolve_other(name)
        except SkillFailure as error:
            failure = error
    raise failure


def _come_near(robot: HomeRobot, run: Execution, thing: Thing) -> None:
    if horizontal_distance(thing.box, robot.body.pose.position) > robot.config.reach_m:
        drive_to(robot, run, stand_off_or_fail(robot, thing))
