"""Where the sensor of each input was: TF, looked up at the input's moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from nav_msgs.msg import OccupancyGrid, Path

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes.inputs.arrivals import Arrival, Images, Posed, Single
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.rgbd_camera import RgbdCamera
from memory_node.nodes.inputs.tf_stream import TransformStream
from memory_node.nodes.inputs.timeline import Moment
from memory_node.nodes.inputs.transform_history import TransformHistory


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
