"""A moment's images become a frame; the depth is worked on while the detector looks at the colours."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes.inputs import frame_maker
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.perception.box_mask import Relief, relief_of
from memory_node.perception.detection import Detection
from memory_node.perception.pipeline import PerceptionPipeline

CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
COLOR = np.zeros((480, 640, 3), np.uint8)
DEPTH = np.full((480, 640), 1.5, np.float32)
DEPTH[200:280, 200:260] = 1.3
HERE = Pose.planar(0.0, 0.0, 0.0)
RECTANGLE = Detection({"mug": 0.9}, (195.0, 190.0, 275.0, 290.0))


class FakeDetector:
    """Says what it is told, or fails."""

    def __init__(self, *said: Detection, fails: bool = False) -> None:
        self.said = list(said)
        self._fails = fails

    def detect(self, color: object, depth_m: object, intrinsics: object) -> list[Detection]:
        if self._fails:
            raise InvalidValueError("the model could not be run")
        return self.said


@pytest.fixture
def reliefs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the threads that work out a relief."""
    names: list[str] = []

    def noted(depth_m: np.ndarray, intrinsics: Intrinsics) -> Relief:
        names.append(threading.current_thread().name)
        return relief_of(depth_m, intrinsics)

    monkeypatch.setattr(frame_maker, "relief_of", noted)
    return names


def test_rectangles_become_the_same_things_beside_the_detector(reliefs: list[str]) -> None:
    pipeline = PerceptionPipeline()
    made = FrameMaker(pipeline, FakeDetector(RECTANGLE)).make(1, HERE, CAMERA, COLOR, DEPTH)
    alone = pipeline.observe(1, HERE, CAMERA, DEPTH, [RECTANGLE], color=COLOR)
    (one,), (other,) = made.observations, alone.observations
    assert np.array_equal(one.box.center, other.box.center)
    assert np.array_equal(one.box.size, other.box.size)
    assert one.pixels == other.pixels > 0
    assert reliefs[0] != threading.current_thread().name


def test_no_relief_is_worked_out_for_a_detector_with_masks(reliefs: list[str]) -> None:
    masked = Detection({"mug": 0.9}, RECTANGLE.box_px, mask=DEPTH < 1.4)
    detector = FakeDetector(masked)
    maker = FrameMaker(PerceptionPipeline(), detector)
    for stamp_ns in (1, 2, 3):
        maker.make(stamp_ns, HERE, CAMERA, COLOR, DEPTH)
    assert len(reliefs) == 1
    detector.said = []
    maker.make(4, HERE, CAMERA, COLOR, DEPTH)
    assert len(reliefs) == 1


def test_detector_that_fails_is_told() -> None:
    maker = FrameMaker(PerceptionPipeline(), FakeDetector(fails=True))
    with pytest.raises(InvalidValueError, match="could not be run"):
        maker.make(1, HERE, CAMERA, COLOR, DEPTH)
