"""A rosbag2 (sqlite3 or mcap) with RGB, depth, camera_info and TF, read with `rosbags`; no ROS needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader
from rosidl_runtime_py.utilities import get_message

from memory_node.app.ingest.recording import RgbdImage
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics
from memory_node.nodes import conversions
from memory_node.nodes.camera_input import SLOP_S
from memory_node.nodes.inputs.keyframes import OdomJump
from memory_node.nodes.inputs.synchronizer import Synchronizer
from memory_node.nodes.inputs.timeline import Moment, Timeline
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.scene_graph.free_space import OccupancyMap

# TF is read before the images, all of it.
_TF_KEPT_S = 24 * 3600.0
_TF_KEPT_RUNS = 1000


class Rosbag:
    """Reads a bag twice: first TF, camera_info and the map, then the images.

    Args:
        path: the bag's folder (metadata.yaml) or its .mcap or .db3 file.
        config: the memory node's parameters.
        color_topic, depth_topic: None: the only ones that fit.

    Raises:
        InvalidValueError: no bag, or topics missing or ambiguous.
    """

    def __init__(
        self, path: Path, config: MemoryParameters, color_topic: str | None = None, depth_topic: str | None = None
    ) -> None:
        self._clock_jump_s = config.scene_graph.clock_jump_s
        self.skipped: Counter[str] = Counter()
        self._path = path if path.is_dir() else path.parent
        self._transforms = TransformHistory(
            config.map_frame,
            config.tf_timeout_s,
            self._clock_jump_s,
            CorrectionLimits(config.odom_frame if config.corrections != "none" else ""),
            kept_s=_TF_KEPT_S,
            kept_runs=_TF_KEPT_RUNS,
        )
        self._intrinsics: dict[str, Intrinsics] = {}
        self._grid: OccupancyMap | None = None
        self._events: list[tuple[Moment, tuple[int, OccupancyMap] | OdomJump]] = []
        with self._open() as reader:
            self._depth, self._color = _image_topics(reader.connections, depth_topic, color_topic)
            self._count = sum(c.msgcount for c in reader.connections if c.topic == self._depth)
            for _, message in self._messages(reader, {"tf2_msgs/msg/TFMessage"}):
                self._take_tf(*message)
            for _, (_, info) in self._messages(reader, {"sensor_msgs/msg/CameraInfo"}):
                self._intrinsics[info.header.frame_id] = conversions.intrinsics_from_msg(info)
            maps = Timeline(self._clock_jump_s)
            for _, (_, grid) in self._messages(reader, {"nav_msgs/msg/OccupancyGrid"}):
                self._take_map(grid, maps, config.map_frame)
        self._events.sort(key=lambda event: event[0])

    def __len__(self) -> int:
        return self._count

    def grid(self) -> OccupancyMap | None:
        """Return the last map in the bag."""
        return self._grid

    def rest(self) -> tuple[tuple[int, OccupancyMap] | OdomJump, ...]:
        """Return what came after the last image."""
        return tuple(event for _, event in self._events)

    def images(self) -> Iterator[RgbdImage]:
        """Yield each depth image with the colour image of its moment, as the memory node would see them."""
        synchronizer = Synchronizer((self._depth, self._color), SLOP_S, self._count + 1, self._clock_jump_s)
        with self._open() as reader:
            for _, (topic, image) in self._messages(reader, {"sensor_msgs/msg/Image"}, {self._color, self._depth}):
                synchronizer.add(topic, _stamp(image), image)
                yield from self._settled(synchronizer)
        yield from self._settled(synchronizer, nothing_more=True)
        self._count_unsynchronized(len(synchronizer))

    def _settled(self, synchronizer: Synchronizer, nothing_more: bool = False) -> Iterator[RgbdImage]:
        for moment, (depth, color) in synchronizer.settled(nothing_more):
            try:
                yield self._image(moment, depth, color)
            except InputSkippedError as error:
                self.skipped[error.reason] += 1
        self._count_unsynchronized(synchronizer.take_dropped())

    def _count_unsynchronized(self, count: int) -> None:
        if count:
            self.skipped["not_synchronized"] += count

    def _image(self, moment: Moment, depth: Any, color: Any) -> RgbdImage:
        frame = depth.header.frame_id
        intrinsics = self._intrinsics.get(frame) or self._intrinsics.get(color.header.frame_id)
        if intrinsics is None:
            raise InputSkippedError("no_camera_info", f"no camera_info of frame {frame!r}")
        pose = self._transforms.pose(frame, moment) or self._transforms.pose_in_any_run(frame, moment)
        before = [event for at, event in self._events if at <= moment]
        self._events = self._events[len(before) :]
        return RgbdImage(
            name=f"{moment.stamp_ns}",
            scene="",
            stamp_ns=moment.stamp_ns,
            color=conversions.color_from_msg(color),
            depth_m=conversions.depth_from_msg(depth),
            intrinsics=intrinsics,
            map_T_camera=pose,
            before=tuple(before),
        )

    def _take_map(self, msg: Any, maps: Timeline, map_frame: str) -> None:
        map_T_grid = self._transforms.fixed_pose(msg.header.frame_id or map_frame)
        if map_T_grid is None:
            self.skipped["map_frame"] += 1
            return
        self._grid = conversions.grid_from_msg(msg, map_T_grid)
        self._events.append((maps.moment(_stamp(msg)), (_stamp(msg), self._grid)))

    def _take_tf(self, topic: str, message: Any) -> None:
        for transform in message.transforms:
            if topic.endswith("tf_static"):
                self._transforms.add_fixed(transform)
                continue
            jump = self._transforms.add(transform)
            if jump is not None:
                self._events.append((jump.moment, jump))

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


def _image_topics(connections: Iterable[Any], depth: str | None, color: str | None) -> tuple[str, str]:
    """Return the topics of depth and colour images: the given ones, else the only ones that fit."""
    images = sorted({c.topic for c in connections if c.msgtype == "sensor_msgs/msg/Image"})
    depth = depth or _only([topic for topic in images if "depth" in topic], "depth image", "--depth-topic")
    others = [topic for topic in images if topic != depth and "mask" not in topic]
    return depth, color or _only(others, "colour image", "--color-topic")


def _only(topics: list[str], what: str, option: str) -> str:
    if len(topics) != 1:
        found = ", ".join(topics) or "none"
        raise InvalidValueError(f"the bag has {found} as {what} topic; name one with {option}")
    return topics[0]
