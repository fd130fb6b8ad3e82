"""The two processes of the benchmark, `python -m ros_embedded.bench_nodes peer|probe KIND [SECONDS]`.

The peer publishes and serves, the probe takes the time. Both run on the real rclpy where one is sourced.
"""
# ruff: noqa: E402 - rclpy can only be imported once it is served

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any

import ros_embedded

ros_embedded.activate()

import rclpy
from example_interfaces.action import Fibonacci
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image
from std_srvs.srv import SetBool

IMAGE_HZ = 30.0
POSE_HZ = 100.0
CALL_HZ = 50.0
WARM_UP = 10
_NS_PER_S = 10**9
_HEIGHT, _WIDTH = 480, 640


class Peer(Node):
    """Publishes what `kind` asks for, and serves; images run beside services and actions, as on a robot."""

    def __init__(self, kind: str) -> None:
        super().__init__("bench_peer")
        if kind == "pose":
            self._poses = self.create_publisher(PoseStamped, "bench/pose", qos_profile_sensor_data)
            self.create_timer(1.0 / POSE_HZ, self._publish_pose)
        else:
            self._images = self.create_publisher(Image, "bench/image", qos_profile_sensor_data)
            self._image = Image(height=_HEIGHT, width=_WIDTH, encoding="rgb8", step=3 * _WIDTH)
            self._image.data = bytes(range(256)) * (3 * _HEIGHT * _WIDTH // 256)
            self.create_timer(1.0 / IMAGE_HZ, self._publish_image)
        if kind == "service":
            self.create_service(SetBool, "bench/service", self._answer)
        if kind == "action":
            self._server = ActionServer(self, Fibonacci, "bench/action", self._execute)

    def _publish_image(self) -> None:
        _stamp(self._image)
        self._images.publish(self._image)

    def _publish_pose(self) -> None:
        message = PoseStamped()
        _stamp(message)
        self._poses.publish(message)

    def _answer(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = request.data
        return response

    def _execute(self, goal_handle: Any) -> Fibonacci.Result:
        goal_handle.publish_feedback(Fibonacci.Feedback(sequence=[0]))
        goal_handle.succeed()
        return Fibonacci.Result(sequence=[0, 1])


class Probe(Node):
    """Collects the latencies of one kind, in milliseconds."""

    def __init__(self, kind: str) -> None:
        super().__init__("bench_probe")
        self.latencies_ms: list[float] = []
        if kind == "pose":
            self.create_subscription(PoseStamped, "bench/pose", self._on_message, qos_profile_sensor_data)
        else:
            on_image = self._on_message if kind == "image_640x480" else _ignore
            self.create_subscription(Image, "bench/image", on_image, qos_profile_sensor_data)
        if kind == "service":
            self._client = self.create_client(SetBool, "bench/service")
            self.create_timer(1.0 / CALL_HZ, self._call_service)
        if kind == "action":
            self._action = ActionClient(self, Fibonacci, "bench/action")
            self.create_timer(1.0 / CALL_HZ, self._call_action)

    def _on_message(self, message: Any) -> None:
        sent_ns = message.header.stamp.sec * _NS_PER_S + message.header.stamp.nanosec
        self.latencies_ms.append((time.time_ns() - sent_ns) / 1e6)

    def _call_service(self) -> None:
        if self._client.service_is_ready():
            started = time.perf_counter()
            future = self._client.call_async(SetBool.Request(data=True))
            future.add_done_callback(lambda _: self._note(started))

    def _call_action(self) -> None:
        if not self._action.server_is_ready():
            return
        started = time.perf_counter()

        def on_accepted(future: Any) -> None:
            future.result().get_result_async().add_done_callback(lambda _: self._note(started))

        goal = Fibonacci.Goal(order=1)
        self._action.send_goal_async(goal, feedback_callback=_ignore).add_done_callback(on_accepted)

    def _note(self, started_s: float) -> None:
        self.latencies_ms.append((time.perf_counter() - started_s) * 1e3)


def _ignore(_: Any) -> None:
    pass


def _stamp(message: Any) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), _NS_PER_S)


def probe(kind: str, seconds: float, deadline_s: float = 20.0) -> tuple[list[float], float]:
    """Latencies in milliseconds seen within `seconds` after a warm-up, and this process's share of a core meanwhile.

    Raises:
        TimeoutError: nothing came within `deadline_s` seconds.

    """
    rclpy.init(args=[])
    node = Probe(kind)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    limit_s = time.monotonic() + deadline_s
    while len(node.latencies_ms) < WARM_UP:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > limit_s:
            raise TimeoutError(f"the peer's {kind} did not come within {deadline_s} s")
    node.latencies_ms.clear()
    cpu_s, end_s = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < end_s:
        executor.spin_once(timeout_sec=0.1)
    cpu_share = (time.process_time() - cpu_s) / seconds
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    return node.latencies_ms, cpu_share


def peer(kind: str) -> float:
    """Publish and serve until SIGTERM or SIGINT; return this process's share of a core meanwhile."""
    rclpy.init(args=[])
    started_s, cpu_s = time.monotonic(), time.process_time()
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        try:
            rclpy.spin(Peer(kind))
        except RuntimeError:  # of whatever uses the context after the signal has ended it
            if rclpy.ok():
                raise
    cpu_share = (time.process_time() - cpu_s) / (time.monotonic() - started_s)
    rclpy.try_shutdown()
    return cpu_share


if __name__ == "__main__":
    role, measured_kind, *rest = sys.argv[1:]
    print(json.dumps(peer(measured_kind) if role == "peer" else probe(measured_kind, float(rest[0]))), flush=True)
