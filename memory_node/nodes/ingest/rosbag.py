"""A rosbag2 (sqlite3 or mcap) with RGB, depth, camera_info and TF, read with `rosbags`; no ROS needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tf2_ros
from rclpy.duration import Duration
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from rosbags.highlevel import AnyReader
from rosidl_runtime_py.utilities import get_message

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.nodes import conversions
from memory_node.nodes.ingest.recording import RgbdImage
from memory_node.scene_graph.free_space import OccupancyMap

_SLOP_NS = 50_000_000
_TF_CACHE_S = 24 * 3600.0


class Rosbag:
    """Reads a bag twice: first TF, camera_info and the map, then the images.

    Args:
        path: the bag's folder (metadata.yaml) or its .mcap or .db3 file.
        color_topic, depth_topic: None: the only ones that fit.
        map_frame: the frame of the graph.

    Raises:
        InvalidValueError: no bag, or topics missing or ambiguous.
    """

    def __init__(self, path: Path, color_topic: str | None, depth_topic: str | None, map_frame: str = "map") -> None:
        self.skipped: Counter[str] = Counter()
        self._map_frame = map_frame
        self._path = path if path.is_dir() else path.parent
        with self._open() as reader:
            kinds = {connection.topic: connection.msgtype for connection in reader.connections}
            images = sorted(topic for topic, kind in kinds.items() if kind == "sensor_msgs/msg/Image")
            self._depth = depth_topic or _only([t for t in images if "depth" in t], "depth image", "--depth-topic")
            others = [t for t in images if t != self._depth and "mask" not in t]
            self._color = color_topic or _only(others, "colour image", "--color-topic")
            self._count = sum(c.msgcount for c in reader.connections if c.topic == self._depth)
            self._buffer = tf2_ros.Buffer(cache_time=Duration(seconds=_TF_CACHE_S))
            self._intrinsics: dict[str, Intrinsics] = {}
            self._grid: OccupancyMap | None = None
            for _, message in self._messages(reader, {"tf2_msgs/msg/TFMessage"}):
                self._take_tf(*message)
            for _, (_, info) in self._messages(reader, {"sensor_msgs/msg/CameraInfo"}):
                self._intrinsics[info.header.frame_id] = conversions.intrinsics_from_msg(info)
            for _, (_, grid) in self._messages(reader, {"nav_msgs/msg/OccupancyGrid"}):
                self._grid = conversions.grid_from_msg(grid)

    def __len__(self) -> int:
        return self._count

    def grid(self) -> OccupancyMap | None:
        """Return the last map in the bag."""
        return self._grid

    def images(self) -> Iterator[RgbdImage]:
        """Yield each depth image with the colour image nearest to it in time."""
        waiting: list[Any] = []
        color: Any = None
        with self._open() as reader:
            for _, (topic, image) in self._messages(reader, {"sensor_msgs/msg/Image"}, {self._color, self._depth}):
                if topic == self._color:
                    color = image
                else:
                    waiting.append(image)
                while waiting and color is not None and _stamp(waiting[0]) <= _stamp(color) + _SLOP_NS:
                    yield from self._paired(waiting.pop(0), color)
        if waiting:
            self.skipped["no_color"] += len(waiting)

    def _paired(self, depth: Any, color: Any) -> Iterator[RgbdImage]:
        try:
            if abs(_stamp(depth) - _stamp(color)) > _SLOP_NS:
                raise InputSkippedError("no_color", "no colour image of the same moment")
            yield self._image(depth, color)
        except InputSkippedError as error:
            self.skipped[error.reason] += 1

    def _image(self, depth: Any, color: Any) -> RgbdImage:
        frame = depth.header.frame_id
        intrinsics = self._intrinsics.get(frame) or self._intrinsics.get(color.header.frame_id)
        if intrinsics is None:
            raise InputSkippedError("no_camera_info", f"no camera_info of frame {frame!r}")
        stamp_ns = _stamp(depth)
        return RgbdImage(
            name=f"{stamp_ns}",
            scene="",
            stamp_ns=stamp_ns,
            color=conversions.color_from_msg(color),
            depth_m=conversions.depth_from_msg(depth),
            intrinsics=intrinsics,
            map_T_camera=self._pose(frame, depth.header.stamp),
        )

    def _pose(self, frame: str, stamp: Any) -> Pose:
        try:
            transform = self._buffer.lookup_transform_core(self._map_frame, frame, Time.from_msg(stamp))
        except tf2_ros.TransformException as error:
            raise InputSkippedError("no_transform", str(error)) from error
        return conversions.transform_from_msg(transform.transform)

    def _take_tf(self, topic: str, message: Any) -> None:
        for transform in message.transforms:
            if topic.endswith("tf_static"):
                self._buffer.set_transform_static(transform, "bag")
            else:
                self._buffer.set_transform(transform, "bag")

    def _open(self) -> AnyReader:
        if not self._path.is_dir():
            raise InvalidValueError(f"{self._path} is no rosbag2 folder")
        return AnyReader([self._path])

    def _messages(
        self, reader: AnyReader, kinds: set[str], topics: set[str] | None = None
    ) -> Iterator[tuple[int, tuple[str, Any]]]:
        """Yield (stamp, (topic, message)) of some types; what cannot be decoded is counted."""
        wanted = [c for c in reader.connections if c.msgtype in kinds and (topics is None or c.topic in topics)]
        for connection, stamp_ns, raw in reader.messages(connections=wanted) if wanted else ():
            try:
                message = deserialize_message(bytes(raw), get_message(connection.msgtype))
            except Exception:  # rclpy and ros_embedded name this error differently
                self.skipped["undecodable_message"] += 1
                continue
            yield stamp_ns, (connection.topic, message)


def _stamp(image: Any) -> int:
    return conversions.stamp_from_msg(image.header.stamp)


def _only(topics: list[str], what: str, option: str) -> str:
    if len(topics) != 1:
        found = ", ".join(topics) or "none"
        raise InvalidValueError(f"the bag has {found} as {what} topic; name one with {option}")
    return topics[0]


def is_bag(path: Path) -> bool:
    """Return whether a path is a rosbag2."""
    if path.is_dir():
        return any((path / "metadata.yaml").is_file() or f.suffix in (".db3", ".mcap") for f in path.iterdir())
    return path.suffix in (".db3", ".mcap")
