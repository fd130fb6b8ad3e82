"""What comes in, in bytes of which the header alone is read: images of one moment, single messages, jumps of odom."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.tf_stream import byte_order
from memory_node.nodes.inputs.timeline import Moment

_BODY = 4  # behind the encapsulation header, from which alignment is counted


@dataclass(frozen=True, eq=False)
class Unread:
    """A message that begins with a std_msgs/Header. data: its bytes; body: where they go on behind the header."""

    kind: type
    data: bytes
    stamp_ns: int
    frame_id: str
    body: int

    @classmethod
    def of(cls, kind: type, data: bytes) -> Unread:
        """Read the header of a serialised message.

        Raises:
            InvalidValueError: the bytes are none, or the stamp is none.
        """
        order = byte_order(data)
        try:
            seconds, rest_ns, length = struct.unpack_from(f"{order}iII", data, _BODY)
        except struct.error as error:
            raise InvalidValueError(f"message: {len(data)} bytes end within the header") from error
        body = _BODY + 12 + length
        frame_id = data[_BODY + 12 : body - 1].decode("utf-8", "replace")
        return cls(kind, data, conversions.stamp_from_parts(seconds, rest_ns), frame_id, body)

    def read(self) -> Any:
        """Return the message, of an image what has an Image's fields but the header.

        Raises:
            InvalidValueError: the bytes are none.
        """
        try:
            if self.kind is Image:
                return _image(self.data, self.body)
            return deserialize_message(self.data, self.kind)
        except Exception as error:  # rclpy and ros_embedded name this error differently
            raise InvalidValueError(f"message: {len(self.data)} bytes are no {self.kind.__name__}: {error}") from error


@dataclass(frozen=True, eq=False)
class ImageFields:
    """The fields of a sensor_msgs/Image; data is a view of the message's bytes, which a message would copy."""

    height: int
    width: int
    encoding: str
    is_bigendian: int
    step: int
    data: memoryview


def _image(data: bytes, body: int) -> ImageFields:
    order = byte_order(data)
    at = _aligned(body)
    height, width, length = struct.unpack_from(f"{order}III", data, at)
    end = at + 12 + length
    encoding, is_bigendian = data[at + 12 : end - 1].decode("utf-8", "replace"), data[end]
    at = _aligned(end + 1)
    step, count = struct.unpack_from(f"{order}II", data, at)
    if at + 8 + count > len(data):
        raise ValueError(f"{count} bytes of pixels are announced where {len(data) - at - 8} are left")
    return ImageFields(height, width, encoding, is_bigendian, step, memoryview(data)[at + 8 : at + 8 + count])


def _aligned(place: int) -> int:
    return place + -(place - _BODY) % 4


@dataclass(frozen=True)
class Images:
    """Messages of one moment: depth, colour, and by topic what a detector made of them."""

    moment: Moment
    depth: Unread
    color: Unread
    results: Mapping[str, Unread]


@dataclass(frozen=True)
class Single:
    """A vision_msgs/Detection3DArray, a nav_msgs/OccupancyGrid, or a nav_msgs/Path of SLAM's optimised poses."""

    moment: Moment
    unread: Unread

    @property
    def kind(self) -> type:
        """The message's class."""
        return self.unread.kind


Arrival = Union[Images, Single, OdomJump]  # noqa: UP007 - evaluated


@dataclass(frozen=True)
class Posed:
    """An arrival and where its frame lay in the map at its moment; the identity for what is told in the map itself.

    frame_T_depth: of images whose depth is of a camera of its own, where that was.
    """

    arrival: Arrival
    map_T_frame: Pose
    frame_T_depth: Pose | None = None
