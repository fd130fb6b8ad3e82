"""Cameras, detections and maps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from vision_msgs.msg import (
    BoundingBox2D,
    Detection2D,
    Detection2DArray,
    Detection3DArray,
    ObjectHypothesis,
    ObjectHypothesisWithPose,
)

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M, Intrinsics, OrientedBox, Pose
from memory_node.nodes.conversions.geometry import (
    covariance_from_msg,
    header,
    point_from_msg,
    pose_from_msg,
    pose_to_msg,
)
from memory_node.nodes.conversions.ranges import (
    checked_count,
    checked_items,
    checked_label,
    checked_number,
    checked_probability,
)
from memory_node.perception.camera_model import Camera
from memory_node.perception.detection import Detection, Detection3D
from memory_node.perception.image_decoding import (
    decode_coded_color,
    decode_coded_depth,
    decode_color,
    decode_compressed_depth,
    decode_depth,
    decode_labels,
)
from memory_node.scene_graph.free_space import OccupancyMap

_SIDE_LIMIT = 100_000
_FOCAL_LIMIT_PX = 1e6
# Cells of a map: finer than any lidar sees, coarser than any robot can drive by.
_CELL_LIMITS_M = (1e-3, 10.0)


def intrinsics_from_msg(msg: CameraInfo) -> Intrinsics:
    """Return the pinhole part of a CameraInfo (images are expected rectified).

    Raises:
        InvalidValueError: a field is none of a camera.
    """
    fx, fy = (checked_number(f"k[{place}]", msg.k[place], 0.0, _FOCAL_LIMIT_PX) for place in (0, 4))
    cx, cy = (checked_number(f"k[{place}]", msg.k[place], -_FOCAL_LIMIT_PX, _FOCAL_LIMIT_PX) for place in (2, 5))
    width = checked_count("width", msg.width, 0, _SIDE_LIMIT)
    height = checked_count("height", msg.height, 0, _SIDE_LIMIT)
    return Intrinsics(fx=fx, fy=fy, cx=cx, cy=cy, width=width, height=height)


def intrinsics_to_msg(intrinsics: Intrinsics, stamp_ns: int, frame_id: str) -> CameraInfo:
    """Return a CameraInfo without distortion."""
    i = intrinsics
    msg = CameraInfo(header=header(stamp_ns, frame_id), width=i.width, height=i.height, distortion_model="plumb_bob")
    msg.d = [0.0] * 5
    msg.k = np.array([i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0])
    msg.r = np.eye(3).ravel()
    msg.p = np.array([i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    return msg


def camera_from_msg(msg: CameraInfo) -> Camera:
    """Return a CameraInfo with its lens, for images that are not rectified.

    Raises:
        InvalidValueError: a field is none of a camera, or a distortion model that is not known.
    """
    i = intrinsics_from_msg(msg)
    fisheye = msg.distortion_model in ("equidistant", "fisheye")
    bent = any(float(value) for value in msg.d)
    if bent and not fisheye and msg.distortion_model not in ("", "plumb_bob", "rational_polynomial"):
        raise InvalidValueError(f"distortion_model: {msg.distortion_model[:40]!r} is not known")
    if len(msg.d) not in (0, 4, 5, 8, 12, 14):
        raise InvalidValueError(f"d: expected 4, 5, 8, 12 or 14 numbers, got {len(msg.d)}")
    distortion = tuple(float(value) for value in msg.d) if bent else ()
    return Camera(i.fx, i.fy, i.cx, i.cy, i.width, i.height, distortion, fisheye=fisheye)


def color_from_msg(msg: Image | CompressedImage) -> NDArray[np.uint8]:
    """Return an Image, or a CompressedImage of image_transport's `compressed`, as RGB (h, w, 3).

    Raises:
        InputSkippedError: an unknown encoding, or sizes that do not fit, or data cut short.
    """
    if isinstance(msg, CompressedImage):
        return decode_coded_color(bytes(msg.data), "compressed colour image")
    return decode_color(msg.data, msg.encoding, msg.height, msg.width, msg.step)


def depth_from_msg(msg: Image | CompressedImage) -> NDArray[np.float32]:
    """Return an Image, or a CompressedImage of image_transport's `compressedDepth`, as depth (h, w) in metres, NaN
    where there is no return. A plain PNG of 16 bits (`compressed`) holds millimetres.

    Raises:
        InputSkippedError: an unknown encoding, or sizes that do not fit, or data cut short.
    """
    if isinstance(msg, CompressedImage):
        if "compressedDepth" in msg.format:
            return decode_compressed_depth(bytes(msg.data), msg.format)
        raw = decode_coded_depth(bytes(msg.data), "compressed depth image")
        return np.where(raw > 0, raw * np.float32(1e-3), np.float32(np.nan)).astype(np.float32)
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


def _scores_from_msg(results: Sequence[Any]) -> dict[str, float]:
    """Return the score of each class. Drivers that do not grade leave 0, a message's default: their classes share 1."""
    scores = {
        checked_label("class_id", result.hypothesis.class_id, required=True): checked_probability(
            "score", result.hypothesis.score
        )
        for result in checked_items("results", results)
    }
    return scores if any(scores.values()) else dict.fromkeys(scores, 1.0 / max(1, len(scores)))


def detections_from_msg(msg: Detection2DArray) -> list[Detection]:
    """Return 2D detections; detection i owns the pixels i + 1 of the instance image, where one comes along.

    Raises:
        InvalidValueError: too many, a class without a name, a score outside 0 to 1, a rectangle that is none.
    """
    return [
        Detection(_scores_from_msg(found.results), _rectangle_from_msg(found.bbox), i + 1)
        for i, found in enumerate(checked_items("detections", msg.detections))
    ]


def _rectangle_from_msg(msg: BoundingBox2D) -> tuple[float, float, float, float] | None:
    """Return left, top, right, bottom in pixels, None of a rectangle without extent."""
    sides = (msg.center.position.x, msg.center.position.y, 0.5 * msg.size_x, 0.5 * msg.size_y)
    x, y, half_x, half_y = (checked_number("bbox", side, -_FOCAL_LIMIT_PX, _FOCAL_LIMIT_PX) for side in sides)
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
    """Return 3D detections in the sensor's frame.

    Raises:
        InvalidValueError: as of `detections_from_msg`; a pose, size or covariance that is none.
    """
    listed = []
    for found in checked_items("detections", msg.detections):
        pose = pose_from_msg(found.bbox.center, "bbox.center")
        box = OrientedBox(pose.position, np.array(point_from_msg(found.bbox.size, "bbox.size")), pose.yaw_rad)
        covariance = covariance_from_msg(found.results[0].pose) if found.results else np.zeros((3, 3))
        listed.append(Detection3D(_scores_from_msg(found.results), box, covariance if covariance.any() else None))
    return listed


def grid_from_msg(msg: OccupancyGrid, map_T_frame: Pose | None = None) -> OccupancyMap:
    """Return an OccupancyGrid; map_T_frame: where the frame of its header lies in the map, by default there.

    Raises:
        InvalidValueError: sizes that do not fit, cells of no use to a robot, a map larger than a site.
    """
    info = msg.info
    resolution_m = checked_number("info.resolution", info.resolution, *_CELL_LIMITS_M)
    if len(msg.data) != info.width * info.height:
        raise InvalidValueError(f"data: expected {info.width}x{info.height} cells, got {len(msg.data)}")
    for what, side in (("info.width", info.width), ("info.height", info.height)):
        checked_number(what, side * resolution_m, 0.0, POSITION_LIMIT_M)
    cells = np.asarray(msg.data, dtype=np.int8).reshape(msg.info.height, msg.info.width)
    origin = (map_T_frame or Pose()) @ pose_from_msg(msg.info.origin)
    return OccupancyMap(cells, resolution_m, origin)


def grid_to_msg(grid: OccupancyMap, stamp_ns: int) -> OccupancyGrid:
    """Return an OccupancyGrid message."""
    msg = OccupancyGrid(header=header(stamp_ns))
    msg.info.map_load_time = msg.header.stamp
    msg.info.height, msg.info.width = grid.cells.shape
    msg.info.resolution = grid.resolution_m
    msg.info.origin = pose_to_msg(grid.map_T_origin)
    msg.data = grid.cells.ravel()
    return msg
