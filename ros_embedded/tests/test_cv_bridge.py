"""Image messages to and from OpenCV's arrays."""

import numpy as np
import pytest

from ros_embedded.cv_bridge import CvBridge, CvBridgeError
from ros_embedded.interfaces import get_message

Image = get_message("sensor_msgs/msg/Image")
COLOURS = np.array([[[10, 20, 30], [40, 50, 60]], [[70, 80, 90], [100, 110, 120]], [[1, 2, 3], [4, 5, 6]]], np.uint8)


@pytest.fixture
def bridge() -> CvBridge:
    return CvBridge()


@pytest.mark.parametrize(
    ("encoding", "dtype", "shape"),
    [
        ("bgr8", np.uint8, (3, 2, 3)),
        ("mono16", np.uint16, (3, 2)),
        ("16UC1", np.uint16, (3, 2)),
        ("32FC1", np.float32, (3, 2)),
        ("64FC2", np.float64, (3, 2, 2)),
    ],
)
def test_pixels_survive(bridge, encoding, dtype, shape):
    pixels = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    message = bridge.cv2_to_imgmsg(pixels, encoding)
    assert (message.height, message.width, message.encoding) == (3, 2, encoding)
    assert message.step * message.height == len(message.data) == pixels.nbytes
    assert np.array_equal(bridge.imgmsg_to_cv2(message), pixels)
    assert bridge.imgmsg_to_cv2(message).dtype == dtype


def test_passthrough_names_the_type_of_the_array(bridge):
    header = get_message("std_msgs/msg/Header")(frame_id="camera")
    message = bridge.cv2_to_imgmsg(COLOURS, header=header)
    assert (message.encoding, message.header.frame_id) == ("8UC3", "camera")


def test_rows_may_be_padded_and_bytes_swapped(bridge):
    row = np.array([1, 2, 3], ">u2").tobytes() + b"pad"
    message = Image(height=2, width=3, encoding="16UC1", is_bigendian=1, step=9, data=row * 2)
    assert bridge.imgmsg_to_cv2(message).tolist() == [[1, 2, 3], [1, 2, 3]]
    message.step = 4
    with pytest.raises(CvBridgeError, match="too short"):
        bridge.imgmsg_to_cv2(message)


def test_colours_and_depths_are_converted(bridge):
    message = bridge.cv2_to_imgmsg(COLOURS, "rgb8")
    assert np.array_equal(bridge.imgmsg_to_cv2(message, "bgr8"), COLOURS[:, :, ::-1])
    assert bridge.imgmsg_to_cv2(message, "rgba8")[0, 0].tolist() == [10, 20, 30, 255]
    assert bridge.imgmsg_to_cv2(message, "mono8")[0, 0] == 18  # 0.299 R + 0.587 G + 0.114 B
    wide = bridge.imgmsg_to_cv2(message, "rgb16")
    assert wide[0, 0].tolist() == [2570, 5140, 7710]
    assert np.array_equal(bridge.imgmsg_to_cv2(bridge.cv2_to_imgmsg(wide, "rgb16"), "rgb8"), COLOURS)
    raw = bridge.cv2_to_imgmsg(np.full((4, 4), 9, np.uint8), "bayer_rggb8")
    assert bridge.imgmsg_to_cv2(raw, "bgr8").tolist() == [[[9, 9, 9]] * 4] * 4


def test_what_does_not_fit_is_refused(bridge):
    with pytest.raises(CvBridgeError, match="incompatible"):
        bridge.cv2_to_imgmsg(COLOURS, "mono8")
    with pytest.raises(CvBridgeError, match="Unrecognized"):
        bridge.imgmsg_to_cv2(Image(height=1, width=1, step=1, encoding="ultraviolet", data=b"1"))
    with pytest.raises(CvBridgeError, match="colour"):
        bridge.imgmsg_to_cv2(bridge.cv2_to_imgmsg(np.zeros((2, 2), np.float32), "32FC1"), "bgr8")
    with pytest.raises(TypeError):
        bridge.cv2_to_imgmsg([[1]])


def test_compressed_pixels_survive_where_the_format_keeps_them(bridge):
    packed = bridge.cv2_to_compressed_imgmsg(COLOURS, "png")
    assert packed.format == "png"
    assert np.array_equal(bridge.compressed_imgmsg_to_cv2(packed), COLOURS)
    assert np.array_equal(bridge.compressed_imgmsg_to_cv2(packed, "rgb8"), COLOURS[:, :, ::-1])
    packed.data = b"no picture"
    with pytest.raises(CvBridgeError):
        bridge.compressed_imgmsg_to_cv2(packed)
