"""Transforms that are none are refused before anything is kept of them; good ones go on being used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs import transform_history
from memory_node.nodes.inputs.timeline import Moment
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory

MS = 1_000_000


def sample(stamp_ms: int, parent: str = "map", child: str = "odom", x: float = 0.0) -> Any:
    return conversions.transform_to_msg(Pose.planar(x, 0.0, 0.0), parent, child, stamp_ms * MS)


def history() -> TransformHistory:
    made = TransformHistory("map", 0.2, clock_jump_s=10.0, limits=CorrectionLimits("odom", 0.1, 0.05))
    made.add_fixed(sample(0, "odom", "camera"))
    return made


def zero_quaternion(msg: Any) -> None:
    msg.transform.rotation.w = 0.0


def nan_quaternion(msg: Any) -> None:
    msg.transform.rotation.z = float("nan")


def nan_translation(msg: Any) -> None:
    msg.transform.translation.y = float("nan")


def far_translation(msg: Any) -> None:
    msg.transform.translation.x = 1e300


def before_1970(msg: Any) -> None:
    msg.header.stamp.sec = -5


def nameless(msg: Any) -> None:
    msg.child_frame_id = ""


def of_itself(msg: Any) -> None:
    msg.child_frame_id = "/map"


FAULTS = (zero_quaternion, nan_quaternion, nan_translation, far_translation, nameless, of_itself)


@pytest.mark.parametrize("spoil", [*FAULTS, before_1970])
def test_faulty_transform_is_refused_and_the_next_is_used(spoil: Callable[[Any], None]) -> None:
    made = history()
    for stamp_ms in (1000, 1100, 1200):
        made.add(sample(stamp_ms, x=1.0))
        faulty = sample(stamp_ms + 50, x=1.0)
        spoil(faulty)
        with pytest.raises(InvalidValueError):
            made.add(faulty)
    pose = made.pose("camera", Moment(0, 1150 * MS))
    assert pose is not None
    assert np.allclose(pose.position, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("spoil", FAULTS)
def test_faulty_fixed_transform_is_refused(spoil: Callable[[Any], None]) -> None:
    made = history()
    faulty = sample(0, "map", "map_upstairs")
    spoil(faulty)
    with pytest.raises(InvalidValueError):
        made.add_fixed(faulty)
    assert made.fixed_pose("map_upstairs") is None


def test_frames_that_go_round_in_a_circle_end() -> None:
    made = history()
    for stamp_ms in (1000, 1100):
        made.add(sample(stamp_ms, "odom", "map"))
        made.add(sample(stamp_ms, "map", "odom"))
    made.add_fixed(sample(0, "b", "a"))
    made.add_fixed(sample(0, "a", "b"))
    assert made.fixed_pose("a") is None


def test_names_of_frames_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transform_history, "_MOST_FRAMES", 5)
    made = history()
    for number in range(5):
        made.add(sample(1000, child=f"f{number}"))
    with pytest.raises(InvalidValueError, match="at most 5 frames, 'one' is one more"):
        made.add(sample(1000, child="one"))
    made.add(sample(1100, child="f0"))
