"""The camera that images are looked at by: the colour camera, with depth of its own or of a camera beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.arrivals import Images
from memory_node.nodes.inputs.config import DepthRegistration
from memory_node.perception.camera_model import Camera
from memory_node.perception.registration import depth_in_color_view


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
