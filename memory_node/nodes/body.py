"""The body node: a simulated robot with physics, on the topics and actions that a real one has."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from nav_msgs.msg import OccupancyGrid, Odometry
from rosgraph_msgs.msg import Clock as ClockMsg
from sensor_msgs.msg import JointState
from tf2_ros import TransformBroadcaster

from memory_node.domain.process import WorkerThread
from memory_node.nodes import conversions
from memory_node.nodes.body_actions import BASE_FRAME, MAP_FRAME, TOOL_FRAME, offer_body_actions
from memory_node.nodes.camera_output import FRAME, CameraOutput
from memory_node.nodes.guarded_node import GuardedNode
from memory_node.nodes.node_parameters import BodyParameters
from memory_node.nodes.parameters import declare
from memory_node.nodes.qos import LATCHED
from memory_node.sim.noise import BodyNoise
from memory_node.sim.physics.home import plan_home
from memory_node.sim.physics.model import ARM_JOINTS, FINGER_JOINTS, HEAD_JOINTS, TOOL
from memory_node.sim.physics.rgbd_camera import CAMERA_BODY, Film
from memory_node.sim.physics.robot import TICK_S, BodyRobot

_ODOM_FRAME = "odom"
_JOINTS = (*ARM_JOINTS, *HEAD_JOINTS, *FINGER_JOINTS)
_PUBLISH_EVERY = 2  # ticks: 25 Hz of simulated time
_MAP_PERIOD_S = 2.0
_STOP_S = 5.0


class BodyNode(GuardedNode):
    """Runs physics in one thread and the camera in another; time is physics' own, on /clock."""

    def __init__(self) -> None:
        super().__init__("body")
        self.config = config = declare(self, BodyParameters)
        noise = config.noise if config.noisy else BodyNoise.none()
        self.robot = BodyRobot(plan_home(config.seed), noise, config.seed, time.time_ns())
        self._clock_publisher = self.create_publisher(ClockMsg, "/clock", 10)
        self._odometry = self.create_publisher(Odometry, "odom", 10)
        self._joints = self.create_publisher(JointState, "joint_states", 10)
        self._map = self.create_publisher(OccupancyGrid, "map", LATCHED)
        self._costmap = self.create_publisher(OccupancyGrid, "global_costmap/costmap", LATCHED)
        self._tf = TransformBroadcaster(self)
        self._pictures = CameraOutput(self)
        self._map.publish(conversions.grid_to_msg(self.robot.floor(), self.robot.stamp_ns))
        offer_body_actions(self, self.robot, self.announce_goals(config.peer_silence_s))
        self._ended = threading.Event()
        self._threads = (WorkerThread("physics", self._simulate), WorkerThread("camera", self._watch))
        for thread in self._threads:
            thread.start()
        self.at_end.callback(self._stop_time)
        things = sum(not item.fixed for item in self.robot.simulation.items.values())
        self.get_logger().info(f"a Fetch in a home with {things} things; speed {config.speed:g} at most")

    def _stop_time(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(_STOP_S)

    def _simulate(self) -> None:
        """Let time pass, no faster than `speed`; where physics needs longer, its clock goes slower."""
        tick, due_s, mapped_s = 0, time.monotonic(), -_MAP_PERIOD_S
        while not self._ended.is_set():
            self.robot.tick()
            tick += 1
            if tick % _PUBLISH_EVERY == 0:
                self._publish_state()
            if self.robot.simulation.time_s - mapped_s >= _MAP_PERIOD_S:
                mapped_s = self.robot.simulation.time_s
                self._costmap.publish(conversions.grid_to_msg(self.robot.costmap(), self.robot.stamp_ns))
            due_s = max(due_s + TICK_S / self.config.speed, time.monotonic() - 0.1)
            self._ended.wait(max(due_s - time.monotonic(), 0.0))

    def _watch(self) -> None:
        """Take pictures, `camera_period_s` of simulated time apart at least."""
        next_s = 0.0
        film = Film(Path(self.config.film)) if self.config.film else None
        while not self._ended.is_set():
            now_s = self.robot.simulation.time_s
            if now_s < next_s:
                self._ended.wait((next_s - now_s) / self.config.speed)
                continue
            next_s = now_s + self.config.camera_period_s
            picture = self.robot.look()
            if picture is not None:
                self._pictures.publish(picture)
            if film is not None and film.is_due(now_s):
                frame = self.robot.onlooker()
                if frame is not None:
                    film.add(frame, now_s)
        if film is not None:
            film.close()
        self.robot.close()

    def _publish_state(self) -> None:
        robot = self.robot
        with robot.simulation.lock:
            stamp_ns, base = robot.stamp_ns, robot.simulation.base_pose()
            map_T_odom, odom_T_base = robot.localization.map_T_odom, robot.localization.odom_T_base
            base_T_camera = base.inverse() @ robot.simulation.body_pose(CAMERA_BODY)
            base_T_tool = base.inverse() @ robot.simulation.site_pose(TOOL)
            positions = robot.simulation.positions(_JOINTS)
        self._tf.sendTransform(
            [
                conversions.transform_to_msg(map_T_odom, MAP_FRAME, _ODOM_FRAME, stamp_ns),
                conversions.transform_to_msg(odom_T_base, _ODOM_FRAME, BASE_FRAME, stamp_ns),
                conversions.transform_to_msg(base_T_camera, BASE_FRAME, FRAME, stamp_ns),
                conversions.transform_to_msg(base_T_tool, BASE_FRAME, TOOL_FRAME, stamp_ns),
            ]
        )
        odometry = Odometry(header=conversions.header(stamp_ns, _ODOM_FRAME), child_frame_id=BASE_FRAME)
        odometry.pose.pose = conversions.pose_to_msg(odom_T_base)
        self._odometry.publish(odometry)
        header = conversions.header(stamp_ns, BASE_FRAME)
        self._joints.publish(JointState(header=header, name=list(_JOINTS), position=positions.tolist()))
        self._clock_publisher.publish(ClockMsg(clock=conversions.stamp_to_msg(stamp_ns)))
