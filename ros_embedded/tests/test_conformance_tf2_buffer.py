"""The tree of frames behaves alike in ros_embedded and in ROS 2: lookups, interpolation, why there is no answer."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.duration import Duration
from rclpy.time import Time
from tf2_py import (
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
)

NEWEST = Time()


def transform(parent, child, stamp_s, xyz=(0.0, 0.0, 0.0), yaw_rad=0.0):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp_s), round(stamp_s % 1 * 1e9)
    t = message.transform
    t.translation.x, t.translation.y, t.translation.z = map(float, xyz)
    t.rotation.z, t.rotation.w = math.sin(yaw_rad / 2), math.cos(yaw_rad / 2)
    return message


def at(seconds):
    return Time(nanoseconds=round(seconds * 1e9))


def position(message):
    p = message.transform.translation
    return [p.x, p.y, p.z]


def yaw_of(message):
    q = message.transform.rotation
    return 2 * math.atan2(q.z, q.w)


@pytest.fixture
def robot() -> BufferCore:
    """The camera looks 45 degrees left on a robot that drives along x and turns by 90 degrees in 10 s."""
    buffer = BufferCore()
    for second in (10.0, 20.0):
        share = (second - 10.0) / 10.0
        buffer.set_transform(transform("map", "odom", second, (1.0, 0.0, 0.0)), "test")
        buffer.set_transform(transform("odom", "base_link", second, (2.0 * share, 0, 0), share * math.pi / 2), "test")
    buffer.set_transform_static(transform("base_link", "camera", 0, (0.5, 0, 1.0), math.pi / 4), "test")
    return buffer


def test_chain_is_composed_and_interpolated(robot):
    found = robot.lookup_transform_core("map", "camera", at(15.0))
    lever = 0.5 * math.sqrt(0.5)
    assert position(found) == pytest.approx([1.0 + 1.0 + lever, lever, 1.0])
    assert yaw_of(found) == pytest.approx(math.pi / 2)
    assert (found.header.frame_id, found.child_frame_id, found.header.stamp.sec) == ("map", "camera", 15)


def test_lookup_between_branches_is_the_inverse_of_its_reverse(robot):
    robot.set_transform(transform("map", "table", 10.0, (3.0, 1.0, 0.0), 0.3), "test")
    robot.set_transform(transform("map", "table", 20.0, (3.0, 1.0, 0.0), 0.3), "test")
    there = robot.lookup_transform_core("table", "camera", at(12.5))
    back = robot.lookup_transform_core("camera", "table", at(12.5))
    assert yaw_of(there) == pytest.approx(-yaw_of(back))
    assert np.linalg.norm(position(there)) == pytest.approx(np.linalg.norm(position(back)))


def test_zero_time_means_newest_common_time(robot):
    robot.set_transform(transform("odom", "base_link", 22.0, (9.0, 0, 0)), "test")
    assert robot.lookup_transform_core("map", "base_link", NEWEST).header.stamp.sec == 20
    assert robot.lookup_transform_core("odom", "camera", NEWEST).header.stamp.sec == 22
    assert robot.lookup_transform_core("base_link", "camera", NEWEST).header.stamp.sec == 0
    assert robot.get_latest_common_time("map", "camera") == at(20.0)
    with pytest.raises(LookupException):
        robot.get_latest_common_time("map", "nowhere")


def test_static_frame_holds_at_any_time(robot):
    assert position(robot.lookup_transform_core("base_link", "camera", at(9999))) == pytest.approx([0.5, 0, 1.0])


@pytest.mark.parametrize(
    ("frames", "time", "error", "says"),
    [
        (("map", "camera"), at(21.0), ExtrapolationException, "into the future"),
        (("map", "camera"), at(9.0), ExtrapolationException, "into the past"),
        (("camera", "map"), at(9.0), ExtrapolationException, r"from frame \[map\] to frame \[camera\]"),
        (("map", "moon"), NEWEST, LookupException, '"moon" passed to lookupTransform argument source_frame'),
        (("/map", "camera"), NEWEST, InvalidArgumentException, "cannot start with"),
        (("map", ""), NEWEST, InvalidArgumentException, "cannot be empty"),
        (("map", "island"), NEWEST, ConnectivityException, "not part of the same tree"),
    ],
)
def test_reason_for_no_answer(robot, frames, time, error, says):
    robot.set_transform(transform("sea", "island", 15.0), "test")
    with pytest.raises(error, match=says):
        robot.lookup_transform_core(*frames, time)
    possible, why = robot.can_transform_core(*frames, time)
    assert not possible
    assert why


def test_frame_with_one_pose_is_known_at_its_time_only():
    buffer = BufferCore()
    buffer.set_transform(transform("map", "cup", 5.0), "test")
    assert buffer.can_transform_core("map", "cup", at(5.0))[0]
    with pytest.raises(ExtrapolationException, match=r"only time 5\.000000 is in the buffer"):
        buffer.lookup_transform_core("map", "cup", at(5.1))


def test_loop_is_an_error_not_a_hang():
    buffer = BufferCore()
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        buffer.set_transform_static(transform(parent, child, 1.0), "test")
    buffer.set_transform_static(transform("x", "y", 1.0), "test")
    with pytest.raises(LookupException, match="loop"):
        buffer.lookup_transform_core("y", "a", at(1.0))
    with pytest.raises(LookupException, match="loop"):
        buffer.lookup_transform_core("y", "a", NEWEST)


def test_poses_older_than_the_cache_are_dropped():
    buffer = BufferCore(Duration(seconds=2))
    for stamp_s in (1.0, 5.0, 6.0, 2.0):
        buffer.set_transform(transform("map", "cup", stamp_s, (stamp_s, 0, 0)), "test")
    with pytest.raises(ExtrapolationException, match="earliest data is at time 5"):
        buffer.lookup_transform_core("map", "cup", at(4.0))
    assert position(buffer.lookup_transform_core("map", "cup", at(5.5))) == pytest.approx([5.5, 0, 0])


def test_poses_may_arrive_out_of_order():
    buffer = BufferCore()
    for stamp_s in (3.0, 1.0, 2.0):
        buffer.set_transform(transform("map", "cup", stamp_s, (stamp_s**2, 0, 0)), "test")
    assert position(buffer.lookup_transform_core("map", "cup", at(1.5))) == pytest.approx([2.5, 0, 0])


@pytest.mark.parametrize(
    "bad",
    [
        transform("map", "map", 1.0),
        transform("", "cup", 1.0),
        transform("map", "", 1.0),
        transform("map", "cup", 1.0, (math.nan, 0, 0)),
    ],
)
def test_invalid_transform_is_ignored(bad):
    buffer = BufferCore()
    buffer.set_transform(bad, "test")
    assert buffer.all_frames_as_string() == ""


def test_quaternion_is_normalised_and_one_of_zeros_ignored():
    buffer = BufferCore()
    bad = transform("map", "cup", 1.0)
    bad.transform.rotation.w = 0.0
    buffer.set_transform(bad, "test")
    assert not buffer.can_transform_core("map", "cup", NEWEST)[0]
    long = transform("map", "cup", 1.0)
    long.transform.rotation.w, long.transform.rotation.z = -3.0, -3.0
    buffer.set_transform(long, "test")
    found = buffer.lookup_transform_core("map", "cup", NEWEST).transform.rotation
    assert [found.w, found.z] == pytest.approx([math.sqrt(0.5)] * 2)


@pytest.mark.parametrize("leading", ["x", "y", "z"])
def test_largest_component_of_a_half_turn_is_positive(leading):
    buffer = BufferCore()
    turned = transform("map", "cup", 1.0)
    turned.transform.rotation.w = 0.1
    setattr(turned.transform.rotation, leading, -1.0)
    buffer.set_transform(turned, "test")
    found = buffer.lookup_transform_core("map", "cup", NEWEST).transform.rotation
    assert getattr(found, leading) > 0.9 > 0.0 > found.w


def test_clear_forgets_all_but_static_frames(robot):
    robot.clear()
    assert not robot.can_transform_core("map", "base_link", NEWEST)[0]
    assert robot.can_transform_core("base_link", "camera", NEWEST)[0]


def test_unknown_frame_is_named_when_a_lookup_is_impossible(robot):
    expected = 'Invalid frame ID "attic" passed to canTransform argument source_frame - frame does not exist'
    assert robot.can_transform_core("map", "attic", NEWEST) == (False, expected)


def test_frame_is_common_with_itself_at_its_newest_time(robot):
    newest = robot.lookup_transform_core("map", "base_link", NEWEST).header.stamp
    assert robot.get_latest_common_time("base_link", "base_link").to_msg() == newest


@settings(max_examples=60, deadline=None)
@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1), st.floats(0.0, 1.0))
def test_interpolated_rotation_takes_the_shorter_way(yaw_a, yaw_b, share):
    buffer = BufferCore()
    buffer.set_transform(transform("map", "cup", 1.0, yaw_rad=yaw_a), "test")
    buffer.set_transform(transform("map", "cup", 2.0, yaw_rad=yaw_b), "test")
    way = (yaw_b - yaw_a + math.pi) % (2 * math.pi) - math.pi
    if abs(abs(way) - math.pi) < 1e-3:
        return  # both ways are as short
    found = yaw_of(buffer.lookup_transform_core("map", "cup", at(1.0 + share)))
    expected = yaw_a + way * share
    assert math.cos(found - expected) == pytest.approx(1.0, abs=1e-6)
