"""Fields of many numbers take what rosidl's classes take, and refuse what those refuse."""

from array import array

import numpy as np
import pytest
from sensor_msgs.msg import BatteryState, CameraInfo, Image, JointState


def test_whole_numbers_fit_fields_of_floats():
    joints = JointState(position=[0, 1.5])
    joints.velocity = (1.0, 2.0)
    info = CameraInfo(k=[1] * 9)
    assert joints.position == array("d", [0.0, 1.5])
    assert joints.velocity == array("d", [1.0, 2.0])
    assert info.k.dtype == np.float64
    assert info.k.tolist() == [1.0] * 9


def test_numpy_numbers_of_another_width_are_converted():
    assert JointState(effort=np.array([0.5, 2.0], np.float32)).effort == array("d", [0.5, 2.0])
    assert Image(data=np.array([1, 255])).data == array("B", [1, 255])


@pytest.mark.parametrize("value", [[0, 256], [-1], np.array([300])])
def test_octet_out_of_range_is_refused(value):
    with pytest.raises(OverflowError):
        Image(data=value)


def test_text_is_no_sequence_of_numbers():
    with pytest.raises(TypeError):
        Image(data="abc")


def test_array_of_wrong_size_is_refused():
    with pytest.raises(AssertionError, match="size of 9"):
        CameraInfo().k = np.zeros(8)
    with pytest.raises(AssertionError):
        CameraInfo(k=np.zeros((3, 3)))


def test_assigned_array_of_right_kind_is_kept_not_copied():
    data, image = array("B", b"\1\2"), Image()
    image.data = data
    assert image.data is data
    assert Image(data=b"\1\2").data == data


@pytest.mark.parametrize("number", [3.41e38, -1e300, np.nextafter(3.402823466e38, np.inf)])
def test_number_beyond_single_precision_is_refused_not_made_infinite(number):
    battery = BatteryState()
    with pytest.raises(AssertionError, match=r"'cell_voltage' field .* each float in \[-3402823466\d+\.0+, 3402823466"):
        battery.cell_voltage = [1.0, number]
    battery.cell_voltage = [np.inf, np.nan, -np.inf, 3.4e38]
    assert len(battery.cell_voltage) == 4
