"""Stamped geometry is moved alike in ros_embedded and in ROS 2, here between frames that stand at 45 degrees."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import Point32, Pose, TransformStamped
from tf2_ros import TransformRegistration, TypeException, convert

import ros_embedded

geometry = pytest.importorskip("tf2_geometry_msgs")  # a ROS 2 may lack it

HALF = math.sqrt(0.5)


@pytest.fixture
def turned() -> TransformStamped:
    """The source frame stands at (1, 2, 3) in the target, turned by 45 degrees about z."""
    message = TransformStamped()
    message.header.frame_id = "target"
    t = message.transform
    t.translation.x, t.translation.y, t.translation.z = 1.0, 2.0, 3.0
    t.rotation.z, t.rotation.w = math.sin(math.pi / 8), math.cos(math.pi / 8)
    return message


def test_point_is_turned_and_moved(turned):
    point = geometry.PointStamped()
    point.point.x = 1.0
    moved = geometry.do_transform_point(point, turned)
    assert moved.header.frame_id == "target"
    assert [moved.point.x, moved.point.y, moved.point.z] == pytest.approx([1 + HALF, 2 + HALF, 3.0])


def test_vector_is_only_turned(turned):
    vector = geometry.Vector3Stamped()
    vector.vector.y = 2.0
    moved = geometry.do_transform_vector3(vector, turned)
    assert [moved.vector.x, moved.vector.y, moved.vector.z] == pytest.approx([-2 * HALF, 2 * HALF, 0.0])


@pytest.mark.skipif(not ros_embedded.is_active(), reason="Jazzy sets the given transform's translation to zero")
def test_transform_of_a_vector_is_left_alone(turned):
    geometry.do_transform_vector3(geometry.Vector3Stamped(), turned)
    assert turned.transform.translation.x == 1.0


def test_pose_composes_rotations(turned):
    pose = geometry.PoseStamped()
    pose.pose.position.x = 1.0
    pose.pose.orientation.z, pose.pose.orientation.w = math.sin(math.pi / 8), math.cos(math.pi / 8)
    moved = geometry.do_transform_pose_stamped(pose, turned).pose
    assert moved.position.x == pytest.approx(1 + HALF)
    assert [moved.orientation.z, moved.orientation.w] == pytest.approx([HALF, HALF])


def test_pose_takes_the_quaternion_with_w_above_zero():
    half_turn = TransformStamped()
    half_turn.transform.rotation.x, half_turn.transform.rotation.w = 1.0, 0.0
    pose = Pose()
    pose.orientation.x, pose.orientation.w = 1.0, 0.0
    assert geometry.do_transform_pose(pose, half_turn).orientation.w == 1.0


def test_covariance_is_turned_with_the_axes(turned):
    pose = geometry.PoseWithCovarianceStamped()
    pose.pose.covariance[0], pose.pose.covariance[35] = 4.0, 0.25
    covariance = geometry.do_transform_pose_with_covariance_stamped(pose, turned).pose.covariance.reshape(6, 6)
    assert covariance[:2, :2] == pytest.approx(np.full((2, 2), 2.0))
    assert covariance[5, 5] == pytest.approx(0.25)


def test_polygon_keeps_its_corners_in_order(turned):
    polygon = geometry.PolygonStamped()
    polygon.polygon.points = [Point32(x=1.0), Point32(y=1.0)]
    moved = geometry.do_transform_polygon_stamped(polygon, turned).polygon.points
    assert [point.x for point in moved] == pytest.approx([1 + HALF, 1 - HALF])


def test_registry_knows_these_types_and_no_other():
    assert TransformRegistration().get(geometry.PointStamped) is geometry.do_transform_point
    with pytest.raises(TypeException, match="not loaded or supported"):
        TransformRegistration().get(int)
    point = geometry.PointStamped()
    assert convert(point, geometry.PointStamped) == point
