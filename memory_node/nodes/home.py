"""The home node: a simulated home and robot on ROS topics, with the skill server that a real robot offers."""

from __future__ import annotations

import threading
import time

from geometry_msgs.msg import PoseArray
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rosgraph_msgs.msg import Clock as ClockMsg
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.nodes import conversions
from memory_node.nodes.camera_output import CameraOutput
from memory_node.nodes.diagnostics import Diagnosis
from memory_node.nodes.execute_skill import SkillGoal, SkillServer
from memory_node.nodes.guarded_node import GuardedNode
from memory_node.nodes.node_parameters import HomeParameters
from memory_node.nodes.parameters import declare
from memory_node.nodes.qos import LATCHED
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.camera import Camera, FrameClock
from memory_node.sim.execution import ExecutionFaults, Pacing, Progress
from memory_node.sim.home_file import load_home
from memory_node.sim.noise import DetectionNoise
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import load_types


class HomeNode(GuardedNode):
    """Simulates in lockstep: a skill's steps advance the clock and take the pictures, so that no view is missed."""

    def __init__(self) -> None:
        super().__init__("home")
        self.config = config = declare(self, HomeParameters)
        catalogue = load_catalogue(config.label_space)
        self._recipient = catalogue.recipient
        self._world = load_home(config.home, load_types(catalogue))
        self._began_ns = self._stamp_ns = time.time_ns()
        self._frames = FrameClock(config.camera_period_s, config.still_camera_period_s, config.speed)
        self._lock = threading.RLock()
        faults = ExecutionFaults({"*": config.skill_fault_probability}, config.seed)
        self._robot = HomeRobot(
            self._world,
            pacing=Pacing(config.speed, self._advance),
            faults=faults,
            clock=lambda: self._stamp_ns,
        )
        noise = config.noise if config.noisy else DetectionNoise.none()
        self._camera = Camera(self._world, noise=noise, seed=config.seed)
        self._pictures = CameraOutput(self)
        self._clock_publisher = self.create_publisher(ClockMsg, "/clock", 10)
        self._odometry = self.create_publisher(Odometry, "odom", 10)
        self._map = self.create_publisher(OccupancyGrid, "map", LATCHED)
        self._people = self.create_publisher(PoseArray, "people", 1)
        self.create_timer(1.0, self._publish_people, callback_group=MutuallyExclusiveCallbackGroup())
        self._tf = TransformBroadcaster(self)
        self._static_tf = StaticTransformBroadcaster(self)
        self._publish_fixed()
        running = self.announce_goals(config.peer_silence_s)
        skills = SkillServer(self, self._perform, self._held_class, lambda: self._stamp_ns, "map", running, ALL_SKILLS)
        self._idle = self.create_timer(0.1, self._idle_step, callback_group=MutuallyExclusiveCallbackGroup())
        components = {"skills": skills.goals.diagnosis, "simulation": self._simulation_diagnosis}
        self.publish_diagnostics(config.diagnostic_updater, components)
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

    def _simulation_diagnosis(self) -> Diagnosis:
        """Return how far the simulation is: published frames, simulated seconds, what the hand holds."""
        passed_s = round((self._stamp_ns - self._began_ns) * 1e-9, 1)
        return Diagnosis({"frames": self._pictures.published, "simulated_s": passed_s, "holding": self._held_class()})

    def _idle_step(self) -> None:
        if self.is_idle:
            self._advance(0.1)

    def _advance(self, wall_s: float) -> None:
        """Let `wall_s` real seconds pass and simulated time with them: clock, pose, and a frame when one is due."""
        started = time.monotonic()
        with self._lock:
            simulated_s = wall_s * self.config.speed
            self._stamp_ns += int(simulated_s * 1e9)
            self._frames.pass_time(simulated_s)
            self._publish_pose()
            if self._frames.is_due((self._world.revision, self._robot.body.camera.matrix.tobytes())):
                self._pictures.publish(self._camera.capture(self._robot.body.camera, self._stamp_ns))
        time.sleep(max(wall_s - (time.monotonic() - started), 0.0))

    def _publish_people(self) -> None:
        """Tell where those are whom things are handed over to, as a robot's detector of people would."""
        boxes = [one.box for one in self._world if one.class_name == self._recipient]
        poses = [
            conversions.pose_to_msg(Pose.planar(float(box.center[0]), float(box.center[1]), box.yaw_rad))
            for box in boxes
        ]
        self._people.publish(PoseArray(header=conversions.header(self._stamp_ns, "map"), poses=poses))

    def _publish_pose(self) -> None:
        pose = self._robot.body.pose
        self._tf.sendTransform(conversions.transform_to_msg(pose, "odom", "base_link", self._stamp_ns))
        odometry = Odometry(header=conversions.header(self._stamp_ns, "odom"), child_frame_id="base_link")
        odometry.pose.pose = conversions.pose_to_msg(pose)
        self._odometry.publish(odometry)
        self._clock_publisher.publish(ClockMsg(clock=conversions.stamp_to_msg(self._stamp_ns)))

    def _perform(self, goal: SkillGoal) -> SkillResult:
        def follow(progress: Progress) -> None:
            goal.report(progress.phase, 0.0, progress.pose, progress.distance_m)

        return self._robot.run(goal.call, follow, goal.is_canceled)

    def _held_class(self) -> str:
        held = self._world.held
        return held.class_name if held is not None else ""
