"""What comes in, in bytes of which the header alone is read, and where its sensor was, by TF at its moment."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from nav_msgs.msg import OccupancyGrid, Path
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.config import DepthRegistration
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.ordered_inputs import Moment
from memory_node.nodes.inputs.tf_stream import TransformStream, byte_order
from memory_node.nodes.inputs.transform_history import TransformHistory
from memory_node.perception.camera_model import Camera, depth_in_color_view

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


class RgbdCamera:
    """Knows camera_info, and makes colour and depth of the colour camera's view out of messages.

    Args:
        registration: `aligned`: depth images lie on colour images, pixel by pixel; `tf`: they are of a camera of its
            own, which has a camera_info of its own and a place in TF.
    """

    def __init__(self, registration: DepthRegistration) -> None:
        self._by_tf = registration == "tf"
        self._color: Intrinsics | None = None
        self._depth: Camera | None = None

    @property
    def is_known(self) -> bool:
        """Whether every camera_info that images need has come."""
        return self._color is not None and (self._depth is not None or not self._by_tf)

    def check_known(self) -> None:
        """Raise InputSkippedError ("no_camera_info") while a camera_info is missing."""
        lacking = "camera/color/camera_info" if self._color is None else "camera/depth/camera_info"
        if not self.is_known:
            raise InputSkippedError("no_camera_info", f"no usable message has come on {lacking}")

    def take_info(self, msg: Any, of_depth: bool = False) -> None:
        """Take in the CameraInfo of the colour camera, or of the depth camera.

        Raises:
            InputSkippedError: it is none.
        """
        try:
            if of_depth:
                self._depth = conversions.camera_from_msg(msg)
            else:
                self._color = conversions.intrinsics_from_msg(msg)
        except InvalidValueError as error:
            raise InputSkippedError("depth_camera_info" if of_depth else "camera_info", str(error)) from error

    def frame_of(self, images: Images) -> str:
        """Return the frame that images are looked at from."""
        return (images.color if self._by_tf else images.depth).frame_id

    def depth_frame_of(self, images: Images) -> str:
        """Return the frame that depth is to be moved from, "" where it need not be."""
        return images.depth.frame_id if self._by_tf else ""

    def pictures(self, images: Images) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return colour (h, w, 3) and depth (h, w) in metres as they came.

        Raises:
            InputSkippedError: a camera_info is missing, or an image cannot be read.
        """
        self.check_known()
        return conversions.color_from_msg(images.color.read()), conversions.depth_from_msg(images.depth.read())

    def view(
        self, color: NDArray[np.uint8], depth_m: NDArray[np.float32], camera_T_depth: Pose | None
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], Intrinsics]:
        """Return colour (h, w, 3), its depth (h, w) and the camera of both.

        Raises:
            InputSkippedError: an image has another size than its camera, or than the other one.
        """
        assert self._color is not None
        _check_size("colour images", color, self._color)
        if camera_T_depth is None:
            if depth_m.shape != color.shape[:2]:
                hint = "depth_registration:=aligned needs depth on the colour images; of a camera of its own: set tf"
                raise InputSkippedError("image_size", f"depth is {_size(depth_m)}, colour {_size(color)}: {hint}")
            return color, depth_m, self._color
        assert self._depth is not None
        _check_size("depth images", depth_m, self._depth)
        straight, camera = self._depth.rectified_depth(depth_m)
        return color, depth_in_color_view(straight, camera, camera_T_depth, self._color), self._color


def _check_size(what: str, image: NDArray[Any], camera: Intrinsics | Camera) -> None:
    if image.shape[:2] != (camera.height, camera.width):
        raise InputSkippedError(
            "image_size", f"{what} are {_size(image)}, their camera_info says {camera.width}x{camera.height}"
        )


def _size(image: NDArray[Any]) -> str:
    return f"{image.shape[1]}x{image.shape[0]}"


class ArrivalPoses:
    """Takes TF in and tells where inputs were seen from. Safe to use from several threads.

    Args:
        camera: the camera that images are looked at by.
        transforms: what TF has told so far; grids that name no frame are in its map.
        refuse: told of each transform of /tf that is none.
    """

    def __init__(
        self, camera: RgbdCamera, transforms: TransformHistory, refuse: Callable[[InvalidValueError], object]
    ) -> None:
        self._camera = camera
        self._transforms = transforms
        self._stream = TransformStream(transforms, refuse)
        self._lock = threading.Lock()

    @property
    def newest_ns(self) -> int | None:
        """The stamp of /tf that came last, on the ways to the map; None: none has."""
        return self._transforms.newest_ns

    def take(self, data: bytes) -> list[OdomJump]:
        """Take in a serialised TFMessage of /tf; return the jumps of odom in the map that it tells of."""
        with self._lock:
            return self._stream.take(data)

    def add_fixed(self, transform: Any) -> None:
        """Take in a TransformStamped of /tf_static.

        Raises:
            InvalidValueError: it is none.
        """
        with self._lock:
            self._transforms.add_fixed(transform)
            self._stream.look_again()

    def posed(self, arrival: Arrival, last_call: bool) -> Posed | None:
        """Return an arrival with the pose of its frame, None while TF or camera_info may still tell what it lacks.

        Raises:
            InputSkippedError: they will not.
        """
        if isinstance(arrival, OdomJump) or (isinstance(arrival, Single) and arrival.kind is Path):
            return Posed(arrival, Pose())
        if isinstance(arrival, Images):
            if last_call:
                self._camera.check_known()
            return self._posed_images(arrival, last_call) if self._camera.is_known else None
        if arrival.kind is OccupancyGrid:
            pose = self._grid_pose(arrival.unread.frame_id or self._transforms.map_frame, last_call)
        else:
            pose = self._sensor_pose(arrival.unread.frame_id, arrival.moment, last_call)
        return Posed(arrival, pose) if pose is not None else None

    def _posed_images(self, images: Images, last_call: bool) -> Posed | None:
        map_T_camera = self._sensor_pose(self._camera.frame_of(images), images.moment, last_call)
        depth_frame = self._camera.depth_frame_of(images)
        if map_T_camera is None or not depth_frame:
            return Posed(images, map_T_camera) if map_T_camera is not None else None
        map_T_depth = self._sensor_pose(depth_frame, images.moment, last_call)
        if map_T_depth is None:
            return None
        return Posed(images, map_T_camera, map_T_camera.inverse() @ map_T_depth)

    def _grid_pose(self, frame: str, last_call: bool) -> Pose | None:
        with self._lock:
            pose = self._transforms.fixed_pose(frame)
        if pose is None and last_call:
            raise InputSkippedError("map_frame", f"/tf_static does not tell where {frame} lies in the map")
        return pose

    def _sensor_pose(self, frame: str, moment: Moment, last_call: bool) -> Pose | None:
        with self._lock:
            self._stream.ask(frame)
            pose = self._transforms.pose(frame, moment)
            return self._transforms.pose_in_any_run(frame, moment) if pose is None and last_call else pose
