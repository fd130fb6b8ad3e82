"""Skills of the user's own action servers: ExecuteSkill goals, or goals of any type by a YAML file (docs/skills.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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


class MappedActions:
    """The skills of the parameter `action_map`.

    Raises:
        InvalidValueError: the file is no such map, or does not fit the actions' types.
    """

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._now = node.get_clock().now
        self._timeout_s = config.action_timeout_s
        self._frame = config.map_frame
        self._maps = read_action_map(Path(config.action_map)) if config.action_map else {}
        self._types = {skill: _type_of(skill, one) for skill, one in self._maps.items()}
        self._calls = {
            skill: ActionCall(node, self._types[skill], one.action, f"action_map: {skill}", config.deadlines_s, running)
            for skill, one in self._maps.items()
        }
        for skill in self._maps:
            self._check(skill)

    def __contains__(self, skill: str) -> bool:
        return skill in self._maps

    def run(self, skill: str, targets: Mapping[str, Target], run: SkillRun) -> None:
        """Do one skill to its end. targets: the things that it is about, by the names of its arguments.

        Raises:
            SkillFailure: EXECUTION with the server's own words, TIMEOUT or CANCELED.
        """
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
        made = _Values(targets, self._frame, self._now().to_msg())
        _fill(goal, self._maps[skill].goal, made, skill)
        return goal

    def _check(self, skill: str) -> None:
        one, kind = self._maps[skill], self._types[skill]
        arguments = {argument.name: _SAMPLE for argument in SKILLS[skill].arguments}
        try:
            self._goal(skill, arguments)
            for name in (*one.done, *([one.message] if one.message else [])):
                _field(kind.Result(), name)
            if one.progress:
                _field(kind.Feedback(), one.progress)
        except (AttributeError, TypeError, ValueError, AssertionError, KeyError) as error:
            raise InvalidValueError(f"parameter action_map: {skill} does not fit {one.type}: {error}") from error


class _Values:
    """What references mean: `object.class` is the class of the skill's argument `object`."""

    def __init__(self, targets: Mapping[str, Target], frame: str, stamp: Any) -> None:
        self._targets = targets
        self._frame = frame
        self._stamp = stamp

    def text(self, argument: str, attribute: str) -> str:
        """Return a reference inside a text."""
        return str(self.value(argument, attribute, ""))

    def value(self, argument: str, attribute: str, kind: str) -> Any:
        """Return what a reference means for a field of a type; raises ValueError."""
        if argument not in self._targets:
            raise ValueError(f"{{{argument}.{attribute}}}: expected one of {', '.join(self._targets)}")
        target = self._targets[argument]
        if attribute in ("pose", "position", "size"):
            return self._message(target, attribute, kind)
        x, y, z = (float(value) for value in target.box.center)
        plain = {"id": target.object_id, "class": target.object_class, "x": x, "y": y, "z": z}
        plain |= dict(zip(("depth", "width", "height"), (float(side) for side in target.box.size)))
        plain["yaw"] = target.box.yaw_rad
        if attribute not in plain:
            raise ValueError(f"{{{argument}.{attribute}}}: expected pose, position, size, {', '.join(plain)}")
        return plain[attribute]

    def _message(self, target: Target, attribute: str, kind: str) -> Any:
        if attribute == "size":
            depth, width, height = (float(side) for side in target.box.size)
            return Vector3(x=depth, y=width, z=height)
        x, y, z = (float(value) for value in target.box.center)
        pose = conversions.pose_to_msg(geometry.Pose.planar(x, y, target.box.yaw_rad, z))
        place = pose.position
        makers: dict[str, Callable[[], Any]] = {
            "geometry_msgs/Pose": lambda: pose,
            "geometry_msgs/PoseStamped": lambda: PoseStamped(header=self._header(), pose=pose),
            "geometry_msgs/Point": lambda: place,
            "geometry_msgs/PointStamped": lambda: PointStamped(header=self._header(), point=place),
            "geometry_msgs/Vector3": lambda: Vector3(x=place.x, y=place.y, z=place.z),
        }
        if kind not in makers:
            raise ValueError(f"a {attribute} fits {', '.join(makers)}, not {kind or 'a text'}")
        return makers[kind]()

    def _header(self) -> Any:
        header = conversions.header(0, self._frame)
        header.stamp = self._stamp
        return header


def _fill(message: Any, given: Mapping[str, Any], values: _Values, place: str) -> None:
    """Set fields of a message; raises ValueError, which names the place, and what messages raise for wrong values."""
    kinds = message.get_fields_and_field_types()
    for name, value in given.items():
        if name not in kinds:
            raise ValueError(f"{place}.{name}: expected one of {', '.join(kinds)}")
        if isinstance(value, dict):
            _fill(getattr(message, name), value, values, f"{place}.{name}")
            continue
        setattr(message, name, _meant(value, values, kinds[name]))


def _meant(value: Any, values: _Values, kind: str) -> Any:
    if not isinstance(value, str):
        return float(value) if kind in ("double", "float") else value
    whole = _REFERENCE.fullmatch(value)
    if whole is not None:
        return values.value(whole[1], whole[2], kind)
    return _REFERENCE.sub(lambda found: values.text(found[1], found[2]), value)


def _field(message: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        message = getattr(message, name)
    return message


def _type_of(skill: str, one: MappedAction) -> Any:
    try:
        return get_action(one.type)
    except Exception as error:  # rosidl_runtime_py and ros_embedded name this error differently
        raise InvalidValueError(f"parameter action_map: {skill}: no type {one.type} is installed: {error}") from error


class ForwardedSkills:
    """The skills with an action of their own in the parameters `actions`, or in the file of `action_map`."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._timeout_s = config.action_timeout_s
        self._calls = {
            skill: ActionCall(node, ExecuteSkill, name, f"actions.{skill}", config.deadlines_s, running)
            for skill, name in vars(config.actions).items()
            if name
        }
        self._mapped = MappedActions(node, config, running)

    def __contains__(self, skill: str) -> bool:
        return skill in self._calls or skill in self._mapped

    def run(self, call: SkillCall, run: SkillRun, targets: Mapping[str, Target] = MappingProxyType({})) -> SkillResult:
        """Return the result of a skill that succeeded. targets: the things that it is about, by its arguments' names.

        Raises:
            SkillFailure: with the server's reason.
        """
        if call.skill not in self._calls:
            self._mapped.run(call.skill, targets, run)
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
