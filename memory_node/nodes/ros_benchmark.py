"""The two ends of `memory-node bench ros`: a peer process that publishes and serves, a probe that takes the time."""

from __future__ import annotations

import sys
import time
from typing import Any

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


def measure(kind: str, seconds: float, deadline_s: float = 20.0) -> tuple[list[float], float]:
    """Latencies in milliseconds seen within `seconds` after a warm-up, and the CPU time of this process meanwhile.

    Raises:
        TimeoutError: nothing came within `deadline_s` seconds.
    """
    rclpy.init(args=[])
    probe = Probe(kind)
    executor = SingleThreadedExecutor()
    executor.add_node(probe)
    limit = time.monotonic() + deadline_s
    while len(probe.latencies_ms) < WARM_UP:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > limit:
            raise TimeoutError(f"the peer's {kind} did not come within {deadline_s} s")
    probe.latencies_ms.clear()
    cpu_s, end = time.process_time(), time.monotonic() + seconds
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    cpu_s = time.process_time() - cpu_s
    executor.shutdown()
    probe.destroy_node()
    rclpy.shutdown()
    return probe.latencies_ms, cpu_s


def main() -> None:
    """Run the peer of the kind named on the command line until SIGTERM or SIGINT; then print its CPU share."""
    started_s = time.monotonic()
    rclpy.init(args=[])
    peer = Peer(sys.argv[1])
    cpu_s = time.process_time()
    try:
        rclpy.spin(peer)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        print((time.process_time() - cpu_s) / (time.monotonic() - started_s), flush=True)
        peer.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
