"""Point clouds are written, read and transformed alike by ros_embedded and by ROS 2's own packages."""

from typing import Any

import numpy as np
import pytest

point_cloud2 = pytest.importorskip("sensor_msgs_py.point_cloud2")
from geometry_msgs.msg import TransformStamped  # noqa: E402 - only where there are point clouds
from sensor_msgs.msg import PointField  # noqa: E402
from std_msgs.msg import Header  # noqa: E402

FIELDS = [
    PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1),
    PointField(name="y", offset=4, datatype=PointField.FLOAT32, count=1),
    PointField(name="z", offset=8, datatype=PointField.FLOAT32, count=1),
    PointField(name="colour", offset=12, datatype=PointField.UINT8, count=3),
]


def coloured_cloud(**options: Any) -> Any:
    points = [(1.0, 2.0, 3.0, 10, 20, 30), (4.0, np.nan, 6.0, 40, 50, 60), (7.0, 8.0, 9.0, 70, 80, 90)]
    return point_cloud2.create_cloud(Header(frame_id="camera"), FIELDS, points, **options)


def test_mixed_fields_survive_in_a_wider_point() -> None:
    cloud = coloured_cloud(point_step=16)
    assert (cloud.height, cloud.width, cloud.point_step, cloud.row_step, len(cloud.data)) == (1, 3, 16, 48, 48)
    assert not cloud.is_dense
    read = point_cloud2.read_points(cloud)
    assert read.dtype.names == ("x", "y", "z", "colour_0", "colour_1", "colour_2")
    assert read["colour_1"].tolist() == [20, 50, 80]
    assert read["z"].tolist() == [3.0, 6.0, 9.0]


def test_points_are_picked_by_field_value_and_index() -> None:
    cloud = coloured_cloud()
    assert [len(point_cloud2.read_points(cloud, names, skip_nans=True)) for names in (None, ["x", "z"])] == [2, 3]
    assert point_cloud2.read_points(cloud, ["x"], uvs=[2, 0])["x"].tolist() == [7.0, 1.0]
    (first, *_) = point_cloud2.read_points_list(cloud, ["z", "colour_0"])
    assert (first.z, first.colour_0) == (3.0, 10)
    with pytest.raises(AssertionError):
        point_cloud2.read_points(cloud, ["intensity"])
    with pytest.raises(AssertionError, match="same datatype"):
        point_cloud2.read_points_numpy(cloud)


def test_organised_cloud_keeps_its_shape() -> None:
    points = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    cloud = point_cloud2.create_cloud_xyz32(Header(), points)
    assert (cloud.width, cloud.height) == (4, 2)
    assert np.array_equal(point_cloud2.read_points_numpy(cloud, reshape_organized_cloud=True), points)
    assert np.array_equal(point_cloud2.read_points_numpy(cloud, ["y", "z"]), points.reshape(8, 3)[:, 1:])


def test_bytes_in_the_other_order_are_read() -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(), np.array([[1.5, -2.0, 3.0]]))
    cloud.data = np.frombuffer(cloud.data, np.float32).byteswap().tobytes()
    cloud.is_bigendian = not cloud.is_bigendian
    assert point_cloud2.read_points(cloud).tolist() == [(1.5, -2.0, 3.0)]


def test_cloud_is_moved_and_keeps_what_is_no_place() -> None:
    do_transform_cloud = pytest.importorskip("tf2_sensor_msgs").do_transform_cloud
    transform = TransformStamped(header=Header(frame_id="map"))
    transform.transform.translation.x = 10.0
    transform.transform.rotation.z = transform.transform.rotation.w = 0.5**0.5  # a quarter turn to the left
    cloud = coloured_cloud()
    moved = do_transform_cloud(cloud, transform)
    read = point_cloud2.read_points(moved)
    assert moved.header.frame_id == "map"
    assert np.allclose([read["x"][0], read["y"][0], read["z"][0]], [8.0, 1.0, 3.0])
    assert read["colour_2"].tolist() == [30, 60, 90]
    assert point_cloud2.read_points(cloud)["x"][0] == 1.0
