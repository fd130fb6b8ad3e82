"""A camera that stands before a scene that rests: few frames are used, and no change is seen later for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from ros_peer import RosPeer, SimulatedCamera, wait_until
from running_memory import counted, running_memory, worked_off

FRAME_NS = 33_333_333
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


def test_images_that_cannot_be_used_are_told_of_a_resting_camera_too(peer: RosPeer, tmp_path: Path) -> None:
    def smaller(msg: Any) -> None:
        msg.width //= 2

    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **SETTINGS) as node:
        watched = Watched(peer, node)
        watched.shows(SETTLED, detections_masks=smaller)
        assert counted(node)["skipped.image_size"] > SETTLED - 10
