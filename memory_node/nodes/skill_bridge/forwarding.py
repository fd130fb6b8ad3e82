"""Skills of the user's own action servers: ExecuteSkill goals, or goals of any type by a YAML file (docs/skills.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PointStamped, PoseStamped, Vector3
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rclpy.node import Node
from robot_memory.action import ExecuteSkill
from rosidl_runtime_py.utilities import get_action
from std_msgs.msg import Header

from memory_node.domain import geometry
from memory_node.domain.errors import InvalidValueError, faults_of
from memory_node.domain.resources import read_yaml
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes import conversions
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import ActionCall, SkillRun
from memory_node.nodes.skill_bridge.target import Target

_REFERENCE = re.compile(r"\{(\w+)\.(\w+)\}")
# What a goal is tried with when the node starts.
_SAMPLE = Target("id", "Mug", geometry.OrientedBox(np.zeros(3), np.ones(3)))


class MappedAction(BaseModel):
    """How a skill becomes a goal of an action.

    goal: the goal's fields, nested as its messages are; a text `{object.pose}` becomes a message of the field's type.
    done: fields of the result and the values that they must have; none: the action's own status alone counts.
    message, progress: fields of the result and of the feedback, dotted, that tell why it failed, and how far it is.
    """

    model_config = ConfigDict(extra="forbid")

    action: str = Field(min_length=1)
    type: str = Field(pattern=r"^\w+/action/\w+$")
    goal: dict[str, Any] = {}
    done: dict[str, Any] = {}
    message: str = ""
    progress: str = ""


def read_action_map(path: Path) -> dict[str, MappedAction]:
    """Return the mapped actions of a file by their skills.

    Raises:
        InvalidValueError: there is none, or it is no such map; the message names the place in it.
    """
    try:
        found = TypeAdapter(dict[str, MappedAction]).validate_python(read_yaml(path))
    except OSError as error:
        raise InvalidValueError(f"parameter action_map: {path}: {error.strerror}") from error
    except ValidationError as error:
        raise InvalidValueError(f"parameter action_map: {path}: {'; '.join(faults_of(error))}") from error
    except Exception as error:  # of the YAML reader
        raise InvalidValueError(f"parameter action_map: {path}: {error}") from error
    unknown = [skill for skill in found if skill not in SKILLS or skill == "Explore"]
    if unknown:
        raise InvalidValueError(f"parameter action_map: {path}: no skills that can be mapped: {', '.join(unknown)}")
    return found


class ForwardedSkills:
    """The skills with an action of their own in the parameters `actions`, or in the file of `action_map`.

    Raises:
        InvalidValueError: the file is no such map, or does not fit the actions' types.
    """

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._node = node
        self._timeout_s = config.action_timeout_s
        self._frame = config.map_frame
        own = {skill: name for skill, name in vars(config.actions).items() if name}
        self._maps = read_action_map(Path(config.action_map)) if config.action_map else {}
        self._types = {skill: _type_of(skill, one) for skill, one in self._maps.items()}
        # Also those that give way: they count once `actions` no longer names them.
        for skill, one in self._maps.items():
            self._check(skill, one)
        self._maps = {skill: one for skill, one in self._maps.items() if skill not in own}

        def called(kind: Any, name: str, key: str) -> ActionCall:
            return ActionCall(node, kind, name, key, config.deadlines_s, running)

        self._calls = {skill: called(ExecuteSkill, name, f"actions.{skill}") for skill, name in own.items()}
        for skill, one in self._maps.items():
            self._calls[skill] = called(self._types[skill], one.action, f"action_map: {skill}")

    def __contains__(self, skill: str) -> bool:
        return skill in self._calls

    def run(self, call: SkillCall, run: SkillRun, targets: Mapping[str, Target] = MappingProxyType({})) -> SkillResult:
        """Return the result of a skill that succeeded. targets: the things that it is about, by its arguments' names.

        Raises:
            SkillFailure: with the server's reason; EXECUTION with its own words where the action is mapped.
        """
        if call.skill in self._maps:
            self._run_mapped(call.skill, targets, run)
            return SkillResult(call, True)

        def follow(feedback: Any) -> None:
            run.report(feedback.phase or "manipulating", feedback.progress)

        goal = ExecuteSkill.Goal(call=conversions.call_to_msg(call), episode_id=run.episode_id)
        response = self._calls[call.skill].run(goal, run, self._timeout_s, follow)
        result = conversions.skill_result_from_msg(call, response.result)
        run.distance_m += result.distance_m
        run.explored_areas += result.explored_areas
        if not result.success:
            run.changed(result.changes)
            raise SkillFailure(result.reason, result.message, result.object_id)
        if response.status != GoalStatus.STATUS_SUCCEEDED:
            raise SkillFailure(FailureReason.EXECUTION, f"{call.skill} ended with status {response.status}")
        return result

    def _run_mapped(self, skill: str, targets: Mapping[str, Target], run: SkillRun) -> None:
        one = self._maps[skill]

        def follow(feedback: Any) -> None:
            run.report("manipulating", float(_field(feedback, one.progress)) if one.progress else 0.5)

        response = self._calls[skill].run(self._goal(skill, targets), run, self._timeout_s, follow)
        unmet = [name for name, value in one.done.items() if _field(response.result, name) != value]
        if response.status == GoalStatus.STATUS_SUCCEEDED and not unmet:
            return
        why = str(_field(response.result, one.message)) if one.message else ""
        told = ", ".join(f"{name} is {_field(response.result, name)}" for name in unmet)
        told = told or f"it ended with status {response.status}"
        raise SkillFailure(FailureReason.EXECUTION, f"{one.action}: {why or told}")

    def _goal(self, skill: str, targets: Mapping[str, Target]) -> Any:
        goal = self._types[skill].Goal()
        header = conversions.header(self._node.get_clock().now().nanoseconds, self._frame)
        _fill(goal, self._maps[skill].goal, partial(_meant, targets, header), skill)
        return goal

    def _check(self, skill: str, one: MappedAction) -> None:
        kind = self._types[skill]
        try:
            self._goal(skill, {argument.name: _SAMPLE for argument in SKILLS[skill].arguments})
            for name in (*one.done, *([one.message] if one.message else [])):
                _field(kind.Result(), name)
            if one.progress:
                _field(kind.Feedback(), one.progress)
        except (AttributeError, TypeError, ValueError, AssertionError, KeyError) as error:
            raise InvalidValueError(f"parameter action_map: {skill} does not fit {one.type}: {error}") from error


def _fill(message: Any, given: Mapping[str, Any], meant: Callable[[str, str, str], Any], place: str) -> None:
    """Set fields of a message; raises ValueError, which names the place, and what messages raise for wrong values.

    meant: returns what a reference means by its argument, its attribute, and the field's type ("" in a text).
    """
    kinds = message.get_fields_and_field_types()
    for name, value in given.items():
        if name not in kinds:
            raise ValueError(f"{place}.{name}: expected one of {', '.join(kinds)}")
        if isinstance(value, dict):
            _fill(getattr(message, name), value, meant, f"{place}.{name}")
            continue
        if isinstance(value, str):
            whole = _REFERENCE.fullmatch(value)
            if whole is not None:
                value = meant(whole[1], whole[2], kinds[name])
            else:
                value = _REFERENCE.sub(lambda found: str(meant(found[1], found[2], "")), value)
        elif kinds[name] in ("double", "float"):
            value = float(value)
        setattr(message, name, value)


def _meant(targets: Mapping[str, Target], header: Header, argument: str, attribute: str, kind: str) -> Any:
    """Return what a reference means for a field of a type: `object.class` is the class of the skill's argument
    `object`; raises ValueError."""
    if argument not in targets:
        raise ValueError(f"{{{argument}.{attribute}}}: expected one of {', '.join(targets)}")
    target = targets[argument]
    x, y, z = (float(value) for value in target.box.center)
    depth, width, height = (float(side) for side in target.box.size)
    if attribute == "size":
        return Vector3(x=depth, y=width, z=height)
    if attribute in ("pose", "position"):
        pose = conversions.pose_to_msg(geometry.Pose.planar(x, y, target.box.yaw_rad, z))
        makers: dict[str, Callable[[], Any]] = {
            "geometry_msgs/Pose": lambda: pose,
            "geometry_msgs/PoseStamped": lambda: PoseStamped(header=header, pose=pose),
            "geometry_msgs/Point": lambda: pose.position,
            "geometry_msgs/PointStamped": lambda: PointStamped(header=header, point=pose.position),
            "geometry_msgs/Vector3": lambda: Vector3(x=x, y=y, z=z),
        }
        if kind not in makers:
            raise ValueError(f"a {attribute} fits {', '.join(makers)}, not {kind or 'a text'}")
        return makers[kind]()
    plain = {"id": target.object_id, "class": target.object_class, "x": x, "y": y, "z": z}
    plain |= {"depth": depth, "width": width, "height": height, "yaw": target.box.yaw_rad}
    if attribute not in plain:
        raise ValueError(f"{{{argument}.{attribute}}}: expected pose, position, size, {', '.join(plain)}")
    return plain[attribute]


def _field(message: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        message = getattr(message, name)
    return message


def _type_of(skill: str, one: MappedAction) -> Any:
    try:
        return get_action(one.type)
    except Exception as error:  # rosidl_runtime_py and ros_embedded name this error differently
        raise InvalidValueError(f"parameter action_map: {skill}: no type {one.type} is installed: {error}") from error
