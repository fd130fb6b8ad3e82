"""Camera topics: what is sent, how it comes, a fast camera's frames, and a still one's."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from ros_peer import CAMERA, RosPeer, SimulatedCamera, show_until, view_of, wait_until
from running_memory import counted, running_memory, worked_off
from sensor_msgs.msg import CompressedImage, Image
from test_image_decoding import rvl

from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.camera_output import CameraOutput
from memory_node.perception.detection import Detection
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.sim.camera import CameraFrame


def test_reliable_subscriber_gets_pictures(peer: RosPeer) -> None:
    size = (CAMERA.height, CAMERA.width)
    color, depth_m, nothing = np.zeros((*size, 3), np.uint8), np.ones(size, np.float32), np.zeros(size, np.uint16)
    picture = CameraFrame(1, Pose(), CAMERA, color, depth_m, nothing, ())
    came: set[str] = set()
    for topic in ("camera/color/image_raw", "camera/depth/image_raw", "detections/masks"):
        peer.node.create_subscription(Image, topic, lambda image: came.add(image.encoding), QoSProfile(depth=10))
    output = CameraOutput(peer.node)

    def shows() -> bool:
        output.publish(picture)
        return came == {"rgb8", "32FC1", "16UC1"}

    wait_until(shows)


FRAME_NS = 33_333_333
FRAMES = 60


def test_memory_stays_a_few_frames_behind_a_faster_camera(
    peer: RosPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = PerceptionPipeline.observe
    begin_ns, newest_ns, late = 1000 * 1_000_000_000, 0, []

    def slow(self: PerceptionPipeline, stamp_ns: int, *given: Any, **more: Any) -> Any:
        if stamp_ns >= begin_ns:
            late.append((newest_ns - stamp_ns) / FRAME_NS)
            time.sleep(0.12)
        return observe(self, stamp_ns, *given, **more)

    monkeypatch.setattr(PerceptionPipeline, "observe", slow)
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), still_period_s=0.0) as node:
        camera = SimulatedCamera(peer)
        show_until(lambda: node.memory.scene().objects, camera)
        start_s = time.monotonic()
        for number in range(FRAMES):
            time.sleep(max(0.0, start_s + number * FRAME_NS * 1e-9 - time.monotonic()))
            newest_ns = begin_ns + number * FRAME_NS
            camera.show(newest_ns)
        wait_until(lambda: node.memory.scene().objects[0].last_seen_ns == newest_ns)
        # one that waits, one at work, and what is on its way
        assert max(late) < 1 + 4 + 6
        assert counted(node)["dropped.behind"] > FRAMES / 4
        assert not any(name.startswith("skipped.") for name in counted(node))


SECOND_NS = 1_000_000_000


def png(depth_mm: np.ndarray) -> bytes:
    return bytes(cv2.imencode(".png", depth_mm)[1].tobytes())


class CompressingCamera(SimulatedCamera):
    """The simulated camera, its images compressed; coded: codes the depth; name: what its messages call that."""

    def __init__(self, peer: RosPeer, coded: Callable[[np.ndarray], bytes], name: str) -> None:
        super().__init__(peer)
        self._coded, self._name = coded, name

    def show(self, stamp_ns: int, **changed: object) -> None:
        depth_m, mask = view_of((1.5, 0.0, 1.0), 0.2, self.pose)
        info = conversions.intrinsics_to_msg(CAMERA, stamp_ns, "camera")
        jpeg = cv2.imencode(".jpg", np.full((480, 640, 3), 90, np.uint8))[1].tobytes()
        depth = struct.pack("<iff", 0, 0.0, 0.0) + self._coded((depth_m * 1000.0).astype(np.uint16))
        found = [Detection({"Mug": 0.9}, instance=1)]
        for topic, message in {
            "camera/color/camera_info": info,
            "camera/color/image_raw/compressed": CompressedImage(header=info.header, format="rgb8; jpeg", data=jpeg),
            "camera/depth/image_raw/compressedDepth": CompressedImage(
                header=info.header, format=f"16UC1; compressedDepth {self._name}", data=depth
            ),
            "detections/masks": conversions.image_to_msg(mask, "16UC1", stamp_ns, "camera"),
            "detections": conversions.detections_to_msg(found, stamp_ns, "camera"),
        }.items():
            self._peer.publish(topic, message)


@pytest.mark.parametrize(("coded", "name"), [(png, "png"), (rvl, "rvl")])
def test_compressed_images_become_objects(
    peer: RosPeer, tmp_path: Path, coded: Callable[[np.ndarray], bytes], name: str
) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), image_transport="compressed") as node:
        camera = CompressingCamera(peer, coded, name)
        shown = iter(range(1, 600))

        def seen() -> bool:
            camera.show(next(shown) * SECOND_NS)
            return bool(node.memory.scene().objects)

        wait_until(seen)
        (found,) = node.memory.scene().objects
        assert found.class_name == "Mug"
        assert np.linalg.norm(found.box.center - [1.5, 0.0, 1.0]) < 0.1
        assert not [name for name in counted(node) if name.startswith(("skipped.color", "skipped.depth"))]


# 0.2 s of a camera of 30 Hz.
ALLOWED_FRAMES = 6
SETTLED = 45


class Watched:
    """A memory node before a camera of 30 Hz that stands still; every frame arrives."""

    def __init__(self, peer: RosPeer, node: Any) -> None:
        self.node, self.camera, self.number = node, SimulatedCamera(peer, qos=100), 30
        peer.wait_until_heard()  # the publishers of an earlier memory do not wait for this one by themselves
        self.shows(1)  # what has been told of TF and of the camera by the time a frame is used
        wait_until(lambda: counted(node).get("used.frames", 0) == 1)

    def shows(self, frames: int, **changed: Any) -> None:
        before = worked_off(self.node)
        for _ in range(frames):
            self.camera.show(self.number * FRAME_NS, **changed)
            self.number += 1
        wait_until(lambda: worked_off(self.node) >= before + frames)

    @property
    def present(self) -> int:
        return len(self.node.memory.scene().objects)

    def frames_until_gone(self) -> int:
        """Return after how many frames without the plate memory no longer has it."""
        for frames in range(1, 60):
            self.shows(1, **EMPTY)
            if self.present == 0:
                return frames
        raise AssertionError("the plate is still remembered")


def empty_depth(msg: Any) -> None:
    msg.data = np.full((msg.height, msg.width), 3.0, np.float32).tobytes()


def empty_masks(msg: Any) -> None:
    msg.data = bytes(len(msg.data))


def no_detections(msg: Any) -> None:
    msg.detections = []


EMPTY = {"camera_depth_image_raw": empty_depth, "detections_masks": empty_masks, "detections": no_detections}
SETTINGS = {"camera_reliability": "reliable", "expert.most_behind": 200, "expert.queue_size": 200}


def test_few_frames_of_a_resting_scene_are_used_and_what_vanishes_is_gone_as_soon(
    peer: RosPeer, tmp_path: Path
) -> None:
    after: dict[float, int] = {}
    for period_s in (0.2, 0.0):
        with running_memory(
            peer.domain_id, str(tmp_path / f"{period_s}.db"), still_period_s=period_s, **SETTINGS
        ) as node:
            watched = Watched(peer, node)
            watched.shows(SETTLED)
            before = counted(node)
            watched.shows(30)
            now = counted(node)
            assert now["used.frames"] - before["used.frames"] == (5 if period_s else 30)
            assert now.get("dropped.still", 0) - before.get("dropped.still", 0) == (25 if period_s else 0)
            assert watched.present == 1
            after[period_s] = watched.frames_until_gone()
    assert after[0.2] <= after[0.0] + ALLOWED_FRAMES


def test_what_appears_before_a_resting_camera_is_known_within_the_period(peer: RosPeer, tmp_path: Path) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **SETTINGS) as node:
        watched = Watched(peer, node)
        watched.frames_until_gone()
        watched.shows(SETTLED, **EMPTY)
        watched.shows(ALLOWED_FRAMES)
        assert watched.present == 1


def test_every_frame_of_a_resting_camera_is_counted_where_few_may_wait(peer: RosPeer, tmp_path: Path) -> None:
    few = {"camera_reliability": "reliable", "expert.most_behind": 2, "expert.queue_size": 2}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **few) as node:
        watched = Watched(peer, node)
        for _ in range(SETTLED):
            watched.shows(1)
        before = worked_off(node)
        for _ in range(SETTLED):
            watched.camera.show(watched.number * FRAME_NS)
            watched.number += 1
            time.sleep(FRAME_NS * 1e-9)
        wait_until(lambda: worked_off(node) == before + SETTLED)
        skipped = {name: n for name, n in counted(node).items() if name.startswith("skipped.")}
        # On a busy machine two may wait already when a third comes, now and then.
        assert skipped.pop("skipped.queue_full", 0) <= SETTLED // 10
        assert not skipped


def test_images_that_cannot_be_used_are_told_of_a_resting_camera_too(peer: RosPeer, tmp_path: Path) -> None:
    def smaller(msg: Any) -> None:
        msg.width //= 2

    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **SETTINGS) as node:
        watched = Watched(peer, node)
        watched.shows(SETTLED, detections_masks=smaller)
        assert counted(node)["skipped.image_size"] > SETTLED - 10
