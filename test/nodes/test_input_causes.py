"""Whoever sets up a camera wrong reads on /diagnostics, and in the log, what is wrong and what to set."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_peer import RosPeer, SimulatedCamera, wait_until
from running_memory import counted, running_memory
from sensor_msgs.msg import CompressedImage, Image
from tf2_ros import TransformBroadcaster
from vision_msgs.msg import Detection2DArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes import conversions

STEP_NS = 100_000_000
WALL_NS = 1_795_000_000_000_000_000


class Diagnosed:
    """A running memory node, and what its status `inputs` says."""

    def __init__(self, peer: RosPeer, node: Any) -> None:
        self.node = node
        self.message = ""
        peer.node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)

    def _hear(self, array: Any) -> None:
        self.message = next((one.message for one in array.status if one.name == "memory: inputs"), self.message)

    def says(self, *parts: str, while_showing: Callable[[], object] = lambda: None) -> None:
        def is_said() -> bool:
            while_showing()
            return all(part in self.message for part in parts)

        try:
            wait_until(is_said, 25.0)
        except pytest.fail.Exception:
            pytest.fail(f"expected {parts} in {self.message!r}")


@contextmanager
def diagnosed(peer: RosPeer, folder: Path, **parameters: Any) -> Iterator[Diagnosed]:
    given = {"expert.frames_unused_s": 1.0, "diagnostic_updater.period": 0.1, **parameters}
    with running_memory(peer.domain_id, str(folder / "memory.db"), **given) as node:
        yield Diagnosed(peer, node)


class Showing:
    """A camera that shows one picture after the other, 0.1 s apart by their stamps."""

    def __init__(self, camera: SimulatedCamera, begin_ns: int = STEP_NS, **changed: Callable[[Any], None]) -> None:
        self.camera, self.stamp_ns, self.changed = camera, begin_ns, changed

    def __call__(self) -> None:
        self.camera.show(self.stamp_ns, **self.changed)
        self.stamp_ns += STEP_NS


def without(camera: SimulatedCamera, *topics: str) -> SimulatedCamera:
    camera._silent |= set(topics)
    return camera


def test_camera_without_camera_info(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(without(SimulatedCamera(peer), "camera/color/camera_info"))
        memory.says(
            "frames come, but for",
            "no_camera_info: no usable message has come on camera/color/camera_info",
            "nobody publishes /camera/color/camera_info",
            while_showing=show,
        )
        counts = counted(memory.node)
        assert counts["skipped.no_camera_info"] > counts.get("skipped.behind", 0)


def test_camera_that_sends_compressed_images_alone(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        for topic in ("color/image_raw/compressed", "depth/image_raw/compressedDepth"):
            peer.node.create_publisher(CompressedImage, f"camera/{topic}", 10)
        memory.says(
            "nobody publishes",
            "/camera/color/image_raw (but /camera/color/image_raw/compressed is published: "
            "set image_transport:=compressed)",
            "/camera/depth/image_raw (but /camera/depth/image_raw/compressedDepth is published",
        )


def test_camera_that_sends_raw_images_to_a_memory_that_listens_to_compressed_ones(
    peer: RosPeer, tmp_path: Path
) -> None:
    with diagnosed(peer, tmp_path, image_transport="compressed") as memory:
        peer.node.create_publisher(Image, "camera/color/image_raw", 10)
        memory.says("/camera/color/image_raw is published: set image_transport:=raw")


def test_one_topic_is_silent_among_others(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        peer.node.create_publisher(Detection2DArray, "detections", 10)
        show = Showing(without(SimulatedCamera(peer), "detections"))
        memory.says("/detections of test_peer has never come, for", "while other topics come", while_showing=show)


def test_depth_of_half_the_size(peer: RosPeer, tmp_path: Path) -> None:
    def halve(msg: Any) -> None:
        depth = np.frombuffer(msg.data, np.float32).reshape(msg.height, msg.width)[::2, ::2]
        msg.height, msg.width, msg.step, msg.data = *depth.shape, 4 * depth.shape[1], depth.tobytes()

    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer), camera_depth_image_raw=halve)
        memory.says("image_size: depth is 320x240, colour 640x480", "depth_registration", while_showing=show)


def test_camera_info_of_another_size(peer: RosPeer, tmp_path: Path) -> None:
    other = conversions.intrinsics_to_msg(Intrinsics(1050.0, 1050.0, 639.5, 479.5, 1280, 960), 0, "camera")

    def enlarge(msg: Any) -> None:
        msg.width, msg.height, msg.k = other.width, other.height, other.k

    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer), camera_color_camera_info=enlarge)
        memory.says(
            "image_size: colour images are 640x480, their camera_info says 1280x960",
            while_showing=show,
        )


def test_stamps_of_two_clocks(peer: RosPeer, tmp_path: Path) -> None:
    def by_simulation(msg: Any) -> None:
        msg.header.stamp = conversions.stamp_to_msg(conversions.stamp_from_msg(msg.header.stamp) - WALL_NS)

    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer), WALL_NS + STEP_NS, detections=by_simulation)
        memory.says("two clocks: ", "/detections", "set use_sim_time alike", while_showing=show)


def test_recording_in_a_loop_that_is_shorter_than_a_clock_jump(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer))

        def play() -> None:
            show()
            if show.stamp_ns > 6 * 10 * STEP_NS:
                show.stamp_ns = STEP_NS

        memory.says("have gone back, by", "scene_graph.clock_jump_s (10 s)", while_showing=play)


class Localiser:
    """Tells map->odom on /tf."""

    def __init__(self, peer: RosPeer) -> None:
        self._convert = conversions.transform_to_msg
        self._broadcaster = TransformBroadcaster(peer.node)

    def tell(self, stamp_ns: int) -> None:
        self._broadcaster.sendTransform(self._convert(Pose(), "map", "odom", stamp_ns))


def test_tf_that_is_late_is_told_by_how_much(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer, parent="odom"), 10 * STEP_NS)
        localiser = Localiser(peer)

        def late() -> None:
            localiser.tell(show.stamp_ns - 8 * STEP_NS)
            show()

        memory.says(
            "no_transform: TF of odom is late: its newest transform is",
            "older than an input that has waited for 0.5 s (tf_timeout_s); set tf_timeout_s above",
            while_showing=late,
        )


def test_tf_by_another_clock_than_images(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer, parent="odom"), WALL_NS)
        localiser = Localiser(peer)

        def apart() -> None:
            localiser.tell(show.stamp_ns - WALL_NS + STEP_NS)
            show()

        memory.says("two clocks: ", "/tf ", "set use_sim_time alike", while_showing=apart)


def test_localiser_of_one_hertz_is_followed(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer, parent="odom"), 10 * STEP_NS)
        localiser = Localiser(peer)

        def used() -> int:
            if show.stamp_ns % (10 * STEP_NS) == 0:
                localiser.tell(show.stamp_ns)
            show()
            return counted(memory.node).get("used.frames", 0)

        wait_until(lambda: used() >= 20, 60.0)
        counts = counted(memory.node)
        assert "skipped.tf_gap" not in counts
        assert counts.get("skipped.no_transform", 0) <= 15, "before the first two poses"


def test_localiser_that_has_stopped_is_told_with_the_parameter(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer, parent="odom"), 10 * STEP_NS)
        localiser = Localiser(peer)
        for seconds in (1, 2):
            localiser.tell(seconds * 10 * STEP_NS)
        show.stamp_ns = 60 * STEP_NS
        memory.says("odom has not been localised for", "localizer_timeout_s allows 3", while_showing=show)


def test_camera_that_tf_does_not_connect_with_the_map(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer, parent="base_link"))
        memory.says("TF does not connect camera with map", "base_link <- camera", while_showing=show)


@pytest.mark.parametrize(
    ("asked", "offered", "said"),
    [
        (
            {"camera_reliability": "reliable"},
            {"reliability": "BEST_EFFORT"},
            "publishes it best effort, memory asks for reliable reliability, so nothing arrives: "
            "set camera_reliability:=best_effort",
        ),
        (
            {"qos_overrides./camera/depth/image_raw.subscription.durability": "transient_local"},
            {"durability": "VOLATILE"},
            "publishes it volatile, memory asks for transient local durability, so nothing arrives: "
            "set qos_overrides./camera/depth/image_raw.subscription.durability:=volatile",
        ),
    ],
)
def test_quality_of_service_that_does_not_match(
    peer: RosPeer, tmp_path: Path, asked: dict[str, str], offered: dict[str, str], said: str
) -> None:
    policies = {"reliability": ReliabilityPolicy, "durability": DurabilityPolicy}
    profile = QoSProfile(depth=1, **{name: policies[name][value] for name, value in offered.items()})
    with diagnosed(peer, tmp_path, **asked) as memory:
        peer.node.create_publisher(Image, "camera/depth/image_raw", profile)
        memory.says(f"/camera/depth/image_raw: test_peer {said}")


def test_camera_frame_that_is_no_optical_frame(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        camera = SimulatedCamera(peer, mounted=Pose(np.array([0.0, 0.0, 1.0])))  # x forward, z up
        memory.says("camera is no optical frame (REP 103", "_optical_frame", while_showing=Showing(camera))


def test_classes_that_are_numbers(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        memory.says(
            "numbers for classes (17)", "names into class_id", while_showing=Showing(SimulatedCamera(peer, "17"))
        )


def test_scale_of_depth_that_cannot_be(peer: RosPeer, tmp_path: Path) -> None:
    def rescale(msg: Any) -> None:
        msg.data = (np.frombuffer(msg.data, np.float32) * np.float32(1000.0)).tobytes()

    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer), camera_depth_image_raw=rescale)
        memory.says("its median is 3000 m", "REP 118", while_showing=show)


def test_camera_that_is_right_is_ok(peer: RosPeer, tmp_path: Path) -> None:
    with diagnosed(peer, tmp_path) as memory:
        show = Showing(SimulatedCamera(peer))
        used = 0
        while used < 25:
            show()
            used = counted(memory.node).get("used.frames", 0)
            assert "nobody publishes" not in memory.message or used == 0
        memory.says("ok", while_showing=show)
