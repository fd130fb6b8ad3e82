"""Messages to YAML and back, as the command line shows and takes them."""

import pytest
import yaml
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovariance as Covariance
from rosidl_runtime_py import (
    message_to_ordereddict,
    message_to_yaml,
    set_message_fields,
)
from rosidl_runtime_py.utilities import get_interface, is_action, is_message, is_service
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


def test_header_and_time_can_be_left_to_the_sender():
    message = PoseStamped()
    setters = set_message_fields(message, {"header": "auto"}, expand_header_auto=True)
    header = Header()
    setters += set_message_fields(header, {"stamp": "now"}, expand_time_now=True)
    for setter in setters:
        setter(Time(sec=5))
    assert message.header.stamp.sec == header.stamp.sec == 5
    with pytest.raises(TypeError, match="expected to be a dictionary"):
        set_message_fields(PoseStamped(), {"header": "auto"})


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


def test_long_values_are_cut_or_described():
    scan = LaserScan(ranges=[1.0] * 5)
    scan.header.frame_id = "a" * 10
    cut = message_to_ordereddict(scan, truncate_length=3)
    assert cut["ranges"] == [1.0, 1.0, 1.0, "..."]
    assert cut["header"]["frame_id"] == "aaa..."
    described = message_to_ordereddict(scan, no_arr=True, no_str=True)
    assert described["ranges"] == "<sequence type: float, length: 5>"
    assert described["header"]["frame_id"] == "<string length: <10>>"
    assert message_to_ordereddict(Covariance(), no_arr=True)["covariance"] == "<array type: double[36]>"
    assert message_to_ordereddict(filled(), no_arr=True)["transforms"] == (
        "<sequence type: geometry_msgs/msg/TransformStamped, length: 2>"
    )


def test_flow_style_is_of_sequences():
    scan = LaserScan(ranges=[1.0, 2.0])
    lines = message_to_yaml(scan, flow_style=True).splitlines()
    assert lines[:2] == ["header:", "  stamp:"]
    assert "ranges: [1.0, 2.0]" in lines
    assert message_to_yaml(filled(), flow_style=True).startswith("transforms: [{header: {stamp: {sec: ")


def test_kinds_of_interfaces():
    assert is_message(get_interface("std_msgs/msg/String"))
    assert is_service(get_interface("std_srvs/srv/Empty"))
    assert is_action(get_interface("example_interfaces/action/Fibonacci"))
    assert not is_message(get_interface("std_srvs/srv/Empty"))
