"""The processes of `bench ros`'s loads: `python -m benchmarks.ros_load_nodes robot|listener|observer KIND SECONDS`.

The robot publishes TF and a camera, the listener is a plain node that subscribes to the same, the observer hears what
memory makes of it. Each waits on its standard input for the word to begin, and prints its figures as JSON.
"""
# ruff: noqa: E402 - rclpy can only be imported once it is served

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from memory_node.nodes.run import activate_ros

activate_ros()

import rclpy
import tf2_ros
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import serialize_message
from robot_memory.msg import SceneGraphDelta
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection2DArray

from benchmarks.ros_load_kinds import LOADS, Load
from benchmarks.scene import BASE_T_CAMERA
from benchmarks.scene_site import CAMERA, ROOM_M, build_site, room_corner, shoot
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.tf_stream import transforms_in
from memory_node.sim.noise import DetectionNoise

_NS = 1_000_000_000
_JOINTS = 18
_THINGS = 30
_PERIOD_S = 4.0  # of the camera's way, there and back
_FIRST_S = 1.0  # TF comes for so long before the first picture
_PEERS_S = 60.0
COLOR, DEPTH, INFO = "camera/color/image_raw", "camera/depth/image_raw", "camera/color/camera_info"
MASKS, DETECTIONS = "detections/masks", "detections"
TOPICS = {COLOR: Image, DEPTH: Image, INFO: CameraInfo, MASKS: Image, DETECTIONS: Detection2DArray}


def base_at(load: Load, after_s: float) -> Pose:
    """Return where the robot is: it sways along a wall, or stands."""
    x, y = room_corner(0)
    swing = np.sin(2.0 * np.pi * after_s / _PERIOD_S) if load.moves else 0.0
    return Pose.planar(x + 0.5 * ROOM_M[0] + 0.3 * swing, y + 0.5 * ROOM_M[1], 0.5 + 0.3 * swing)


class Robot(Node):
    """Publishes what a load says; the pictures are made before."""

    def __init__(self, load: Load) -> None:
        super().__init__("bench_robot")
        self._load = load
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        static = tf2_ros.StaticTransformBroadcaster(self)
        static.sendTransform(conversions.transform_to_msg(BASE_T_CAMERA, "base", "camera", 0))
        self._static = static
        self._camera = {
            topic: self.create_publisher(TOPICS[topic], topic, qos_profile_sensor_data if "camera" in topic else 10)
            for topic in (TOPICS if load.image_hz else ())
        }
        count = round(load.image_hz * _PERIOD_S) if load.moves else round(load.image_hz)
        self._pictures = [self._picture(number / load.image_hz) for number in range(count)]

    def wait_for_peers(self, count: int) -> None:
        """Wait until so many nodes listen to TF, and to the images."""
        deadline_s = time.monotonic() + _PEERS_S
        watched = (self._tf, *(self._camera[topic] for topic in (COLOR, DEPTH) if self._camera))
        while any(publisher.get_subscription_count() < count for publisher in watched):
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"not {count} nodes have subscribed within {_PEERS_S:.0f} s")
            time.sleep(0.1)

    def run(self, seconds: float) -> dict[str, int]:
        """Publish for a time; return how much."""
        sent = {"tf": 0, "frames": 0}
        begun_s = time.monotonic()
        transforms = threading.Thread(
            target=lambda: sent.update(tf=_every(self._load.tf_hz, seconds, self._transforms(begun_s)))
        )
        transforms.start()
        if self._camera:
            time.sleep(_FIRST_S)
            sent["frames"] = _every(self._load.image_hz, seconds - _FIRST_S, self._show)
        transforms.join()
        return sent

    def _transforms(self, begun_s: float) -> Callable[[int], None]:
        names = [("map", "odom"), ("odom", "base")]
        names += [("base", f"joint_{n}_link") for n in range(self._load.transforms - len(names))]
        poses = [Pose(), base_at(self._load, 0.0), *(Pose.planar(0.1, 0.0, 0.1 * n) for n in range(_JOINTS))]
        listed = [conversions.transform_to_msg(pose, parent, child, 0) for pose, (parent, child) in zip(poses, names)]
        data = bytearray(serialize_message(TFMessage(transforms=listed)))
        places = [(stamp, numbers) for stamp, _, _, numbers in transforms_in(bytes(data))]

        def publish(number: int) -> None:
            after_s = time.monotonic() - begun_s
            stamp = _stamp()
            for place, _ in places:
                data[place : place + 8] = stamp
            if self._load.moves:
                pose = base_at(self._load, after_s)
                begin = places[1][1]
                data[begin : begin + 56] = np.array([*pose.position, *pose.quaternion]).tobytes()
            self._tf.publish(bytes(data))

        return publish

    def _picture(self, after_s: float) -> dict[str, bytearray]:
        rng = np.random.default_rng(int(1000 * after_s))
        site = build_site(_THINGS, _THINGS, np.random.default_rng(1))
        shot = shoot(site, 0, base_at(self._load, after_s) @ BASE_T_CAMERA, DetectionNoise(), rng)
        color = np.clip(shot.color + rng.normal(0.0, 2.0, shot.color.shape), 0, 255).astype(np.uint8)
        messages = {
            COLOR: conversions.image_to_msg(color, "rgb8", 0, "camera"),
            DEPTH: conversions.image_to_msg(shot.depth_m, "32FC1", 0, "camera"),
            INFO: conversions.intrinsics_to_msg(CAMERA, 0, "camera"),
            MASKS: conversions.image_to_msg(shot.labels.astype(np.uint16), "16UC1", 0, "camera"),
            DETECTIONS: conversions.detections_to_msg(shot.detections, 0, "camera"),
        }
        return {topic: bytearray(serialize_message(message)) for topic, message in messages.items()}

    def _show(self, number: int) -> None:
        stamp = _stamp()
        for topic, data in self._pictures[number % len(self._pictures)].items():
            data[4:12] = stamp
            self._camera[topic].publish(bytes(data))


def _stamp() -> bytes:
    return np.array(divmod(time.time_ns(), _NS), np.uint32).tobytes()


def _every(hz: float, seconds: float, publish: Callable[[int], None]) -> int:
    begun_s, number = time.monotonic(), 0
    while (due_s := begun_s + number / hz) < begun_s + seconds:
        time.sleep(max(0.0, due_s - time.monotonic()))
        publish(number)
        number += 1
    return number


class Listener(Node):
    """A plain node with tf2_ros's listener, and a callback of each image that does nothing."""

    def __init__(self, load: Load) -> None:
        super().__init__("bench_listener")
        self.taken = 0
        self._buffer = tf2_ros.Buffer()
        self._tf = tf2_ros.TransformListener(self._buffer, self)
        for topic in TOPICS if load.image_hz else ():
            qos = qos_profile_sensor_data if "camera" in topic else 10
            self.create_subscription(TOPICS[topic], topic, self._take, qos)

    def _take(self, _: Any) -> None:
        self.taken += 1

    def figures(self) -> dict[str, Any]:
        """Return how many messages of the camera came."""
        return {"taken": self.taken}


class Observer(Node):
    """Notes how old each frame is when memory tells what it changed, and memory's own figures."""

    def __init__(self, load: Load) -> None:
        super().__init__("bench_observer")
        self._late_ms: list[float] = []
        self._inputs: dict[str, str] = {}
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.create_subscription(SceneGraphDelta, "memory/scene_graph_delta", self._on_delta, 100)

    def _on_delta(self, msg: SceneGraphDelta) -> None:
        stamps = [one.last_seen for one in (*msg.appeared, *msg.updated, *msg.moved)]
        seen_ns = max((stamp.sec * _NS + stamp.nanosec for stamp in stamps), default=0)
        if seen_ns:
            self._late_ms.append((time.time_ns() - seen_ns) / 1e6)

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            if status.name.endswith("memory: inputs"):
                self._inputs = {pair.key: pair.value for pair in status.values}

    def figures(self) -> dict[str, Any]:
        """Return the latencies in milliseconds and what memory used and skipped."""
        return {"late_ms": self._late_ms, "inputs": self._inputs}


def _listen(node: Any) -> dict[str, Any]:
    """Spin until the standard input ends."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()

    def await_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=await_end, daemon=True).start()
    while not ended.is_set():
        executor.spin_once(timeout_sec=0.2)
    return node.figures()


def main(role: str, kind: str, seconds: float) -> None:
    """Be one of the processes."""
    load = LOADS[kind]
    rclpy.init(args=[])
    if role == "robot":
        robot = Robot(load)
        robot.wait_for_peers(2)  # memory and the listener
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(robot.run(seconds)), flush=True)
    else:
        node = Listener(load) if role == "listener" else Observer(load)
        print("ready", flush=True)
        print(json.dumps(_listen(node)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
