"""Where our message classes differ from rosidl's on purpose: kinder to numbers, stricter where C reads nonsense."""

from array import array

import numpy as np
import pytest
from geometry_msgs.msg import PoseWithCovariance
from rosidl_runtime_py import set_message_fields
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import ByteMultiArray


def test_whole_numbers_may_be_assigned_to_fields_of_floats() -> None:
    joints = JointState()
    joints.velocity = (1, 2)
    assert joints.velocity == array("d", [1.0, 2.0])


def test_matrix_may_not_be_assigned_where_a_row_of_numbers_is_sent() -> None:
    with pytest.raises(AssertionError, match="size of 9"):
        CameraInfo().k = np.zeros((3, 3))


def test_one_other_number_makes_arrays_unequal() -> None:
    changed = PoseWithCovariance()
    changed.covariance[35] = 1.0
    assert changed != PoseWithCovariance()


def test_constructor_keeps_an_array_of_the_right_kind() -> None:
    data = array("B", b"\1\2")
    assert Image(data=data).data is data


def test_octets_are_set_from_numbers_and_letters() -> None:
    octets = ByteMultiArray()
    set_message_fields(octets, {"data": [1, "a", b"b"]})
    assert octets.data == [b"\x01", b"a", b"b"]
