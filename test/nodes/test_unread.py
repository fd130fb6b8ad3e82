"""Messages in bytes: their headers, and images that are read without being copied."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, Image

from memory_node.domain.errors import InvalidValueError
from memory_node.nodes import conversions
from memory_node.nodes.inputs.arrivals import Unread

STAMP_NS = 1_000_000_007


def image(frame_id: str = "camera", encoding: str = "rgb8") -> Image:
    rng = np.random.default_rng(1)
    made = conversions.image_to_msg(rng.integers(0, 256, (4, 5, 3)).astype(np.uint8), "rgb8", STAMP_NS, frame_id)
    made.encoding = encoding
    return made


def test_body_is_what_differs_when_only_the_header_is_the_same() -> None:
    one, other = (
        Unread.of(CameraInfo, bytes(serialize_message(CameraInfo(header=conversions.header(at_ns, "c"), width=7))))
        for at_ns in (STAMP_NS, 2 * STAMP_NS)
    )
    assert one.data[one.body :] == other.data[other.body :]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.5, 0.9])
def test_bytes_that_end_early_are_refused(share: float) -> None:
    whole = bytes(serialize_message(image()))
    with pytest.raises(InvalidValueError, match="message"):
        Unread.of(Image, whole[: int(share * len(whole))]).read()


def test_a_stamp_that_is_none_is_refused() -> None:
    message = image()
    message.header.stamp.sec = -5
    with pytest.raises(InvalidValueError, match="stamp"):
        Unread.of(Image, bytes(serialize_message(message)))
