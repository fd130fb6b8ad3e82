"""Stamps, headers, points and poses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped, PoseWithCovariance, Transform, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from nav_msgs.msg import Path
from std_msgs.msg import Header

from memory_node.domain.geometry import FloatArray, Pose

NS = 1_000_000_000


def stamp_to_msg(stamp_ns: int) -> Time:
    """Return nanoseconds as a Time."""
    return Time(sec=stamp_ns // NS, nanosec=stamp_ns % NS)


def stamp_from_msg(msg: Time) -> int:
    """Return a Time in nanoseconds."""
    return int(msg.sec) * NS + int(msg.nanosec)


def header(stamp_ns: int, frame_id: str = "map") -> Header:
    """Return a Header."""
    return Header(stamp=stamp_to_msg(stamp_ns), frame_id=frame_id)


def point_to_msg(xyz: Iterable[float]) -> Point:
    """Return (x, y[, z]) as a Point."""
    x, y, z = (*map(float, xyz), 0.0)[:3]
    return Point(x=x, y=y, z=z)


def point_from_msg(msg: Point | Vector3) -> tuple[float, float, float]:
    """Return a Point or Vector3 as (x, y, z)."""
    return (float(msg.x), float(msg.y), float(msg.z))


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


def pose_from_msg(msg: PoseMsg) -> Pose:
    """Return a domain Pose; an all-zero quaternion, ROS's "unset", is the identity."""
    q = np.array([msg.orientation.x, msg.orientation.y, msg.orientation.z, msg.orientation.w])
    return Pose(np.array(point_from_msg(msg.position)), q if q.any() else np.array([0.0, 0.0, 0.0, 1.0]))


def transform_from_msg(msg: Transform) -> Pose:
    """Return a Transform as the Pose `header_frame_T_child_frame`."""
    q = msg.rotation
    return Pose(np.array(point_from_msg(msg.translation)), np.array([q.x, q.y, q.z, q.w]))


def transform_to_msg(pose: Pose, parent: str, child: str, stamp_ns: int) -> TransformStamped:
    """Return `parent_T_child` as a TransformStamped."""
    msg = TransformStamped(header=header(stamp_ns, parent), child_frame_id=child)
    msg.transform.translation = vector_to_msg(pose.position)
    q = msg.transform.rotation
    q.x, q.y, q.z, q.w = map(float, pose.quaternion)
    return msg


def path_from_msg(msg: Path) -> dict[int, Pose]:
    """Return a Path's poses by their stamps in nanoseconds."""
    return {stamp_from_msg(stamped.header.stamp): pose_from_msg(stamped.pose) for stamped in msg.poses}


def path_to_msg(poses: Mapping[int, Pose], stamp_ns: int, frame_id: str = "map") -> Path:
    """Return poses by stamp as a Path."""
    stamped = [PoseStamped(header=header(at_ns, frame_id), pose=pose_to_msg(pose)) for at_ns, pose in poses.items()]
    return Path(header=header(stamp_ns, frame_id), poses=stamped)


def box_pose_to_msg(center: FloatArray, yaw_rad: float, covariance: FloatArray) -> PoseWithCovariance:
    """Return the middle (3,) and yaw of an upright box, with the covariance (3, 3) of its middle."""
    msg = PoseWithCovariance(pose=pose_to_msg(Pose.planar(center[0], center[1], yaw_rad, center[2])))
    full = np.zeros((6, 6))
    full[:3, :3] = covariance
    msg.covariance = full.ravel()
    return msg


def covariance_from_msg(msg: PoseWithCovariance) -> FloatArray:
    """Return the position's part (3, 3) of a pose covariance."""
    return np.asarray(msg.covariance, dtype=np.float64).reshape(6, 6)[:3, :3].copy()
