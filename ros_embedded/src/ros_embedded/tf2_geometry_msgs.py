"""Transforms of stamped points, vectors, poses and polygons; importing this registers them with tf2_ros.

The API of Jazzy's tf2_geometry_msgs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytransform3d.rotations import matrix_from_quaternion

from ros_embedded.interfaces import get_message
from ros_embedded.tf2_ros.buffer_interface import ConvertRegistration, TransformRegistration
from ros_embedded.tf2_ros.rigid_transform import RigidTransform

Point32 = get_message("geometry_msgs/msg/Point32")
PointStamped = get_message("geometry_msgs/msg/PointStamped")
PolygonStamped = get_message("geometry_msgs/msg/PolygonStamped")
Pose = get_message("geometry_msgs/msg/Pose")
PoseStamped = get_message("geometry_msgs/msg/PoseStamped")
PoseWithCovarianceStamped = get_message("geometry_msgs/msg/PoseWithCovarianceStamped")
Vector3Stamped = get_message("geometry_msgs/msg/Vector3Stamped")


def do_transform_point(point: Any, transform: Any) -> Any:
    """Transform a PointStamped by a TransformStamped."""
    moved = PointStamped(header=transform.header)
    _set_xyz(moved.point, _map_point(_rigid(transform), point.point))
    return moved


def do_transform_vector3(vector3: Any, transform: Any) -> Any:
    """Rotate a Vector3Stamped by a TransformStamped; a direction ignores the translation."""
    rotation = matrix_from_quaternion(_rigid(transform).rotation_wxyz)
    moved = Vector3Stamped(header=transform.header)
    _set_xyz(moved.vector, rotation @ _xyz(vector3.vector))
    return moved


def do_transform_pose(pose: Any, transform: Any) -> Any:
    """Transform a Pose by a TransformStamped; the quaternion of the result has w >= 0."""
    moved = Pose()
    found = _rigid(transform) @ RigidTransform.from_msgs(pose.position, pose.orientation)
    found.to_msgs(moved.position, moved.orientation)
    turn = moved.orientation
    if turn.w < 0:
        turn.x, turn.y, turn.z, turn.w = -turn.x, -turn.y, -turn.z, -turn.w
    return moved


def do_transform_pose_stamped(pose: Any, transform: Any) -> Any:
    """Transform a PoseStamped by a TransformStamped."""
    return PoseStamped(header=transform.header, pose=do_transform_pose(pose.pose, transform))


def do_transform_pose_with_covariance_stamped(pose: Any, transform: Any) -> Any:
    """Transform a PoseWithCovarianceStamped and its covariance by a TransformStamped."""
    moved = PoseWithCovarianceStamped(header=transform.header)
    moved.pose.pose = do_transform_pose(pose.pose.pose, transform)
    moved.pose.covariance = transform_covariance(pose.pose.covariance, transform)
    return moved


def do_transform_polygon_stamped(polygon: Any, transform: Any) -> Any:
    """Transform a PolygonStamped by a TransformStamped."""
    moved = PolygonStamped(header=transform.header)
    for point in polygon.polygon.points:
        moved.polygon.points.append(Point32())
        _set_xyz(moved.polygon.points[-1], _map_point(_rigid(transform), point))
    return moved


def transform_covariance(cov_in: Any, transform: Any) -> np.ndarray:
    """Rotate a covariance of position and rotation, float64 (36,) in row order, to the target's axes."""
    rotation = np.kron(np.eye(2), matrix_from_quaternion(_rigid(transform).rotation_wxyz))
    return (rotation @ np.reshape(cov_in, (6, 6)) @ rotation.T).ravel()


def _rigid(transform: Any) -> RigidTransform:
    return RigidTransform.from_msgs(transform.transform.translation, transform.transform.rotation)


def _map_point(found: RigidTransform, point: Any) -> np.ndarray:
    return matrix_from_quaternion(found.rotation_wxyz) @ _xyz(point) + found.translation_m


def _xyz(vector: Any) -> np.ndarray:
    return np.array([vector.x, vector.y, vector.z])


def _set_xyz(target: Any, values: np.ndarray) -> None:
    target.x, target.y, target.z = values.tolist()


for _type, _function in (
    (PointStamped, do_transform_point),
    (Vector3Stamped, do_transform_vector3),
    (PoseStamped, do_transform_pose_stamped),
    (PoseWithCovarianceStamped, do_transform_pose_with_covariance_stamped),
    (PolygonStamped, do_transform_polygon_stamped),
):
    TransformRegistration().add(_type, _function)
    ConvertRegistration().add_to_msg(_type, lambda message: message)
    ConvertRegistration().add_from_msg(_type, lambda message: message)
