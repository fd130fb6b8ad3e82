"""The bridge without ROS: a robot in one class, a list of objects for memory, and a performer made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from plain_search import find
from skill_robot import kitchen

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery, Recollection
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.nodes.skill_bridge.base import Driving
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun
from memory_node.nodes.skill_bridge.performer import SkillPerformer
from memory_node.nodes.skill_bridge.plugins import RobotParts
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Hand, TargetLookup
from memory_node.planner.stand_off_poses import Costmap
from memory_node.scene_graph.graph import SceneGraph

REACH_M = 3.0


class SmallRobot:
    """Base, arm, gripper and view in one; the arm finds a way only within some metres of the base.

    sticky: what is in the gripper stays there when it opens. misses: so many times the fingers close on nothing first.
    """

    def __init__(self, arm_m: float, sticky: bool = False, misses: int = 0) -> None:
        self.pose = Pose.planar(0.6, 0.2, 0.0)
        self.drives: list[Pose] = []
        self.open_again = False
        self._arm_m = arm_m
        self._sticky = sticky
        self._misses = misses
        self._grasped = False

    def robot_pose(self) -> Pose:
        return self.pose

    def catch_up(self) -> None:
        """The pose is never late."""

    def costmap(self) -> Costmap:
        return Costmap(np.zeros((120, 120), np.int8), 0.05, (-3.0, -3.0))

    def drive(self, goal: Pose, run: SkillRun) -> None:
        self.drives.append(goal)
        self.pose = goal

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        if np.linalg.norm((map_T_link.position - self.pose.position)[:2]) > self._arm_m:
            raise SkillFailure(FailureReason.UNREACHABLE, "no way")

    def carry(self, run: SkillRun) -> None:
        """Nothing is in the way."""

    def open(self, run: SkillRun) -> None:
        self._grasped = self._grasped and self._sticky

    def close(self, run: SkillRun) -> bool:
        if self._misses:
            self._misses -= 1
            return False
        self._grasped = self._grasped or not self.open_again
        self.open_again = True
        return self._grasped


class ListMemory:
    """The part of MemoryPort that the lookup uses, over a list of objects."""

    def __init__(self, objects: list[SceneObject], frame_verified: bool = True) -> None:
        self._graph = SceneGraph()
        for found in objects:
            self._graph.add_object(found)
        if not frame_verified:
            self._graph.doubt_frame()

    def find(self, query: FindQuery) -> Recollection:
        return find(self._graph, query, 1)

    def scene(self) -> SceneSnapshot:
        return self._graph.snapshot()


class OwnActions:
    """Forwards nothing but some skills, and notes the calls."""

    def __init__(self, *skills: str) -> None:
        self._skills = skills
        self.calls: list[SkillCall] = []

    def __contains__(self, skill: str) -> bool:
        return skill in self._skills

    def run(self, call: SkillCall, run: SkillRun, targets: object = None) -> SkillResult:
        self.calls.append(call)
        return SkillResult(call, True)


def lookup(objects: list[SceneObject], hand: Hand, frame_verified: bool = True) -> TargetLookup:
    return TargetLookup(ListMemory(objects, frame_verified), hand, Pose)  # type: ignore[arg-type]


def performer(
    robot: Any = None,
    hand: Hand | None = None,
    actions: OwnActions | None = None,
    memory: ListMemory | None = None,
    earlier: EarlierPoses | None = None,
    repositions: int = 0,
    front_room_m: float = 0.0,
    look_s: float = 0.0,
    pause: Callable[[float], None] = lambda _: None,
) -> SkillPerformer:
    """Return a performer, by default in the kitchen; without a robot there are the actions alone."""
    if hand is None:
        hand = Hand()
        hand.release()
    given = {"repositions": repositions, "front_room_m": front_room_m}
    expert = {f"expert.base.{name}": value for name, value in given.items()}
    config = SkillsParameters.of({"base.reach_m": REACH_M, **expert})
    pose = robot.robot_pose if robot is not None else Pose
    found = TargetLookup(memory or ListMemory(kitchen()), hand, pose)  # type: ignore[arg-type]
    catalogue, known = load_catalogue(), earlier or EarlierPoses()
    look = SecondLook(found, lambda: 1, look_s, pause)
    parts = RobotParts(None, config, hand, pose, look, robot, robot)  # type: ignore[arg-type]
    driving = Driving(robot, robot, found, config, catalogue, lambda: 1, known) if robot is not None else None
    own: Any = actions or OwnActions()
    return SkillPerformer(parts, found, own, catalogue, lambda: 1, driving, known)


def run() -> SkillRun:
    return SkillRun(lambda: False, lambda *progress: None)
