"""Transforms of point clouds; importing this registers them with tf2_ros: the API of Jazzy's tf2_sensor_msgs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from pytransform3d.rotations import matrix_from_quaternion

from ros_embedded.interfaces import get_message
from ros_embedded.sensor_msgs_py.point_cloud2 import PointCloud2, create_cloud, read_points
from ros_embedded.tf2_ros.buffer_interface import ConvertRegistration, TransformRegistration
from ros_embedded.tf2_ros.rigid_transform import RigidTransform


def transform_points(point_cloud: np.ndarray, transform: Any) -> np.ndarray:
    """Move points (n, 3) by a Transform."""
    found = RigidTransform.from_msgs(transform.translation, transform.rotation)
    return point_cloud @ matrix_from_quaternion(found.rotation_wxyz).T + found.translation_m


def do_transform_cloud(cloud: Any, transform: Any) -> Any:
    """Move x, y and z of a PointCloud2 by a Transform, or by a TransformStamped, which gives its frame too."""
    header = get_message("std_msgs/msg/Header")(stamp=cloud.header.stamp, frame_id=cloud.header.frame_id)
    if hasattr(transform, "transform"):
        header.frame_id, transform = transform.header.frame_id, transform.transform
    assert set("xyz") <= {field.name for field in cloud.fields}, "Point cloud needs the fields x, y, and z"
    points = read_points(cloud).copy()
    moved = transform_points(structured_to_unstructured(points[["x", "y", "z"]]), transform)
    points[["x", "y", "z"]] = unstructured_to_structured(moved, points[["x", "y", "z"]].dtype)
    return create_cloud(header, cloud.fields, points, cloud.point_step)


TransformRegistration().add(PointCloud2, do_transform_cloud)
ConvertRegistration().add_to_msg(PointCloud2, lambda message: message)
ConvertRegistration().add_from_msg(PointCloud2, lambda message: message)
