"""The home node: a simulated home and robot on ROS topics, with the skill server that a real robot offers."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory.action import ExecuteSkill
from rosgraph_msgs.msg import Clock as ClockMsg
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.camera_output import CameraOutput
from memory_node.nodes.parameters import declare, parameter
from memory_node.nodes.qos import LATCHED
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.camera import Camera
from memory_node.sim.execution import Pacing, Progress
from memory_node.sim.home_file import load_home
from memory_node.sim.object_types import load_types
from memory_node.sim.robot import HomeRobot
from memory_node.sim.robot_config import ExecutionFaults


@dataclass(frozen=True)
class HomeParameters:
    """Parameters of the home node."""

    home: str = parameter("apartment", "a shipped home's name, or the path of a home file (YAML)")
    label_space: str = parameter(HOUSEHOLD, "what the robot calls things: a shipped label space or a .yaml file")
    speed: float = parameter(4.0, "simulated seconds per second", 0.1, 100.0)
    camera_period_s: float = parameter(0.5, "simulated seconds between two camera frames", 0.05, 10.0)
    skill_fault_probability: float = parameter(0.0, "how often a skill fails by itself", 0.0, 1.0)
    noisy: bool = parameter(True, "noise of config/noise.yaml on depth and detections")
    seed: int = parameter(0, "seed of every random choice", 0, 2**31 - 1)


class HomeNode(Node):
    """Simulates in lockstep: a skill's steps advance the clock and take the pictures, so that no view is missed."""

    def __init__(self) -> None:
        super().__init__("home")
        config = declare(self, HomeParameters)
        self._config = config
        self._world = load_home(config.home, load_types(load_catalogue(config.label_space)))
        self._stamp_ns = time.time_ns()
        self._since_frame_s = config.camera_period_s
        self._running = False
        self._lock = threading.RLock()
        faults = ExecutionFaults({"*": config.skill_fault_probability}, config.seed)
        self._robot = HomeRobot(
            self._world,
            pacing=Pacing(config.speed, self._advance),
            faults=faults,
            clock=lambda: self._stamp_ns,
        )
        camera = Camera(self._world, noisy=config.noisy, seed=config.seed)
        self._camera = CameraOutput(self, camera, lambda: self._robot.body.camera)
        self._clock_publisher = self.create_publisher(ClockMsg, "/clock", 10)
        self._odometry = self.create_publisher(Odometry, "odom", 10)
        self._map = self.create_publisher(OccupancyGrid, "map", LATCHED)
        self._tf = TransformBroadcaster(self)
        self._static_tf = StaticTransformBroadcaster(self)
        self._publish_fixed()
        self._skills = ActionServer(
            self,
            ExecuteSkill,
            "execute_skill",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self._idle = self.create_timer(0.1, self._idle_step, callback_group=MutuallyExclusiveCallbackGroup())
        self.get_logger().info(f"home {config.home!r}: {len(list(self._world))} things, skills at execute_skill")

    def _publish_fixed(self) -> None:
        base_T_camera = self._robot.body.pose.inverse() @ self._robot.body.camera
        self._static_tf.sendTransform(
            [
                conversions.transform_to_msg(Pose(), "map", "odom", self._stamp_ns),
                conversions.transform_to_msg(base_T_camera, "base_link", "camera_optical_frame", self._stamp_ns),
            ]
        )
        grid = self._world.grid
        occupancy = OccupancyMap(grid.occupancy, grid.resolution_m, Pose.planar(*grid.origin, 0.0))
        self._map.publish(conversions.grid_to_msg(occupancy, self._stamp_ns))

    def _idle_step(self) -> None:
        if not self._running:
            self._advance(0.1)

    def _advance(self, wall_s: float) -> None:
        """Let `wall_s` real seconds pass and simulated time with them: clock, pose, and a frame when one is due."""
        started = time.monotonic()
        with self._lock:
            simulated_s = wall_s * self._config.speed
            self._stamp_ns += int(simulated_s * 1e9)
            self._since_frame_s += simulated_s
            self._publish_pose()
            if self._since_frame_s >= self._config.camera_period_s:
                self._since_frame_s = 0.0
                self._camera.publish(self._stamp_ns)
        time.sleep(max(wall_s - (time.monotonic() - started), 0.0))

    def _publish_pose(self) -> None:
        pose = self._robot.body.pose
        self._tf.sendTransform(conversions.transform_to_msg(pose, "odom", "base_link", self._stamp_ns))
        odometry = Odometry(header=conversions.header(self._stamp_ns, "odom"), child_frame_id="base_link")
        odometry.pose.pose = conversions.pose_to_msg(pose)
        self._odometry.publish(odometry)
        self._clock_publisher.publish(ClockMsg(clock=conversions.stamp_to_msg(self._stamp_ns)))

    def _on_goal(self, goal: ExecuteSkill.Goal) -> GoalResponse:
        if self._running:
            self.get_logger().warning(f"refused {goal.call.skill}: another skill is running")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, goal: Any) -> ExecuteSkill.Result:
        self._running = True
        try:
            call = conversions.call_from_msg(goal.request.call)
            result = self._robot.run(call, lambda p: self._feedback(goal, p), lambda: goal.is_cancel_requested)
        except InvalidValueError as error:
            goal.abort()
            return ExecuteSkill.Result(reason=str(FailureReason.INVALID_CALL), message=str(error))
        finally:
            self._running = False
        self._finish(goal, result)
        held = self._world.held
        return conversions.skill_result_to_msg(result, held.class_name if held is not None else "")

    def _feedback(self, goal: Any, progress: Progress) -> None:
        feedback = ExecuteSkill.Feedback(phase=progress.phase, distance=progress.distance_m)
        feedback.pose = PoseStamped(
            header=conversions.header(self._stamp_ns), pose=conversions.pose_to_msg(progress.pose)
        )
        goal.publish_feedback(feedback)

    def _finish(self, goal: Any, result: SkillResult) -> None:
        self.get_logger().info(f"{result.call}: {'done' if result.success else result.reason} {result.message}")
        if result.success:
            goal.succeed()
        elif result.reason is FailureReason.CANCELED:
            goal.canceled()
        else:
            goal.abort()
