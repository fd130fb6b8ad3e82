"""Transforms that are none are refused before anything is kept of them; good ones go on being used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs import transform_history
from memory_node.nodes.inputs.ordered_inputs import Moment
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory

MS = 1_000_000


def sample(stamp_ms: int, parent: str = "map", child: str = "odom", x: float = 0.0) -> Any:
    return conversions.transform_to_msg(Pose.planar(x, 0.0, 0.0), parent, child, stamp_ms * MS)


def history() -> TransformHistory:
    made = TransformHistory("map", 0.2, clock_jump_s=10.0, limits=CorrectionLimits("odom", 0.1, 0.05))
    made.add_fixed(sample(0, "odom", "camera"))
    return made


def test_frames_that_go_round_in_a_circle_end() -> None:
    made = history()
    for stamp_ms in (1000, 1100):
        made.add(sample(stamp_ms, "odom", "map"))
        made.add(sample(stamp_ms, "map", "odom"))
    made.add_fixed(sample(0, "b", "a"))
    made.add_fixed(sample(0, "a", "b"))
    assert made.fixed_pose("a") is None


def test_names_of_frames_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transform_history, "MOST_FRAMES", 5)
    made = history()
    for number in range(5):
        made.add(sample(1000, child=f"f{number}"))
    with pytest.raises(InvalidValueError, match="at most 5 frames, 'one' is one more"):
        made.add(sample(1000, child="one"))
    made.add(sample(1100, child="f0"))


def drive(made: TransformHistory, begin_ms: int, end_ms: int) -> None:
    """A robot's own TF at 10 Hz: odom drifts by 0.1 m along x a second."""
    for stamp_ms in range(begin_ms, end_ms, 100):
        made.add(sample(stamp_ms, x=stamp_ms * 1e-4))
        made.add(sample(stamp_ms, "odom", "lidar"))


def test_a_frame_whose_clock_jumps_about_does_not_blind_the_others() -> None:
    made = history()
    drive(made, 100_000, 101_000)
    for stamp_s in (90_000, 60_000, 30_000, 10_000, 5_000, 70_000, 3_000):
        made.add(sample(stamp_s * 1000, "map", "stranger"))
    drive(made, 101_000, 102_000)
    pose = made.pose("camera", Moment(0, 101_550 * MS))
    np.testing.assert_allclose(pose.position, [10.155, 0.0, 0.0], atol=1e-9)


def test_questions_about_other_runs_let_nothing_go() -> None:
    made = history()
    drive(made, 100_000, 101_000)
    for run in (7, 3, 9, 4):
        assert made.pose("camera", Moment(run, 100_500 * MS)) is None
    assert made.pose("camera", Moment(0, 100_500 * MS)) is not None


def test_one_sample_from_far_ahead_is_overcome_by_the_next_ones() -> None:
    made = history()
    drive(made, 100_000, 101_000)
    made.add(sample(2_000_000_000_000, x=10.1))
    drive(made, 101_000, 102_000)
    pose = made.pose_in_any_run("lidar", Moment(0, 101_550 * MS))
    np.testing.assert_allclose(pose.position, [10.155, 0.0, 0.0], atol=1e-9)


def test_a_clock_that_is_set_back_is_followed_by_all_frames_after_a_stranger_jumped() -> None:
    made = history()
    drive(made, 100_000, 101_000)
    made.add(sample(50_000, "map", "stranger"))
    drive(made, 10_000, 11_000)
    pose = made.pose("camera", Moment(1, 10_550 * MS))
    np.testing.assert_allclose(pose.position, [1.055, 0.0, 0.0], atol=1e-9)


def test_pose_of_a_slow_localiser_holds_whether_or_not_the_next_one_is_known() -> None:
    made = TransformHistory("map", 0.2, clock_jump_s=10.0, limits=CorrectionLimits(held_s=3.0))
    made.add_fixed(sample(0, "odom", "camera"))
    for stamp_ms, x in ((1_000, 0.0), (2_000, 0.05)):
        made.add(sample(stamp_ms, x=x))
    told = made.pose("camera", Moment(0, 2_500 * MS))
    made.add(sample(3_000, x=0.09))
    later = made.pose("camera", Moment(0, 2_500 * MS))
    assert told.position[0] == later.position[0] == 0.05
    at_once = made.pose("camera", Moment(0, 3_000 * MS))
    assert at_once.position[0] == 0.09


def test_pause_of_a_localiser_is_no_slowness() -> None:
    made = TransformHistory("map", 0.2, clock_jump_s=10.0, limits=CorrectionLimits(held_s=3.0))
    made.add_fixed(sample(0, "odom", "camera"))
    for stamp_ms in (1_000, 9_000):
        made.add(sample(stamp_ms))
    with pytest.raises(InputSkippedError, match="tf_gap"):
        made.pose("camera", Moment(0, 5_000 * MS))
    assert made.pose("camera", Moment(0, 9_000 * MS)) is not None
    assert made.pose("camera", Moment(0, 9_100 * MS)) is None, "the next one may come"
