"""A rosbag2 (sqlite3 or mcap) with RGB, depth, camera_info and poses, read with `rosbags`; no ROS needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from rosidl_runtime_py.utilities import get_message

from memory_node.app.ingest.bag_files import DEMONSTRATIONS, DETECTIONS_3D, IMAGES, POSES, BagFiles, BagTopics, OpenBag
from memory_node.app.ingest.recording import Boxes3D, Event, Recording, RgbdImage
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.step import DemonstratedStep
from memory_node.nodes import conversions
from memory_node.nodes.camera_input import SLOP_S
from memory_node.nodes.inputs.ordered_inputs import Moment, Synchronizer, Timelines
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.perception.camera_model import Camera, color_in_depth_view, depth_in_color_view
from memory_node.scene_graph.free_space import OccupancyMap


class Odometry:
    """Follows the first topic that tells poses; the frame that they are told in is the map.

    A nav_msgs/Odometry names the frame that it is the pose of. A pose without such a name is that of the camera.
    """

    def __init__(self, map_frame: str, camera_frame: str) -> None:
        self._map_frame = map_frame
        self._camera_frame = camera_frame
        self._topic = ""

    def take(self, topic: str, message: Any, transforms: TransformHistory) -> None:
        """Take in a message.

        Raises:
            InvalidValueError: it tells no pose.
        """
        if self._topic not in ("", topic):
            return
        self._topic = topic
        world = message.header.frame_id.lstrip("/")
        if transforms.knows(world):
            # TF tells where the robot is in that frame: the frame is the map.
            if not transforms.knows(self._map_frame):
                transforms.add_fixed(conversions.transform_to_msg(Pose(), self._map_frame, world, 0))
            return
        pose = message.pose
        while hasattr(pose, "pose"):
            pose = pose.pose
        child = getattr(message, "child_frame_id", "") or self._camera_frame
        stamp_ns = conversions.stamp_from_msg(message.header.stamp)
        transforms.add(conversions.transform_to_msg(conversions.pose_from_msg(pose), self._map_frame, child, stamp_ns))


# TF is read before the images, all of it.
_TF_KEPT_S = 24 * 3600.0
_TF_KEPT_RUNS = 1000


class Rosbag(Recording):
    """Reads a bag twice: first poses, camera_info, the map, 3D detections and demonstrations, then the images.

    Args:
        path: the bag's folder, or a .mcap or .db3 file.
        config: the memory node's parameters.
        color_topic, depth_topic: None: the only ones that fit.
        stride: take every so many depth images.

    Raises:
        InvalidValueError: no bag, or topics missing or ambiguous; only of a demonstration there need be no images.
    """

    def __init__(
        self,
        path: Path,
        config: MemoryParameters,
        color_topic: str | None = None,
        depth_topic: str | None = None,
        stride: int = 1,
    ) -> None:
        super().__init__()
        self._config = config
        self._stride = stride
        self._files = BagFiles(path)
        self._clock_jump_s = config.scene_graph.clock_jump_s
        self._transforms = self._new_transforms()
        self._cameras: dict[str, Camera] = {}
        self._grid: OccupancyMap | None = None
        self._events: list[tuple[Moment, Event]] = []
        with self._files.open() as bag:
            kinds = {connection.msgtype for connection in bag.connections}
            sees = DEMONSTRATIONS not in kinds or not kinds.isdisjoint(IMAGES)
            self._topics = BagTopics.of(bag.connections, depth_topic, color_topic) if sees else BagTopics("", "")
            self._count = sum(c.msgcount for c in bag.connections if c.topic == self._topics.depth)
            for topic, message in self._messages(bag, {"tf2_msgs/msg/TFMessage"}):
                self._take_tf(topic, message)
            self._take_odometry(bag)
            for _, info in self._messages(bag, {"sensor_msgs/msg/CameraInfo"}):
                self._take_camera(info)
            maps = Timelines(("maps",), self._clock_jump_s)
            for _, grid in self._messages(bag, {"nav_msgs/msg/OccupancyGrid"}):
                self._take_map(grid, maps, config.map_frame)
            boxes = Timelines(("boxes",), self._clock_jump_s)
            for _, message in self._messages(bag, {DETECTIONS_3D}):
                self._take_boxes(message, boxes)
            self._take_demonstrations(bag)
        self._events.sort(key=lambda event: event[0])

    def __len__(self) -> int:
        return (self._count + self._stride - 1) // self._stride

    def grid(self) -> OccupancyMap | None:
        """Return the last map in the bag."""
        return self._grid

    def rest(self) -> tuple[Event, ...]:
        """Return what came after the last image."""
        return tuple(event for _, event in self._events)

    def _images(self) -> Iterator[RgbdImage]:
        """Yield each depth image with what else is of its moment, as the memory node would see them."""
        streams = self._topics.streams
        if not streams:
            return
        synchronizer = Synchronizer(streams, SLOP_S, self._count + 1, self._clock_jump_s)
        number = 0
        with self._files.open() as bag:
            for topic, image in self._messages(bag, set(IMAGES) | {self._topics.detections_kind}, set(streams)):
                if topic == self._topics.depth:
                    number += 1
                    if (number - 1) % self._stride:
                        continue
                synchronizer.add(topic, _stamp(image), image)
                yield from self._settled(synchronizer)
        yield from self._settled(synchronizer, nothing_more=True)
        if self._stride == 1:
            self._count_unsynchronized(len(synchronizer))

    def _settled(self, synchronizer: Synchronizer, nothing_more: bool = False) -> Iterator[RgbdImage]:
        for moment, messages in synchronizer.settled(nothing_more):
            by_topic = dict(zip(self._topics.streams, messages))
            try:
                yield self._image(moment, by_topic)
            except InputSkippedError as error:
                self.skipped.note(error, f"depth image of {moment.stamp_ns}")
        self._count_unsynchronized(synchronizer.take_dropped())

    def _count_unsynchronized(self, count: int) -> None:
        if count:
            self.skipped["not_synchronized"] += count

    def _image(self, moment: Moment, messages: dict[str, Any]) -> RgbdImage:
        topics = self._topics
        view = self._view(moment, messages[topics.depth], messages[topics.color])
        before = [event for at, event in self._events if at <= moment]
        self._events = self._events[len(before) :]
        labels = messages.get(topics.labels) if topics.labels else None
        found = messages.get(topics.detections) if topics.detections else None
        return RgbdImage(
            name=f"{moment.stamp_ns}",
            scene="",
            stamp_ns=moment.stamp_ns,
            color=view.color,
            depth_m=view.depth_m,
            intrinsics=view.intrinsics,
            map_T_camera=view.map_T_camera,
            before=tuple(before),
            labels=None if labels is None else conversions.labels_from_msg(labels),
            detections=None if found is None else tuple(conversions.detections_from_msg(found)),
        )

    def _view(self, moment: Moment, depth: Any, color: Any) -> _View:
        """Return colour and depth as one camera sees them: the colour camera where both are known with their places."""
        depth_frame, color_frame = depth.header.frame_id, color.header.frame_id
        camera = self._cameras.get(depth_frame) or self._cameras.get(color_frame)
        if camera is None:
            raise InputSkippedError("no_camera_info", f"no camera_info of frame {depth_frame!r}")
        map_T_depth = self._pose(depth_frame, moment)
        depth_m, intrinsics = camera.rectified_depth(conversions.depth_from_msg(depth))
        rgb = conversions.color_from_msg(color)
        own = self._cameras.get(color_frame, camera)
        if own is camera:
            return _View(camera.rectified_color(rgb), depth_m, intrinsics, map_T_depth)
        if self._transforms.knows(color_frame):
            map_T_color, view = self._pose(color_frame, moment), own.intrinsics(rgb.shape)
            seen_m = depth_in_color_view(depth_m, intrinsics, map_T_color.inverse() @ map_T_depth, view)
            return _View(own.rectified_color(rgb), seen_m, view, map_T_color)
        # Nothing tells how far the cameras are apart.
        return _View(color_in_depth_view(rgb, own, depth_m, intrinsics), depth_m, intrinsics, map_T_depth)

    def _pose(self, frame: str, moment: Moment) -> Pose:
        return self._transforms.pose(frame, moment) or self._transforms.pose_in_any_run(frame, moment)

    def _new_transforms(self) -> TransformHistory:
        config = self._config
        follows = config.corrections != "none"
        limits = CorrectionLimits(config.odom_frame, corrects=follows, held_s=config.localizer_timeout_s)
        return TransformHistory(
            config.map_frame, config.tf_timeout_s, self._clock_jump_s, limits, _TF_KEPT_S, _TF_KEPT_RUNS
        )

    def _take_camera(self, info: Any) -> None:
        try:
            self._cameras[info.header.frame_id] = conversions.camera_from_msg(info)
        except InvalidValueError as error:
            self.skipped.note(InputSkippedError("camera_info", str(error)), f"camera_info of {info.header.frame_id}")

    def _take_map(self, msg: Any, maps: Timelines, map_frame: str) -> None:
        map_T_grid = self._transforms.fixed_pose(msg.header.frame_id or map_frame)
        if map_T_grid is None:
            self.skipped["map_frame"] += 1
            return
        self._grid = conversions.grid_from_msg(msg, map_T_grid)
        self._events.append((maps.moment("maps", _stamp(msg)), (_stamp(msg), self._grid)))

    def _take_boxes(self, msg: Any, boxes: Timelines) -> None:
        moment = boxes.moment("boxes", _stamp(msg))
        try:
            frame = msg.header.frame_id
            pose = self._pose(frame, moment)
            found = tuple(conversions.detections_3d_from_msg(msg))
        except InputSkippedError as error:
            self.skipped.note(error, f"3D detections of {moment.stamp_ns}")
        except InvalidValueError as error:
            self.skipped.note(InputSkippedError("invalid_value", str(error)), f"3D detections of {moment.stamp_ns}")
        else:
            self._events.append((moment, Boxes3D(moment.stamp_ns, pose, found)))

    def _take_demonstrations(self, bag: OpenBag) -> None:
        times = Timelines(("demonstrations",), self._clock_jump_s)
        last: dict[str, tuple[Moment, DemonstratedStep]] = {}
        for topic, message in self._messages(bag, {DEMONSTRATIONS}):
            try:
                shown = conversions.demonstrated_from_msg(message)
            except InvalidValueError as error:
                self.skipped.note(InputSkippedError("invalid_value", str(error)), topic)
                continue
            moment = times.moment("demonstrations", shown.step.stamp_ns)
            last[shown.step.episode_id] = moment, replace(shown, changes=(), has_ended=True)
            self._events.append((moment, shown))
        self._events += last.values()  # a recording may end before what it shows is said to

    def _take_tf(self, topic: str, message: Any) -> None:
        for transform in message.transforms:
            try:
                if topic.endswith("tf_static"):
                    self._transforms.add_fixed(transform)
                    continue
                jump = self._transforms.add(transform)
            except InvalidValueError as error:
                self.skipped.note(
                    InputSkippedError("invalid_value", str(error)), f"{topic}: {transform.child_frame_id}"
                )
                continue
            if jump is not None:
                self._events.append((jump.moment, jump))

    def _take_odometry(self, bag: OpenBag) -> None:
        """Where TF does not know the map, follow an odometry or pose topic instead."""
        if self._transforms.knows(self._config.map_frame):
            return
        first = next(self._messages(bag, set(IMAGES), {self._topics.depth}), None)
        told = Odometry(self._config.map_frame, "" if first is None else first[1].header.frame_id)
        for topic, message in self._messages(bag, set(POSES)):
            try:
                told.take(topic, message, self._transforms)
            except InvalidValueError as error:
                self.skipped.note(InputSkippedError("invalid_value", str(error)), topic)

    def _messages(self, bag: OpenBag, kinds: set[str], topics: set[str] | None = None) -> Iterator[tuple[str, Any]]:
        """Yield (topic, message) of some types; what cannot be decoded is counted."""
        wanted = [c for c in bag.connections if c.msgtype in kinds and (topics is None or c.topic in topics)]
        for connection, raw in bag.messages(wanted):
            try:
                message = deserialize_message(raw, get_message(connection.msgtype))
            except Exception:  # rclpy and ros_embedded name this error differently
                self.skipped.note(InputSkippedError("undecodable_message", connection.topic), connection.topic)
                continue
            yield connection.topic, message


@dataclass(frozen=True, eq=False)
class _View:
    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    intrinsics: Intrinsics
    map_T_camera: Pose


def _stamp(message: Any) -> int:
    return conversions.stamp_from_msg(message.header.stamp)
