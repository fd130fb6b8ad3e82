"""Cameras, detections and maps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image
from vision_msgs.msg import (
    BoundingBox2D,
    Detection2D,
    Detection2DArray,
    Detection3DArray,
    ObjectHypothesis,
    ObjectHypothesisWithPose,
)

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.nodes.conversions.geometry import (
    covariance_from_msg,
    header,
    point_from_msg,
    pose_from_msg,
    pose_to_msg,
)
from memory_node.perception.color_image import decode_color
from memory_node.perception.depth_image import decode_depth
from memory_node.perception.detection import Detection, Detection3D
from memory_node.perception.label_image import decode_labels
from memory_node.scene_graph.free_space import OccupancyMap


def intrinsics_from_msg(msg: CameraInfo) -> Intrinsics:
    """Return the pinhole part of a CameraInfo (images are expected rectified)."""
    return Intrinsics(fx=msg.k[0], fy=msg.k[4], cx=msg.k[2], cy=msg.k[5], width=msg.width, height=msg.height)


def intrinsics_to_msg(intrinsics: Intrinsics, stamp_ns: int, frame_id: str) -> CameraInfo:
    """Return a CameraInfo without distortion."""
    i = intrinsics
    msg = CameraInfo(header=header(stamp_ns, frame_id), width=i.width, height=i.height, distortion_model="plumb_bob")
    msg.d = [0.0] * 5
    msg.k = np.array([i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0])
    msg.r = np.eye(3).ravel()
    msg.p = np.array([i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    return msg


def color_from_msg(msg: Image) -> NDArray[np.uint8]:
    """Return an Image as RGB (h, w, 3).

    Raises:
        InputSkippedError: an unknown encoding, or sizes that do not fit.
    """
    return decode_color(msg.data, msg.encoding, msg.height, msg.width, msg.step)


def depth_from_msg(msg: Image) -> NDArray[np.float32]:
    """Return an Image as depth (h, w) in metres, NaN where there is no return.

    Raises:
        InputSkippedError: an unknown encoding, or sizes that do not fit.
    """
    return decode_depth(msg.data, msg.encoding, msg.height, msg.width, msg.step, bool(msg.is_bigendian))


def labels_from_msg(msg: Image) -> NDArray[np.int32]:
    """Return an instance image (h, w), 0 = background.

    Raises:
        InputSkippedError: an unknown encoding, or sizes that do not fit.
    """
    return decode_labels(msg.data, msg.encoding, msg.height, msg.width, msg.step, bool(msg.is_bigendian))


def image_to_msg(array: NDArray[Any], encoding: str, stamp_ns: int, frame_id: str) -> Image:
    """Return an array (h, w[, channels]) as an Image."""
    array = np.ascontiguousarray(array)
    msg = Image(header=header(stamp_ns, frame_id), height=array.shape[0], width=array.shape[1], encoding=encoding)
    msg.step = array.strides[0]
    msg.data = array.tobytes()
    return msg


def _scores_from_msg(results: Iterable[Any]) -> dict[str, float]:
    return {result.hypothesis.class_id: float(np.clip(result.hypothesis.score, 0.0, 1.0)) for result in results}


def detections_from_msg(msg: Detection2DArray) -> list[Detection]:
    """Return 2D detections; detection i owns the pixels i + 1 of the instance image, where one comes along."""
    return [
        Detection(_scores_from_msg(found.results), _rectangle_from_msg(found.bbox), i + 1)
        for i, found in enumerate(msg.detections)
    ]


def _rectangle_from_msg(msg: BoundingBox2D) -> tuple[float, float, float, float] | None:
    """Return left, top, right, bottom in pixels, None of a rectangle without extent."""
    x, y, half_x, half_y = msg.center.position.x, msg.center.position.y, 0.5 * msg.size_x, 0.5 * msg.size_y
    return (x - half_x, y - half_y, x + half_x, y + half_y) if half_x > 0.0 and half_y > 0.0 else None


def detections_to_msg(detections: Iterable[Detection], stamp_ns: int, frame_id: str) -> Detection2DArray:
    """Return 2D detections, in the order of their instances."""
    msg = Detection2DArray(header=header(stamp_ns, frame_id))
    for detection in detections:
        found = Detection2D(header=msg.header)
        for name, score in detection.class_scores.items():
            found.results.append(ObjectHypothesisWithPose(hypothesis=ObjectHypothesis(class_id=name, score=score)))
        if detection.box_px is not None:
            left, top, right, bottom = map(float, detection.box_px)
            found.bbox.center.position.x, found.bbox.center.position.y = (left + right) / 2.0, (top + bottom) / 2.0
            found.bbox.size_x, found.bbox.size_y = right - left, bottom - top
        msg.detections.append(found)
    return msg


def detections_3d_from_msg(msg: Detection3DArray) -> list[Detection3D]:
    """Return 3D detections in the sensor's frame."""
    listed = []
    for found in msg.detections:
        pose = pose_from_msg(found.bbox.center)
        box = OrientedBox(pose.position, np.array(point_from_msg(found.bbox.size)), pose.yaw_rad)
        covariance = covariance_from_msg(found.results[0].pose) if found.results else np.zeros((3, 3))
        listed.append(Detection3D(_scores_from_msg(found.results), box, covariance if covariance.any() else None))
    return listed


def grid_from_msg(msg: OccupancyGrid, map_T_frame: Pose | None = None) -> OccupancyMap:
    """Return an OccupancyGrid; map_T_frame: where the frame of its header lies in the map, by default there.

    Raises:
        InvalidValueError: sizes that do not fit.
    """
    if len(msg.data) != msg.info.width * msg.info.height or msg.info.resolution <= 0.0:
        raise InvalidValueError(
            f"OccupancyGrid: expected {msg.info.width}x{msg.info.height} cells and a resolution above 0, "
            f"got {len(msg.data)} cells of {msg.info.resolution} m"
        )
    cells = np.asarray(msg.data, dtype=np.int8).reshape(msg.info.height, msg.info.width)
    origin = (map_T_frame or Pose()) @ pose_from_msg(msg.info.origin)
    return OccupancyMap(cells, float(msg.info.resolution), origin)


def grid_to_msg(grid: OccupancyMap, stamp_ns: int) -> OccupancyGrid:
    """Return an OccupancyGrid message."""
    msg = OccupancyGrid(header=header(stamp_ns))
    msg.info.map_load_time = msg.header.stamp
    msg.info.height, msg.info.width = grid.cells.shape
    msg.info.resolution = grid.resolution_m
    msg.info.origin = pose_to_msg(grid.map_T_origin)
    msg.data = grid.cells.ravel()
    return msg
