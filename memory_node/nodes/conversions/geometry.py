"""Stamps, headers, points and poses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseWithCovariance, Quaternion, Transform, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from nav_msgs.msg import Path
from std_msgs.msg import Header

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.nodes.conversions.ranges import (
    LAST_STAMP_NS,
    MOST_ITEMS,
    NS,
    checked_covariance,
    checked_items,
    checked_position,
)

# Keyframes of a graph: years of driving.
_MOST_POSES = 1_000 * MOST_ITEMS


def stamp_to_msg(stamp_ns: int) -> Time:
    """Return nanoseconds as a Time."""
    return Time(sec=stamp_ns // NS, nanosec=stamp_ns % NS)


def stamp_from_msg(msg: Time, what: str = "stamp") -> int:
    """Return a Time in nanoseconds; what: its field, for the error.

    Raises:
        InvalidValueError: it lies before 1970, or within a year of the end of ROS time.
    """
    return stamp_from_parts(int(msg.sec), int(msg.nanosec), what)


def stamp_from_parts(seconds: int, rest_ns: int, what: str = "stamp") -> int:
    """Return seconds and nanoseconds as nanoseconds; raises as `stamp_from_msg`."""
    if not (seconds >= 0 and 0 <= rest_ns < NS and seconds * NS + rest_ns <= LAST_STAMP_NS):
        expected = f"sec from 0 to {LAST_STAMP_NS // NS} and nanosec below {NS}"
        raise InvalidValueError(f"{what}: expected {expected}, got {seconds} and {rest_ns}")
    return seconds * NS + rest_ns


def header(stamp_ns: int, frame_id: str = "map") -> Header:
    """Return a Header."""
    return Header(stamp=stamp_to_msg(stamp_ns), frame_id=frame_id)


def point_to_msg(xyz: Iterable[float]) -> Point:
    """Return (x, y[, z]) as a Point."""
    x, y, z = (*map(float, xyz), 0.0)[:3]
    return Point(x=x, y=y, z=z)


def point_from_msg(msg: Point | Vector3, what: str = "position") -> tuple[float, float, float]:
    """Return a Point or Vector3 as (x, y, z); what: its field, for the error.

    Raises:
        InvalidValueError: it is not finite, or farther away than a site is large.
    """
    return checked_position(what, (msg.x, msg.y, msg.z))


def vector_to_msg(xyz: Iterable[float]) -> Vector3:
    """Return (x, y, z) as a Vector3."""
    x, y, z = map(float, xyz)
    return Vector3(x=x, y=y, z=z)


def pose_to_msg(pose: Pose) -> PoseMsg:
    """Return a Pose message."""
    msg = PoseMsg(position=point_to_msg(pose.position))
    q = msg.orientation
    q.x, q.y, q.z, q.w = map(float, pose.quaternion)
    return msg


def pose_from_msg(msg: PoseMsg, what: str = "pose") -> Pose:
    """Return a domain Pose; what: its field, for the error.

    Raises:
        InvalidValueError: the place is none (see `point_from_msg`), or the quaternion has not unit length: all zeros,
            say, which is no rotation but a field that nobody filled.
    """
    return _pose(point_from_msg(msg.position, f"{what}.position"), msg.orientation, what)


def transform_from_msg(msg: Transform, what: str = "transform") -> Pose:
    """Return a Transform as the Pose `header_frame_T_child_frame`; raises as `pose_from_msg`."""
    return _pose(point_from_msg(msg.translation, f"{what}.translation"), msg.rotation, what)


def pose_from_numbers(numbers: Sequence[float], what: str = "transform") -> Pose:
    """Return x, y, z in metres and a quaternion's x, y, z, w as a Pose; raises as `pose_from_msg`."""
    position, quaternion = checked_position(what, numbers[:3]), np.array(numbers[3:])
    if not quaternion.any():
        raise InvalidValueError(f"{what}: expected a quaternion of unit length, got zeros; no rotation is w = 1")
    return Pose(np.array(position), quaternion)


def _pose(position: tuple[float, float, float], q: Quaternion, what: str) -> Pose:
    return pose_from_numbers((*position, float(q.x), float(q.y), float(q.z), float(q.w)), what)


def transform_to_msg(pose: Pose, parent: str, child: str, stamp_ns: int) -> TransformStamped:
    """Return `parent_T_child` as a TransformStamped."""
    msg = TransformStamped(header=header(stamp_ns, parent), child_frame_id=child)
    msg.transform.translation = vector_to_msg(pose.position)
    q = msg.transform.rotation
    q.x, q.y, q.z, q.w = map(float, pose.quaternion)
    return msg


def path_from_msg(msg: Path) -> dict[int, Pose]:
    """Return a Path's poses by their stamps in nanoseconds.

    Raises:
        InvalidValueError: a stamp or pose that is none, or too many.
    """
    poses = checked_items("poses", msg.poses, _MOST_POSES)
    return {stamp_from_msg(stamped.header.stamp): pose_from_msg(stamped.pose) for stamped in poses}


def box_pose_to_msg(center: FloatArray, yaw_rad: float, covariance: FloatArray) -> PoseWithCovariance:
    """Return the middle (3,) and yaw of an upright box, with the covariance (3, 3) of its middle."""
    turn = Quaternion(z=math.sin(0.5 * yaw_rad), w=math.cos(0.5 * yaw_rad))
    msg = PoseWithCovariance(pose=PoseMsg(position=point_to_msg(center), orientation=turn))
    full = np.zeros((6, 6))
    full[:3, :3] = covariance
    msg.covariance = full.ravel()
    return msg


def covariance_from_msg(msg: PoseWithCovariance) -> FloatArray:
    """Return the position's part (3, 3) of a pose covariance.

    Raises:
        InvalidValueError: it is none.
    """
    full = np.asarray(msg.covariance, dtype=np.float64).reshape(6, 6)
    return checked_covariance("covariance", full[:3, :3].copy())
