"""Ways to carry out skills, and to grasp, that a robot's own packages bring: the interface, and how they are found."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Protocol

from rclpy.node import Node

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.skill import FailureReason, SkillFailure, StateChange
from memory_node.domain.skill_declaration import Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.grasping import Grasp
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Hand, Target

SKILLS_GROUP = "robot_memory.skills"
GRASPS_GROUP = "robot_memory.grasps"
_WAYS = "memory_node.nodes.skill_bridge.ways"
# The shipped ones need no entry point; names of other packages' must differ.
_SHIPPED: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (SKILLS_GROUP, "doors"): f"{_WAYS}.doors:Doors",
        (SKILLS_GROUP, "switches"): f"{_WAYS}.switches:Switches",
        (SKILLS_GROUP, "pouring"): f"{_WAYS}.pouring:Pouring",
        (SKILLS_GROUP, "wiping"): f"{_WAYS}.wiping:Wiping",
        (GRASPS_GROUP, "boxes"): f"{_WAYS}.box_grasps:BoxGrasps",
    }
)


class Arm(Protocol):
    """An arm whose end-effector link goes to poses in map."""

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        """Bring the link to a pose; raises SkillFailure when it does not get there."""

    def carry(self, run: SkillRun) -> None:
        """Fold the arm for driving; raises SkillFailure when that fails."""


class Gripper(Protocol):
    """A gripper with two states."""

    def open(self, run: SkillRun) -> None:
        """Open it."""

    def close(self, run: SkillRun) -> bool:
        """Close it; return whether something is between the fingers."""


class GraspSource(Protocol):
    """Says how a thing can be grasped; plug-ins of the group robot_memory.grasps are such, made with the RobotParts."""

    def grasps(self, target: Target, robot: Pose, others: Sequence[OrientedBox]) -> list[Grasp]:
        """Return tool poses in map, best first; [] when the gripper cannot take the thing.

        robot: map_T_base. others: boxes in map of what stands about. It may ask a service, with a deadline.
        """


@dataclass(frozen=True)
class RobotParts:
    """What a plug-in may use of the robot.

    node: for topics, services and actions of its own, with callback groups of its own; the node's threads spin them.
    hand: what is held; read it, the bridge writes it. robot_pose: asks TF for map_T_base now; raises SkillFailure.
    config: all parameters of the node. look: sees what came of a skill. arm and gripper: None where the robot has no
    such action.
    """

    node: Node
    config: SkillsParameters
    hand: Hand
    robot_pose: Callable[[], Pose]
    look: SecondLook
    arm: Arm | None = None
    gripper: Gripper | None = None

    def hands(self) -> tuple[Arm, Gripper]:
        """Return arm and gripper.

        Raises:
            InvalidValueError: the robot has none.
        """
        if self.arm is None or self.gripper is None:
            raise InvalidValueError("parameter arm.action: a plug-in needs the arm, and it is empty")
        return self.arm, self.gripper


@dataclass(frozen=True)
class PluginCall:
    """One call of a skill; targets: the things that its object arguments mean, by the argument's name."""

    skill: Skill
    targets: Mapping[str, Target]


class SkillPlugin(Protocol):
    """Does some skills of the library. Made once, with the RobotParts, when the node starts."""

    @property
    def skills(self) -> frozenset[str]:
        """Names of the skills that it does."""

    def perform(self, call: PluginCall, run: SkillRun) -> Sequence[StateChange] | None:
        """Do one skill to its end; its declared preconditions hold, the robot stands close.

        Return what changed; None: what the library declares. It reports progress to `run`, and calls `run.check()`
        wherever it waits, which raises once the robot is to stop; the motions of arm and gripper do so themselves.

        Raises:
            SkillFailure: the skill failed, with one of the library's reasons.
        """


def load_plugin(group: str, name: str) -> Callable[[RobotParts], Any]:
    """Return the factory of a plug-in by its name: a shipped one, else an installed package's entry point.

    Raises:
        InvalidValueError: nothing is called so, more than one is, or it cannot be imported.
    """
    shipped = {known: where for (of, known), where in _SHIPPED.items() if of == group}
    found = [point for point in entry_points(group=group) if point.name == name]
    names = sorted({*shipped, *(point.name for point in entry_points(group=group))})
    if name not in names:
        raise InvalidValueError(f"plug-in {name!r}: expected one of {', '.join(names)} (entry points of {group})")
    if len(found) + (name in shipped) > 1:
        raise InvalidValueError(f"plug-in {name!r}: {len(found) + (name in shipped)} packages offer one in {group}")
    try:
        if name not in shipped:
            return found[0].load()  # type: ignore[no-any-return]
        module, _, attribute = shipped[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    except (ImportError, AttributeError) as error:
        raise InvalidValueError(f"plug-in {name!r} of {group} cannot be loaded: {error}") from error


class SkillPlugins:
    """The plug-ins that the parameter `plugins` names; where two do the same skill, the first named does it."""

    def __init__(self, names: Sequence[str], parts: RobotParts) -> None:
        self._ways: dict[str, tuple[str, SkillPlugin]] = {}
        for name in names:
            plugin: SkillPlugin = load_plugin(SKILLS_GROUP, name)(parts)
            unknown = plugin.skills - set(SKILLS)
            if unknown:
                raise InvalidValueError(f"plug-in {name!r}: no skills of the library: {', '.join(sorted(unknown))}")
            for skill in plugin.skills:
                self._ways.setdefault(skill, (name, plugin))

    def __contains__(self, skill: str) -> bool:
        return skill in self._ways

    def run(self, call: PluginCall, run: SkillRun) -> Sequence[StateChange] | None:
        """Return what a skill changed, None for what the library declares.

        Raises:
            SkillFailure: of the plug-in; EXECUTION for an error in it.
        """
        name, plugin = self._ways[call.skill.name]
        try:
            return plugin.perform(call, run)
        except SkillFailure:
            raise
        except Exception as error:  # the boundary to users' code: the skill fails, and the node continues
            message = f"plug-in {name!r}: {type(error).__name__}: {error}"
            raise SkillFailure(FailureReason.EXECUTION, message) from error
