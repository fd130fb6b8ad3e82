"""The skill bridge before the simulated body in one process: physics is stepped while a skill waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Pose
from memory_node.domain.resources import read_yaml, resource_path
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult
from memory_node.memory import RobotMemory
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.skill_bridge.arm import REPLANS
from memory_node.nodes.skill_bridge.base import Driving
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.forwarding import ForwardedSkills
from memory_node.nodes.skill_bridge.outcome import EarlierPoses, SkillRun
from memory_node.nodes.skill_bridge.performer import SkillPerformer
from memory_node.nodes.skill_bridge.plugins import RobotParts
from memory_node.nodes.skill_bridge.second_look import SecondLook
from memory_node.nodes.skill_bridge.target import Hand, Target, TargetLookup
from memory_node.opening import MemoryConfig
from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.planner.stand_off_poses import Costmap
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.sim.physics.model import ARM_JOINTS
from memory_node.sim.physics.motions import End, Motion
from memory_node.sim.physics.robot import BodyRobot

# Simulated seconds between two pictures: on the way, and while the robot stands and looks.
_FRAME_S, _STILL_FRAME_S = 1.0, 0.4
_SKILL_LIMIT_S = 400.0


def fetch_parameters() -> SkillsParameters:
    """Return the bridge's parameters as config/fetch.yaml has them."""
    content = read_yaml(resource_path("config/fetch.yaml"))
    return SkillsParameters.of(content["/**/skills"]["ros__parameters"])


def fetch_memory() -> MemoryConfig:
    """Return memory's configuration as config/fetch.yaml has it."""
    content = read_yaml(resource_path("config/fetch.yaml"))
    given = content["/**/memory"]["ros__parameters"]
    return MemoryConfig(scene_graph=SceneGraphConfig.of(given["scene_graph"]))


class Body:
    """A robot whose time passes while something waits for it; memory sees its pictures meanwhile.

    Args:
        robot: the simulated robot.
        memory: sees what the camera sees.
        on_tick: called after every tick: faults are put in there.
    """

    def __init__(self, robot: BodyRobot, memory: RobotMemory, on_tick: Callable[[], None] = lambda: None) -> None:
        self.robot = robot
        self._memory = memory
        self._on_tick = on_tick
        self._frames = FrameMaker(PerceptionPipeline(PerceptionConfig()))
        self._next_frame_s = 0.0

    def wait(self, motion: Motion, run: SkillRun) -> End:
        """Let time pass until a motion has ended; return how."""
        limit_s = self.robot.simulation.time_s + _SKILL_LIMIT_S
        while motion.ended is None:
            if run.canceled or self.robot.simulation.time_s > limit_s:
                motion.cancel()
            self.tick()
        return motion.ended.end

    def pause(self, duration_s: float) -> None:
        """Let simulated time pass."""
        end_s = self.robot.simulation.time_s + duration_s
        while self.robot.simulation.time_s < end_s:
            self._next_frame_s = min(self._next_frame_s, self.robot.simulation.time_s + _STILL_FRAME_S)
            self.tick()

    def tick(self) -> None:
        """Let one tick pass, and take a picture when one is due."""
        self.robot.tick()
        self._on_tick()
        if self.robot.simulation.time_s >= self._next_frame_s:
            self._next_frame_s = self.robot.simulation.time_s + _FRAME_S
            self.look()

    def look(self) -> None:
        """Show memory what the camera sees now."""
        picture = self.robot.look()
        if picture is None:
            return
        try:
            frame = self._frames.make(
                picture.stamp_ns,
                picture.map_T_camera,
                picture.intrinsics,
                picture.color,
                picture.depth_m,
                picture.instances.astype(np.int32),
                picture.detections,
            )
        except InputSkippedError:
            return
        self._memory.observe(frame)

    # --- what the bridge asks of a robot: View, Base, Arm, Gripper ---------------------------------

    def robot_pose(self) -> Pose:
        """Return map_T_base as the robot believes it."""
        return self.robot.localization.map_T_base

    def catch_up(self) -> None:
        """Do nothing: the pose is never late."""

    def costmap(self) -> Costmap:
        """Return the floor as it is now."""
        grid = self.robot.costmap()
        x, y, _ = grid.map_T_origin.position
        return Costmap(grid.cells, grid.resolution_m, (float(x), float(y)))

    def drive(self, goal: Pose, run: SkillRun) -> None:
        """Drive to a pose, as NavigationBase does."""
        motion = self.robot.drive(goal)
        if motion is None:
            raise SkillFailure(FailureReason.UNREACHABLE, "no way leads to the pose")
        run.moved_to(self.robot_pose())
        while motion.ended is None:
            if run.canceled:
                motion.cancel()
            self.tick()
            run.moved_to(self.robot_pose())
        if motion.ended.end is not End.DONE:
            raise SkillFailure(FailureReason.EXECUTION, motion.ended.message)


class BodyArm:
    """The bridge's Arm, as MoveGroupArm is over MoveIt."""

    def __init__(self, body: Body, config: SkillsParameters) -> None:
        self._body = body
        self._speed = config.arm.speed
        joints = config.arm.carry_joints
        self._carry = np.array([joints[name] for name in ARM_JOINTS])

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        """Bring the tool to a pose."""
        base_T_tool = self._body.robot_pose().inverse() @ map_T_link
        self._follow(self._body.robot.move_tool(base_T_tool, self._speed), run)

    def carry(self, run: SkillRun) -> None:
        """Fold the arm."""
        for _ in range(REPLANS):
            try:
                return self._follow(self._body.robot.move_joints(self._carry, self._speed), run)
            except SkillFailure as failure:
                if failure.reason is not FailureReason.EXECUTION:
                    raise
        self._follow(self._body.robot.move_joints(self._carry, self._speed), run)

    def _follow(self, motion: Motion | None, run: SkillRun) -> None:
        if motion is None:
            raise SkillFailure(FailureReason.UNREACHABLE, "the arm's planner found no way")
        if self._body.wait(motion, run) is not End.DONE:
            assert motion.ended is not None
            raise SkillFailure(FailureReason.EXECUTION, motion.ended.message)


class BodyGripper:
    """The bridge's Gripper, as CommandGripper is over GripperCommand."""

    def __init__(self, body: Body, config: SkillsParameters) -> None:
        self._body = body
        self._config = config.gripper

    def open(self, run: SkillRun) -> None:
        """Open."""
        if self._move(self._config.open_position, run)[1]:
            raise SkillFailure(FailureReason.EXECUTION, "the gripper stalled while opening")

    def close(self, run: SkillRun) -> bool:
        """Close; return whether something is between the fingers."""
        gap_m, _ = self._move(self._config.closed_position, run)
        return abs(gap_m - self._config.closed_position) > self._config.empty_margin

    def _move(self, gap_m: float, run: SkillRun) -> tuple[float, bool]:
        """Return the gap in the end, and whether the fingers stalled before the one that was asked for."""
        motion = self._body.robot.move_gripper(gap_m, self._config.max_effort)
        self._body.wait(motion, run)
        return motion.gap_m, not motion.reached


class BridgeSkills:
    """A SkillPort: the node `skills` without its node."""

    def __init__(self, body: Body, memory: RobotMemory) -> None:
        # Time passes in what is waited for, not by the wall's clock.
        config = fetch_parameters()
        config = config.changed(explore=config.explore.changed(look_s=0.0))
        self._body = body
        self._memory = memory
        self.hand = hand = Hand()
        catalogue = load_catalogue(config.label_space)
        lookup = _WaitingLookup(body, memory, hand)
        nothing: Any = None  # no node: the shipped plug-ins use none, and no skill is handed on to an action
        look = SecondLook(lookup, self._now_ns, config.arm.look_s, body.pause)
        arm, gripper = BodyArm(body, config), BodyGripper(body, config)
        parts = RobotParts(nothing, config, hand, body.robot_pose, look, arm, gripper)
        base: Any = body  # it drives as Nav2 does, and knows its pose and costmap
        earlier = EarlierPoses()
        driving = Driving(base, base, lookup, config, catalogue, self._now_ns, earlier)
        actions = ForwardedSkills(nothing, config, nothing)
        self._performer = SkillPerformer(parts, lookup, actions, catalogue, self._now_ns, driving, earlier)

    @property
    def available(self) -> frozenset[str]:
        """The skills that the robot does."""
        return self._performer.available()

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end."""
        start_s = self._body.robot.simulation.time_s

        def canceled() -> bool:
            return self._body.robot.simulation.time_s - start_s > _SKILL_LIMIT_S

        return self._performer.execute(call, SkillRun(canceled, lambda *_: None))

    def _now_ns(self) -> int:
        return self._body.robot.stamp_ns


class _WaitingLookup(TargetLookup):
    """Memory as the skills see it; a look takes a moment, in which the camera takes pictures."""

    def __init__(self, body: Body, memory: RobotMemory, hand: Hand) -> None:
        super().__init__(memory, hand, body.robot_pose)
        self._body = body

    def seen_since(self, object_class: str, since_ns: int, passed_over: frozenset[str] = frozenset()) -> Target | None:
        """Return an object of a class that was seen after a moment, once two pictures have come."""
        self._body.pause(2.0 * _STILL_FRAME_S)
        return super().seen_since(object_class, since_ns, passed_over)
