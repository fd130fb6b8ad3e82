"""Where the sensor of each input was: TF, looked up at the input's moment."""

from __future__ import annotations

import threading
from typing import Any

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Pose
from memory_node.nodes.inputs.arrivals import Arrival, Grid, Images, OptimizedPath, Posed
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.rgbd_camera import RgbdCamera
from memory_node.nodes.inputs.timeline import Moment
from memory_node.nodes.inputs.transform_history import TransformHistory


class ArrivalPoses:
    """Takes TF in and tells where inputs were seen from. Safe to use from several threads.

    Args:
        camera: the camera that images are looked at by.
        transforms: what TF has told so far.
        map_frame: the frame of grids that name none.
    """

    def __init__(self, camera: RgbdCamera, transforms: TransformHistory, map_frame: str) -> None:
        self._camera = camera
        self._transforms = transforms
        self._map_frame = map_frame
        self._lock = threading.Lock()

    def add(self, transform: Any) -> OdomJump | None:
        """Take in a TransformStamped of /tf; return the jump of odom in the map if it tells of one."""
        with self._lock:
            return self._transforms.add(transform)

    def add_fixed(self, transform: Any) -> None:
        """Take in a TransformStamped of /tf_static."""
        with self._lock:
            self._transforms.add_fixed(transform)

    def posed(self, arrival: Arrival, last_call: bool) -> Posed | None:
        """Return an arrival with the pose of its frame, None while TF or camera_info may still tell what it lacks.

        Raises:
            InputSkippedError: they will not.
        """
        if isinstance(arrival, (OdomJump, OptimizedPath)):
            return Posed(arrival, Pose())
        if isinstance(arrival, Images):
            if last_call:
                self._camera.check_known()
            return self._posed_images(arrival, last_call) if self._camera.is_known else None
        if isinstance(arrival, Grid):
            pose = self._grid_pose(arrival.msg.header.frame_id or self._map_frame, last_call)
        else:
            pose = self._sensor_pose(arrival.frame_id, arrival.moment, last_call)
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
            pose = self._transforms.pose(frame, moment)
            return self._transforms.pose_in_any_run(frame, moment) if pose is None and last_call else pose
