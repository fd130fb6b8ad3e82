"""Of /tf only the ways from what was asked for to the map are read, whenever they become known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from tf2_msgs.msg import TFMessage

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.ordered_inputs import Moment
from memory_node.nodes.inputs.tf_stream import TransformStream, transforms_in
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory

MS = 1_000_000


class Robot:
    """A robot's TF, with some joints that no camera hangs on."""

    def __init__(self, joints: int = 3, kept_bytes: int = 1_000_000) -> None:
        self.history = TransformHistory("map", 0.5, clock_jump_s=10.0, limits=CorrectionLimits("odom", 0.1, 0.05))
        self.refused: list[str] = []
        self.stream = TransformStream(self.history, lambda error: self.refused.append(str(error)), kept_bytes)
        self._joints = joints

    def at(self, stamp_ms: int, *more: Any, odom: Pose = Pose()) -> list[OdomJump]:  # noqa: B008 - frozen
        x_m = stamp_ms * 1e-3
        joints = [self.one(stamp_ms, "base", f"joint_{number}") for number in range(self._joints)]
        base = [self.one(stamp_ms, "map", "odom", odom), self.one(stamp_ms, "odom", "base", Pose.planar(x_m, 0.0, 0.0))]
        return self.told(*joints, *base, *more)

    def told(self, *transforms: Any) -> list[OdomJump]:
        return self.stream.take(bytes(serialize_message(TFMessage(transforms=list(transforms)))))

    def fixed(self, parent: str, child: str, pose: Pose) -> None:
        self.history.add_fixed(conversions.transform_to_msg(pose, parent, child, 0))
        self.stream.look_again()

    @staticmethod
    def one(stamp_ms: int, parent: str, child: str, pose: Pose = Pose()) -> Any:  # noqa: B008 - frozen
        return conversions.transform_to_msg(pose, parent, child, stamp_ms * MS)

    def x_of(self, frame: str, stamp_ms: int) -> float:
        self.stream.ask(frame)
        pose = self.history.pose(frame, Moment(0, stamp_ms * MS))
        return float(pose.position[0])


def test_a_frame_that_is_asked_for_late_is_known_from_before() -> None:
    robot = Robot()
    robot.fixed("base", "camera", Pose.planar(0.0, 0.0, 0.0, 1.0))
    for stamp_ms in range(1000, 2000, 100):
        robot.at(stamp_ms)
    assert robot.x_of("camera", 1050) == pytest.approx(1.05)


def test_a_way_that_a_moving_joint_is_part_of_is_followed() -> None:
    robot = Robot()
    robot.fixed("head", "camera", Pose.planar(0.1, 0.0, 0.0))
    for stamp_ms in range(1000, 2000, 100):
        robot.at(stamp_ms, robot.one(stamp_ms, "base", "head", Pose.planar(0.0, 0.0, stamp_ms * 1e-3)))
    robot.stream.ask("camera")
    pose = robot.history.pose("camera", Moment(0, 1550 * MS))
    np.testing.assert_allclose(pose.position[:2], [1.55 + 0.1 * np.cos(1.55), 0.1 * np.sin(1.55)], atol=1e-6)


def test_joints_that_lead_to_no_camera_are_not_kept() -> None:
    robot = Robot(joints=20)
    robot.fixed("base", "camera", Pose())
    robot.stream.ask("camera")
    for stamp_ms in range(1000, 2000, 100):
        robot.at(stamp_ms)
    assert robot.history.knows("base")
    assert not robot.history.knows("joint_7")


def test_a_frame_that_is_hung_up_elsewhere_is_followed_there() -> None:
    robot = Robot()
    robot.fixed("camera_mount", "camera", Pose())
    for stamp_ms in (1000, 1100):
        robot.at(stamp_ms, robot.one(stamp_ms, "base", "camera_mount"))
    assert robot.x_of("camera", 1050) == pytest.approx(1.05)
    for stamp_ms in (1200, 1300):
        robot.at(
            stamp_ms,
            robot.one(stamp_ms, "hand", "camera_mount"),
            robot.one(stamp_ms, "base", "hand", Pose.planar(0.5, 0.0, 0.0)),
        )
    assert robot.x_of("camera", 1250) == pytest.approx(1.75)
    assert robot.x_of("camera", 1050) == pytest.approx(1.05)
    assert robot.x_of("camera", 1150) == pytest.approx(1.15)  # it still hung where it was told last


def test_latest_messages_are_kept_within_their_bound() -> None:
    robot = Robot(kept_bytes=5_000)
    robot.fixed("base", "camera", Pose())
    for stamp_ms in range(1000, 9000, 100):
        robot.at(stamp_ms)
    robot.stream.ask("camera")
    with pytest.raises(InputSkippedError, match="begins after"):
        robot.history.pose("camera", Moment(0, 1050 * MS))
    assert robot.x_of("camera", 8850) == pytest.approx(8.85)


def test_corrections_are_told_before_anything_is_asked_for() -> None:
    robot = Robot()
    assert robot.at(1000) == []
    assert robot.at(1100, odom=Pose.planar(0.02, 0.0, 0.0)) == []
    (jump,) = robot.at(1200, odom=Pose.planar(1.0, 0.0, 0.1))
    assert jump.moment == Moment(0, 1200 * MS)


def test_a_slow_turn_of_odom_is_no_correction_and_a_quick_one_is() -> None:
    robot = Robot()
    for number in range(10):
        assert robot.at(1000 + 100 * number, odom=Pose.planar(0.0, 0.0, 0.04 * number)) == []
    assert len(robot.at(2000, odom=Pose.planar(0.0, 0.0, 0.36 + np.pi / 4))) == 1


@pytest.mark.parametrize("cut", [0, 3, 7, 9, 30, 90, 150])
def test_bytes_that_end_early_are_refused(cut: int) -> None:
    robot = Robot()
    whole = bytes(serialize_message(TFMessage(transforms=[robot.one(1000, "map", "odom"), robot.one(1, "odom", "b")])))
    robot.stream.take(whole[:cut])
    assert len(robot.refused) == 1


def test_any_bytes_leave_the_good_ones_in_use() -> None:
    robot = Robot()
    rng = np.random.default_rng(1)
    robot.fixed("base", "camera", Pose())
    robot.stream.ask("camera")
    for stamp_ms in range(1000, 4000, 100):
        robot.stream.take(b"\x00\x01\x00\x00" + rng.bytes(int(rng.integers(0, 300))))
        robot.at(stamp_ms)
    assert robot.x_of("camera", 2050) == pytest.approx(2.05)


@pytest.mark.parametrize("length", range(1, 10))
def test_names_of_any_length_are_read(length: int) -> None:
    transforms = [Robot.one(1000 + number, "p" * length, "c" * (length + number)) for number in range(9)]
    data = bytes(serialize_message(TFMessage(transforms=transforms)))
    assert [(parent, child) for _, parent, child, _ in transforms_in(data)] == [
        (b"p" * length, b"c" * (length + number)) for number in range(9)
    ]


def test_other_encodings_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="plain CDR"):
        list(transforms_in(b"\x00\x07\x00\x00\x00\x00\x00\x00"))
