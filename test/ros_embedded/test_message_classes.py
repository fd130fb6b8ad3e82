"""Message classes behave as those that rosidl generates for Python."""

import copy
import pickle
from array import array

import numpy as np
import pytest

from ros_embedded.interfaces import InterfaceNotFoundError, get_action, get_message, get_service

Image = get_message("sensor_msgs/msg/Image")
Point = get_message("geometry_msgs/msg/Point")
Pose = get_message("geometry_msgs/msg/Pose")
String = get_message("std_msgs/msg/String")
LaserScan = get_message("sensor_msgs/msg/LaserScan")
Covariance = get_message("geometry_msgs/msg/PoseWithCovariance")
Region = get_message("sensor_msgs/msg/RegionOfInterest")
Byte = get_message("std_msgs/msg/Byte")
Status = get_message("action_msgs/msg/GoalStatus")
Node = get_message("rmw_dds_common/msg/NodeEntitiesInfo")


def test_class_of_a_name_is_made_once():
    assert get_message("geometry_msgs/Point") is Point
    assert Pose().position.__class__ is Point


@pytest.mark.parametrize(
    ("message", "field", "value", "says"),
    [
        (Point, "x", 1, "must be of type 'float'"),
        (Point, "x", 1e400 - 1e400, None),
        (Point, "x", float("inf"), None),
        (String, "data", b"x", "must be of type 'str'"),
        (Region, "height", -1, r"unsigned integer in \[0, 4294967295\]"),
        (Region, "height", 2**32, "unsigned integer"),
        (Region, "height", 1.0, "must be of type 'int'"),
        (Region, "do_rectify", 1, "must be of type 'bool'"),
        (Status, "status", 128, r"integer in \[-128, 127\]"),
        (Pose, "position", "here", "must be a sub message of type 'Point'"),
        (Byte, "data", b"xy", "with length 1"),
        (Node, "node_name", "x" * 257, "not longer than 256"),
        (Covariance, "covariance", [0.0] * 35, "size of 36"),
        (Covariance, "covariance", np.zeros((6, 6)), "size of 36"),
        (Node, "reader_gid_seq", [Point()], "each value of type 'Gid'"),
    ],
)
def test_setter_checks_type_and_range(message, field, value, says):
    subject = message()
    if says is None:
        setattr(subject, field, value)
        return
    with pytest.raises(AssertionError, match=says):
        setattr(subject, field, value)
    with pytest.raises(AssertionError, match=says):
        message(**{field: value})


def test_numbers_that_no_element_can_hold_are_refused():
    with pytest.raises(OverflowError):
        Image().data = [256]
    with pytest.raises(TypeError):
        LaserScan().ranges = "abc"
    assert LaserScan(ranges=[1, 2]).ranges == array("f", [1.0, 2.0])


def test_unknown_keyword_is_refused():
    with pytest.raises(AssertionError, match="Invalid arguments passed to constructor: wrong"):
        Point(wrong=1)
    with pytest.raises(AttributeError):
        Point().wrong = 1


def test_checks_can_be_left_out():
    assert Point(x=1, check_fields=False).x == 1


def test_sequences_are_arrays_and_fixed_arrays_are_numpy():
    assert LaserScan(ranges=[1.0, 2.0]).ranges == array("f", [1.0, 2.0])
    assert Image(data=b"\x01\x02").data == array("B", [1, 2])
    assert Image(data=np.array([3, 4], np.uint8)).data == array("B", [3, 4])
    kept = array("B", b"abc")
    message = Image()
    message.data = kept
    assert message.data is kept
    covariance = Covariance().covariance
    assert isinstance(covariance, np.ndarray)
    assert (covariance.shape, covariance.dtype) == ((36,), np.float64)


def test_defaults_of_one_message_are_not_shared_with_another():
    LaserScan().ranges.append(1.0)
    Pose().position.x = 1.0
    Covariance().covariance[0] = 1.0
    assert len(LaserScan().ranges) == 0
    assert Pose().position.x == 0.0
    assert Covariance().covariance[0] == 0.0


def test_defaults_of_the_definition_are_used_and_shown():
    assert Pose().orientation.w == 1.0
    assert get_message("geometry_msgs/msg/Quaternion").W__DEFAULT == 1.0


def test_constants_are_read_only():
    assert Status.STATUS_SUCCEEDED == 4 == Status().STATUS_SUCCEEDED
    with pytest.raises(AttributeError):
        Status.STATUS_SUCCEEDED = 5


def test_equality_is_by_value_and_type():
    assert Pose() == Pose()
    assert Pose(position=Point(x=1.0)) != Pose()
    assert Covariance() == Covariance()
    changed = Covariance()
    changed.covariance[35] = 1.0
    assert changed != Covariance()
    assert Point() != get_message("geometry_msgs/msg/Vector3")()
    with pytest.raises(TypeError):
        hash(Point())


def test_repr_is_the_one_of_rosidl():
    assert repr(Point(x=1.5)) == "geometry_msgs.msg.Point(x=1.5, y=0.0, z=0.0)"
    assert repr(LaserScan(ranges=[0.5])).endswith("ranges=[0.5], intensities=[])")
    request = get_service("example_interfaces/srv/AddTwoInts").Request(a=1)
    assert repr(request) == "example_interfaces.srv.AddTwoInts_Request(a=1, b=0)"


def test_deep_copy_is_equal_and_independent():
    message = Pose(position=Point(x=2.0))
    twin = copy.deepcopy(message)
    twin.position.x = 3.0
    assert message.position.x == 2.0


def test_service_and_action_hold_their_parts():
    service = get_service("example_interfaces/srv/AddTwoInts")
    assert service.Event().request == []
    with pytest.raises(NotImplementedError, match="Service classes can not be instantiated"):
        service()
    action = get_action("example_interfaces/action/Fibonacci")
    impl = action.Impl
    assert impl.SendGoalService.Request(goal=action.Goal(order=3)).goal.order == 3
    assert impl.FeedbackMessage().feedback == action.Feedback()
    assert impl.GetResultService.Response().result == action.Result()
    assert impl.CancelGoalService is get_service("action_msgs/srv/CancelGoal")
    assert impl.GoalStatusMessage is get_message("action_msgs/msg/GoalStatusArray")
    with pytest.raises(NotImplementedError, match="Action classes can not be instantiated"):
        action()


@pytest.mark.parametrize("name", ["std_msgs/msg/Nothing", "nowhere/msg/String", "String", "../msg/String", ""])
def test_unknown_name_is_an_error(name):
    with pytest.raises(InterfaceNotFoundError):
        get_message(name)


def test_pickle_needs_the_import_hook_and_keeps_the_value():
    import ros_embedded.import_hook as hook

    hook.install()
    message = Pose(position=Point(x=2.0))
    assert pickle.loads(pickle.dumps(message)) == message
