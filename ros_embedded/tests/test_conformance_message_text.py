"""Messages to YAML and back, as the command line shows and takes them."""

import pytest
import yaml
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovariance as Covariance
from rosidl_runtime_py import (
    message_to_ordereddict,
    message_to_yaml,
    set_message_fields,
)
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage


def filled():
    message = TFMessage()
    set_message_fields(
        message,
        {
            "transforms": [
                {"header": {"frame_id": "map"}, "child_frame_id": "cup", "transform": {"translation": {"x": 1}}},
                {"child_frame_id": "plate"},
            ]
        },
    )
    return message


def test_fields_are_set_by_name_at_any_depth():
    message = filled()
    assert [each.child_frame_id for each in message.transforms] == ["cup", "plate"]
    assert message.transforms[0].transform.translation.x == 1.0


def test_yaml_and_back_is_the_same_message():
    twin = TFMessage()
    set_message_fields(twin, yaml.safe_load(message_to_yaml(filled())))
    assert twin == filled()


def test_part_of_a_message_is_set_anew_as_a_whole():
    message = PoseStamped()
    message.pose.position.x = 1.0
    set_message_fields(message, {"header": Header(frame_id="map"), "pose": {"position": {"y": 2.0}}})
    assert message.header.frame_id == "map"
    assert (message.pose.position.x, message.pose.position.y) == (0.0, 2.0)


def test_arrays_of_numbers_are_set():
    scan, pose = LaserScan(), Covariance()
    set_message_fields(scan, {"ranges": [1, 2.5]})
    set_message_fields(pose, {"covariance": list(range(36))})
    assert list(scan.ranges) == [1.0, 2.5]
    assert pose.covariance[35] == 35.0


@pytest.mark.parametrize(
    ("values", "error"),
    [({"wrong": 1}, AttributeError), ("text", TypeError), ({"frame_id": 3}, None), ({"stamp": [1]}, TypeError)],
)
def test_values_that_do_not_fit(values, error):
    if error is None:
        message = Header()
        set_message_fields(message, values)
        assert message.frame_id == "3"
        return
    with pytest.raises(error):
        set_message_fields(Header(), values)


def test_long_values_are_cut():
    scan = LaserScan(ranges=[1.0] * 5)
    scan.header.frame_id = "a" * 10
    cut = message_to_ordereddict(scan, truncate_length=3)
    assert cut["ranges"] == [1.0, 1.0, 1.0, "..."]
    assert cut["header"]["frame_id"] == "aaa..."
