"""Camera topics become memory, stage by stage: message, synchronised, posed, perceived, remembered.

The callbacks of topics put messages together and into a queue. One thread takes them out in the order of their stamps
and does the rest, one input after the other, so that the same recording gives the same memory at any rate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
from nav_msgs.msg import OccupancyGrid, Path
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CameraInfo
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3DArray

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.process import WorkerThread
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import INTERNAL_ERROR, Diagnosis, InputCounters, StageGuard
from memory_node.nodes.inputs.arrivals import Arrival, ArrivalPoses, Images, Posed, RgbdCamera, Single, Unread
from memory_node.nodes.inputs.camera_topics import COLOR, DEPTH, DETECTIONS, MASKS, STREAMS, profile_of, topic_of
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.frame_watch import ContentWatch, FrameWatch
from memory_node.nodes.inputs.keyframes import Keyframes, OdomJump
from memory_node.nodes.inputs.ordered_inputs import OrderedInputs, Synchronizer, Timelines
from memory_node.nodes.inputs.stream_watch import StreamWatch
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.side_node import SideNode
from memory_node.perception.still_view import StillView

# Colour, depth, masks and detections of one moment may be stamped this far apart.
SLOP_S = 0.05
_FIXED_TF = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_STOP_S = 10.0


class CameraInput:
    """Takes in a camera, TF, the map and SLAM's corrections.

    Args:
        node: the node that listens.
        config: its parameters.
        maker: perception.
        keyframes: follows corrections.
        counters: what was used and skipped.
        remember: called with each frame in the map and its colour image (h, w, 3), if it has one, from the one thread.
        lay_map: called by the same thread with each grid and where the grid's frame lies in the map.
    """

    def __init__(
        self,
        node: Node,
        config: MemoryParameters,
        maker: FrameMaker,
        keyframes: Keyframes,
        counters: InputCounters,
        remember: Callable[[Frame, NDArray[np.uint8] | None], object],
        lay_map: Callable[[OccupancyGrid, Pose], object],
    ) -> None:
        self._config = config
        self._logger = node.get_logger()
        self._maker = maker
        self._keyframes = keyframes
        self._counters = counters
        self._remember = remember
        self._lay_map = lay_map
        self._guard = StageGuard(counters, self._logger)
        self._synchronizing = threading.RLock()
        self._camera = RgbdCamera(config.depth_registration)
        jump_s = config.scene_graph.clock_jump_s
        follows = config.corrections != "none"
        limits = CorrectionLimits(config.odom_frame, corrects=follows, held_s=config.localizer_timeout_s)
        transforms = TransformHistory(config.map_frame, config.tf_timeout_s, jump_s, limits)

        def refuse(error: Exception) -> None:
            self._guard.skip(InputSkippedError("invalid_value", f"/tf: {error}"))

        self._poses = ArrivalPoses(self._camera, transforms, refuse)
        # Each counts its own runs, so that it does not matter which tells first that the clock was set back.
        self._timelines = {kind: Timelines((), jump_s) for kind in (OccupancyGrid, Path, Detection3DArray)}
        self._streams = (DEPTH, COLOR, *STREAMS[config.detections])
        self._synchronizer = Synchronizer(self._streams, SLOP_S, config.queue_size, jump_s)
        self._queue: OrderedInputs[Arrival, Posed] = OrderedInputs(
            self._poses.posed,
            config.tf_timeout_s,
            config.queue_size,
            config.most_behind,
            partial(self._put_settled, nothing_more=True),
            self._guard.skip,
            lambda: counters.dropped("behind"),
        )
        self._watch = FrameWatch(config.frames_unused_s)
        self._stream_watch = StreamWatch(node, config.frames_unused_s, jump_s)
        self._content_watch = ContentWatch(config.perception)
        self._still_view = StillView(config.still_period_s)
        self._thread = WorkerThread("inputs", self._work_off)
        # Services, /tf and images are each taken by a thread of their own.
        self._sides = [self._tf_node(node), self._camera_node(node)]
        for side in self._sides:
            side.start()
        self._thread.start()

    def stop(self) -> None:
        """Finish the input that is being worked on, and take no more."""
        for side in self._sides:
            side.stop()
        self._queue.stop()
        self._thread.join(_STOP_S)

    def diagnosis(self) -> Diagnosis:
        """Return what was used and skipped, and whether the robot still sees."""
        failed, unused_s, silent_s = self._counters.of(INTERNAL_ERROR), self._watch.unused_s(), self._watch.silent_s()
        causes = (*self._stream_watch.problems(), *self._content_watch.problems())
        problem = f"{failed} inputs failed by an internal error, which the log tells"
        why = f"; the last one was skipped: {self._counters.last_skip}" if self._counters.last_skip else ""
        blind = f"frames come, but for {unused_s:.0f} s none has been used{why}"
        silent = f"no frame has come for {silent_s:.0f} s"
        return Diagnosis(
            self._counters.values(),
            problems=(*causes, problem) if failed else causes,
            failures=(blind,) if unused_s else (),
            stale=(silent,) if silent_s else (),
        )

    # --- messages: from topics, side by side -----------------------------------------------------

    def _tf_node(self, node: Node) -> SideNode:
        side = SideNode(node, "tf")
        side.subscribe(TFMessage, "/tf", self._guard.guarded("/tf", self._on_tf), QoSProfile(depth=300))
        side.subscribe(TFMessage, "/tf_static", self._guard.guarded("/tf_static", self._on_fixed_tf), _FIXED_TF)
        return side

    def _camera_node(self, node: Node) -> SideNode:
        config, side = self._config, SideNode(node, "camera")
        camera = profile_of(config.camera_reliability, config.queue_size)
        results = profile_of(config.detections_reliability, config.queue_size)
        profiles = {DEPTH: camera, COLOR: camera, MASKS: results, DETECTIONS: results}
        listened: list[tuple[type, str, Callable[[Unread], None], QoSProfile]] = [
            (*topic_of(stream, config.image_transport), self._adder(stream), profiles[stream])
            for stream in (self._streams if config.detections != "none" else ())
        ]
        listened += [
            (CameraInfo, "camera/color/camera_info", self._info_taker(self._camera.take_info), camera),
            (Detection3DArray, "detections_3d", self._on_single, results),
            (OccupancyGrid, "map", self._on_single, LATCHED),
        ]
        if config.depth_registration == "tf":
            take_info = self._info_taker(partial(self._camera.take_info, of_depth=True))
            listened.append((CameraInfo, "camera/depth/camera_info", take_info, camera))
        if config.corrections == "path":
            listened.append((Path, "optimized_path", self._on_single, QoSProfile(depth=10)))
        by_images = {topic for _, topic, _, profile in listened if profile is camera or profile is results}
        needed = {"detections_3d"} if config.detections == "none" else by_images - {"detections_3d"}
        for kind, topic, take, profile in listened:
            heard = self._guard.guarded(topic, self._reading(kind, topic, take))
            adapts = profile is camera and config.camera_reliability == "auto"
            subscription = (side.subscribe_adaptively if adapts else side.subscribe)(kind, topic, heard, profile)
            parameter = {id(camera): "camera_reliability", id(results): "detections_reliability"}.get(id(profile), "")
            is_timed = kind not in (CameraInfo, OccupancyGrid)
            self._stream_watch.listen(topic, subscription, parameter, topic in needed, is_timed)
        return side

    def _reading(self, kind: type, topic: str, take: Callable[[Unread], None]) -> Callable[[bytes], None]:
        def on_message(data: bytes) -> None:
            unread = Unread.of(kind, data)
            self._stream_watch.came(topic, unread.stamp_ns)
            take(unread)

        return on_message

    def _info_taker(self, take: Callable[[CameraInfo], None]) -> Callable[[Unread], None]:
        last = b""

        def on_info(unread: Unread) -> None:
            nonlocal last
            told = unread.data[unread.body :]
            if told != last:  # it hardly ever changes
                take(unread.read())
                last = told
                self._queue.stir()

        return on_info

    def _on_tf(self, data: bytes) -> None:
        for jump in self._poses.take(data):
            self._queue.put(jump.moment, jump, droppable=False)
        self._stream_watch.tf_came(self._poses.newest_ns)
        self._queue.stir()

    def _on_fixed_tf(self, data: bytes) -> None:
        for transform in deserialize_message(data, TFMessage).transforms:
            with self._guard.stage("/tf_static"):  # separately, so that a faulty one does not affect the others
                self._poses.add_fixed(transform)
        self._queue.stir()

    def _on_single(self, unread: Unread) -> None:
        is_seen = unread.kind is Detection3DArray
        if is_seen:
            self._watch.came()
        moment = self._timelines[unread.kind].moment("", unread.stamp_ns)
        self._queue.put(moment, Single(moment, unread), droppable=is_seen)

    # --- synchronised: images and detections of one moment ---------------------------------------

    def _adder(self, stream: str) -> Callable[[Unread], None]:
        def add(unread: Unread) -> None:
            if stream == DEPTH:
                self._watch.came()
            with self._synchronizing:
                self._synchronizer.add(stream, unread.stamp_ns, unread)
                self._put_settled()

        return add

    def _is_at_rest(self, stamp_ns: int) -> bool:
        rest_s = self._still_view.rest_s(stamp_ns)
        if rest_s > 0.0:
            self._leave_out(rest_s)
        return rest_s > 0.0

    def _leave_out(self, rest_s: float) -> None:
        """Count images at rest; no message is urgent for so long."""
        self._counters.dropped("still")
        for side in self._sides:
            side.pause(rest_s)

    def _put_settled(self, nothing_more: bool = False) -> None:
        with self._synchronizing:
            for moment, (depth, color, *results) in self._synchronizer.settled(nothing_more):
                if self._is_at_rest(moment.stamp_ns):
                    continue
                by_topic = dict(zip(STREAMS[self._config.detections], results))
                self._queue.put(moment, Images(moment, depth, color, by_topic), is_picture=True)
            for _ in range(self._synchronizer.take_dropped()):
                self._guard.skip(
                    InputSkippedError("not_synchronized", "no messages of the same moment on the other topics")
                )

    # --- one input after the other, in the order of their stamps ---------------------------------

    def _work_off(self) -> None:
        while not self._queue.stopped:
            with self._guard.stage("inputs"):
                posed = self._queue.take()
                if posed is not None:
                    self._take_in(posed)

    def _take_in(self, posed: Posed) -> None:
        arrival = posed.arrival
        if isinstance(arrival, OdomJump):
            self._follow_jump(arrival)
        elif isinstance(arrival, Single) and arrival.kind is Path:
            self._follow_path(arrival.unread.read())
        elif isinstance(arrival, Single) and arrival.kind is OccupancyGrid:
            self._lay_map(arrival.unread.read(), posed.map_T_frame)
        else:
            map_T_sensor = self._keyframes.pose_now(arrival.moment, posed.map_T_frame)
            if isinstance(arrival, Single):
                self._remember(self._frame_of_boxes(arrival, map_T_sensor), None)
                self._counters.used("frames")
            else:
                self._look_at(arrival, map_T_sensor, posed.frame_T_depth)
            self._watch.used()

    def _look_at(self, images: Images, map_T_camera: Pose, camera_T_depth: Pose | None) -> None:
        stamp_ns = images.moment.stamp_ns
        if self._is_at_rest(stamp_ns):  # also when it had come while the one before it was being compared
            return
        color, depth_m = self._camera.pictures(images)
        if not self._still_view.is_wanted(stamp_ns, map_T_camera, color, depth_m):
            self._leave_out(self._still_view.rest_s(stamp_ns))
            return
        color, depth_m, intrinsics = self._camera.view(color, depth_m, camera_T_depth)
        frame = self._frame_of_images(images, map_T_camera, color, depth_m, intrinsics)
        self._remember(frame, color)
        self._still_view.used(stamp_ns)
        self._counters.used("frames")

    # --- perceived: what was seen, in the map ----------------------------------------------------

    def _frame_of_boxes(self, boxes: Single, map_T_sensor: Pose) -> Frame:
        stamp_ns = boxes.moment.stamp_ns
        detections = conversions.detections_3d_from_msg(boxes.unread.read())
        self._content_watch.saw_classes(name for one in detections for name in one.class_scores)
        keyframe = self._keyframes.name(stamp_ns, map_T_sensor)
        return self._maker.pipeline.observe_3d(stamp_ns, map_T_sensor, detections, keyframe)

    def _frame_of_images(
        self,
        images: Images,
        map_T_camera: Pose,
        color: NDArray[np.uint8],
        depth_m: NDArray[np.float32],
        intrinsics: Intrinsics,
    ) -> Frame:
        self._content_watch.saw_camera(self._camera.frame_of(images), map_T_camera)
        self._content_watch.saw_depth(depth_m)
        masks, found = images.results.get(MASKS), images.results.get(DETECTIONS)
        detections = conversions.detections_from_msg(found.read()) if found is not None else None
        self._content_watch.saw_classes(name for one in detections or () for name in one.class_scores)
        return self._maker.make(
            images.moment.stamp_ns,
            map_T_camera,
            intrinsics,
            color,
            depth_m,
            conversions.labels_from_msg(masks.read()) if masks is not None else None,
            detections,
        )

    # --- corrected: SLAM moves remembered objects -----------------------------------------------------

    def _follow_jump(self, jump: OdomJump) -> None:
        self._maker.start_anew()
        if self._config.corrections == "path":  # the path tells what moved, and by how much
            self._keyframes.note_jump(jump)
            return
        self._keyframes.follow_jump(jump)
        if jump.new_T_old is None:
            self._logger.info(f"{self._config.odom_frame} is on another floor now")
            return
        self._counters.used("corrections")
        x, y, _ = jump.new_T_old.position
        self._logger.info(f"SLAM moved {self._config.odom_frame} by ({x:.2f}, {y:.2f}) m: memory follows")

    def _follow_path(self, msg: Path) -> None:
        if msg.header.frame_id.lstrip("/") != self._config.map_frame:
            raise InputSkippedError("path_frame", f"expected poses in {self._config.map_frame}")
        self._keyframes.follow_path(conversions.path_from_msg(msg))
        self._maker.start_anew()
        self._counters.used("corrections")
