"""A ROS peer and a camera for node tests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from memory_node.domain.geometry import Intrinsics, Pose

CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)


class RosPeer:
    """A node that spins in a thread: publishes a camera's topics and calls services, all with deadlines."""

    def __init__(self, domain_id: int) -> None:
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import MultiThreadedExecutor

        from memory_node.nodes.spinning import spin

        self.domain_id = domain_id
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain_id)
        self.node = rclpy.create_node("test_peer", context=self.context)
        self.executor = MultiThreadedExecutor(num_threads=4, context=self.context)
        self.executor.add_node(self.node)
        self._thread = threading.Thread(target=spin, args=(self.executor,), daemon=True)
        self._thread.start()
        self._publishers: dict[str, Any] = {}

    def close(self) -> None:
        import rclpy

        self.executor.shutdown()
        self._thread.join(5.0)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def call(self, kind: Any, name: str, timeout_s: float = 30.0, again_s: float = 5.0, **fields: Any) -> Any:
        """Return the response; asks again every `again_s`, as DDS takes a while to notice that a server was killed."""
        from memory_node.nodes.service_clients import PeerTimeoutError, result_of

        client = self.node.create_client(kind, name)
        assert client.wait_for_service(timeout_sec=timeout_s), f"no service {name}"
        try:
            for _ in range(int(timeout_s / again_s)):
                try:
                    return result_of(client.call_async(kind.Request(**fields)), again_s, name)
                except PeerTimeoutError:
                    continue
            pytest.fail(f"{name} did not answer within {timeout_s} s")
        finally:
            self.node.destroy_client(client)

    def publish(self, topic: str, message: Any, qos: Any = 10) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(type(message), topic, qos)
            wait_until(lambda: self._publishers[topic].get_subscription_count() > 0)
        self._publishers[topic].publish(message)

    def wait_until_heard(self) -> None:
        """Wait until a node that has started since listens to every topic that this one has published."""
        wait_until(lambda: all(one.get_subscription_count() > 0 for one in self._publishers.values()))


@contextmanager
def spun(node: Any, threads: int = 6) -> Iterator[Any]:
    """Yield a node that spins in threads of its own; it is destroyed at the end."""
    from rclpy.executors import MultiThreadedExecutor

    from memory_node.nodes.spinning import spin

    executor = MultiThreadedExecutor(num_threads=threads)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor,), daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(5.0)
        node.destroy_node()


def wait_until(condition: Callable[[], object], timeout_s: float = 60.0) -> None:
    """Wait until something is true; fail when it is not in time."""
    done = threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        if condition():
            return
        done.wait(0.05)
    pytest.fail(f"not true within {timeout_s} s")


def show_until(condition: Callable[[], object], camera: "SimulatedCamera", after_s: int = 0) -> None:
    """Show a picture a second of the camera's time until something is true: any one of them may be lost."""
    shown = iter(range(after_s + 1, after_s + 600))

    def seen() -> bool:
        camera.show(next(shown) * 1_000_000_000)
        return bool(condition())

    wait_until(seen)


def view_of(center: tuple[float, float, float], size_m: float, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return depth (m) and instance mask of a square plate that faces the camera in front of a wall at 3 m."""
    depth = np.full((CAMERA.height, CAMERA.width), 3.0, np.float32)
    mask = np.zeros(depth.shape, np.uint16)
    x, y, z = pose.inverse().apply(np.array(center))
    half = int(0.5 * size_m / z * CAMERA.fx)
    column, row = round(x / z * CAMERA.fx + CAMERA.cx), round(y / z * CAMERA.fy + CAMERA.cy)
    window = (slice(max(row - half, 0), row + half), slice(max(column - half, 0), column + half))
    depth[window], mask[window] = z, 1
    return depth, mask


def forward_camera(height_m: float = 1.0) -> Pose:
    """Return an optical frame that looks along the map's +x."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    matrix[2, 3] = height_m
    return Pose.from_matrix(matrix)


class SimulatedCamera:
    """Publishes what a camera at a fixed pose sees: one plate with a class, with TF and detections.

    detections: which of the topics detections and detections/masks it publishes. parent, mounted: the frame that TF
    has it in, and its pose there; None for the true one. Jazzy keeps the pose that a static frame was sent with first.
    """

    def __init__(
        self,
        peer: RosPeer,
        object_class: str = "Mug",
        detections: tuple[str, ...] = ("detections/masks", "detections"),
        qos: Any = 10,
        parent: str = "map",
        mounted: Pose | None = None,
    ) -> None:
        from tf2_ros import StaticTransformBroadcaster

        from memory_node.nodes import conversions

        self.pose = forward_camera()
        self._peer = peer
        self._class = object_class
        self._silent = {"detections/masks", "detections"} - set(detections)
        self._qos = qos
        self._tf = StaticTransformBroadcaster(peer.node)
        self._tf.sendTransform(conversions.transform_to_msg(mounted or self.pose, parent, "camera", 0))

    def show(self, stamp_ns: int, **changed: Any) -> None:
        """Publish one frame of a plate at (1.5, 0, 1); `changed` replaces messages by topic's last word."""
        from memory_node.nodes import conversions
        from memory_node.perception.detection import Detection

        depth, mask = view_of((1.5, 0.0, 1.0), 0.2, self.pose)
        color = np.full((*depth.shape, 3), 90, np.uint8)
        found = [Detection({self._class: 0.9}, instance=1)]
        messages = {
            "camera/color/camera_info": conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera"),
            "camera/color/image_raw": conversions.image_to_msg(color, "rgb8", stamp_ns, "camera"),
            "camera/depth/image_raw": conversions.image_to_msg(depth, "32FC1", stamp_ns, "camera"),
            "detections/masks": conversions.image_to_msg(mask, "16UC1", stamp_ns, "camera"),
            "detections": conversions.detections_to_msg(found, stamp_ns, "camera"),
        }
        for topic in self._silent:
            del messages[topic]
        for topic, message in messages.items():
            change = changed.get(topic.replace("/", "_"))
            if change is not None:
                change(message)
            self._peer.publish(topic, message, self._qos)
