"""Message classes behave as those that rosidl generates for Python."""

import copy
import pickle
from array import array

import numpy as np
import pytest
from action_msgs.msg import GoalStatus as Status
from action_msgs.msg import GoalStatusArray
from action_msgs.srv import CancelGoal
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from geometry_msgs.msg import PoseWithCovariance as Covariance
from rmw_dds_common.msg import NodeEntitiesInfo as Node
from sensor_msgs.msg import Image, LaserScan
from sensor_msgs.msg import RegionOfInterest as Region
from std_msgs.msg import Byte, String


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
        (Covariance, "covariance", np.zeros(35), "size of 36"),
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
    with pytest.raises(AssertionError, match=r"must be a set or sequence and each value of type 'int'.*\[0, 255\]"):
        Image().data = [256]
    with pytest.raises(OverflowError):
        Image(data=[256])
    with pytest.raises(AssertionError, match="each value of type 'float'"):
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
    assert Quaternion.W__DEFAULT == 1.0


def test_constants_are_read_only():
    assert Status.STATUS_SUCCEEDED == 4 == Status().STATUS_SUCCEEDED
    with pytest.raises(AttributeError):
        Status.STATUS_SUCCEEDED = 5


def test_equality_is_by_value_and_type():
    assert Pose() == Pose()
    assert Pose(position=Point(x=1.0)) != Pose()
    assert Covariance() == Covariance()
    changed = Covariance()
    changed.covariance[:] = 1.0
    assert changed != Covariance()
    assert Point() != Vector3()
    with pytest.raises(TypeError):
        hash(Point())


def test_repr_is_the_one_of_rosidl():
    assert repr(Point(x=1.5)) == "geometry_msgs.msg.Point(x=1.5, y=0.0, z=0.0)"
    assert repr(LaserScan(ranges=[0.5])).endswith("ranges=[0.5], intensities=[])")
    request = AddTwoInts.Request(a=1)
    assert repr(request) == "example_interfaces.srv.AddTwoInts_Request(a=1, b=0)"


def test_deep_copy_is_equal_and_independent():
    message = Pose(position=Point(x=2.0))
    twin = copy.deepcopy(message)
    twin.position.x = 3.0
    assert message.position.x == 2.0


def test_service_and_action_hold_their_parts():
    assert AddTwoInts.Event().request == []
    with pytest.raises(NotImplementedError, match="Service classes can not be instantiated"):
        AddTwoInts()
    impl = Fibonacci.Impl
    assert impl.SendGoalService.Request(goal=Fibonacci.Goal(order=3)).goal.order == 3
    assert impl.FeedbackMessage().feedback == Fibonacci.Feedback()
    assert impl.GetResultService.Response().result == Fibonacci.Result()
    assert impl.CancelGoalService is CancelGoal
    assert impl.GoalStatusMessage is GoalStatusArray
    with pytest.raises(NotImplementedError, match="Action classes can not be instantiated"):
        Fibonacci()


def test_pickle_keeps_the_value():
    message = Pose(position=Point(x=2.0))
    assert pickle.loads(pickle.dumps(message)) == message
