"""The camera that images are looked at by, and where the sensor of each input was, by TF at its moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from nav_msgs.msg import OccupancyGrid, Path
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.arrivals import Arrival, Images, Posed, Single
from memory_node.nodes.inputs.config import DepthRegistration
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.tf_stream import TransformStream
from memory_node.nodes.inputs.timeline import Moment
from memory_node.nodes.inputs.transform_history import TransformHistory
from memory_node.perception.camera_model import Camera, depth_in_color_view


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
