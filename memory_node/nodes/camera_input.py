"""Camera topics become frames in the map, in the order of their stamps; what is unusable is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from nav_msgs.msg import OccupancyGrid, Path
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection2DArray, Detection3DArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import InputCounters
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.keyframes import Keyframes, OdomJump
from memory_node.nodes.inputs.ordered_inputs import OrderedInputs, Work
from memory_node.nodes.inputs.synchronizer import Synchronizer
from memory_node.nodes.inputs.timeline import Moment, Timeline
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.nodes.qos import LATCHED

# Colour, depth, masks and detections of one moment may be stamped this far apart.
SLOP_S = 0.05
DEPTH, COLOR, MASKS, DETECTIONS = "camera/depth/image_raw", "camera/color/image_raw", "detections/masks", "detections"
# What comes with the images, by the parameter `detections`.
STREAMS = {"boxes": (MASKS, DETECTIONS), "rectangles": (DETECTIONS,), "labels": (MASKS,), "segment": (), "none": ()}


class CameraInput:
    """Subscribes to a camera, TF, the map and SLAM's corrections, and hands them on in the order of their stamps.

    Args:
        node: the node that listens.
        config: its parameters.
        maker: perception.
        keyframes: follows corrections.
        counters: what was used and skipped.
        on_frame, on_map: called with each frame in the map, and with each grid and where its frame lies in the map; one
            at a time, from one thread.
    """

    def __init__(
        self,
        node: Node,
        config: MemoryParameters,
        maker: FrameMaker,
        keyframes: Keyframes,
        counters: InputCounters,
        on_frame: Callable[[Frame], object],
        on_map: Callable[[OccupancyGrid, Pose], object],
    ) -> None:
        self._node = node
        self._config = config
        self._maker = maker
        self._keyframes = keyframes
        self._counters = counters
        self._on_frame = on_frame
        self._on_map = on_map
        self._intrinsics: Intrinsics | None = None
        limits = CorrectionLimits(config.odom_frame if config.corrections != "none" else "")
        self._transforms = TransformHistory(
            config.map_frame, config.tf_timeout_s, config.scene_graph.clock_jump_s, limits
        )
        self._lock = threading.Lock()
        self._others = {
            kind: Timeline(config.scene_graph.clock_jump_s) for kind in (OccupancyGrid, Path, Detection3DArray)
        }
        streams = (DEPTH, COLOR, *STREAMS[config.detections])
        self._synchronizer = Synchronizer(streams, SLOP_S, config.queue_size, config.scene_graph.clock_jump_s)
        self._inputs = OrderedInputs(config.tf_timeout_s, config.queue_size, self._settle_the_rest, self._skip)
        self._subscribe(streams if config.detections != "none" else ())
        self._inputs.start()

    def stop(self) -> None:
        """Finish the frame that is being worked on, and take no more."""
        self._inputs.stop()

    def _subscribe(self, streams: tuple[str, ...]) -> None:
        camera = self._profile(self._config.camera_reliability)
        results = self._profile(self._config.detections_reliability)
        listened: list[tuple[type, str, Callable[[Any], None], QoSProfile]] = [
            (Image if name != DETECTIONS else Detection2DArray, name, self._listener(name), profile)
            for name, profile in zip(streams, (camera, camera, results, results))
        ]
        dynamic = QoSProfile(depth=100)
        fixed = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        listened += [
            (CameraInfo, "camera/color/camera_info", self._on_info, camera),
            (Detection3DArray, "detections_3d", self._on_3d, results),
            (TFMessage, "/tf", self._on_tf, dynamic),
            (TFMessage, "/tf_static", self._on_fixed_tf, fixed),
            (OccupancyGrid, "map", self._on_grid, LATCHED),
        ]
        if self._config.corrections == "path":
            listened.append((Path, "optimized_path", self._on_path, QoSProfile(depth=10)))
        for kind, topic, callback, profile in listened:
            group = MutuallyExclusiveCallbackGroup()  # one topic's messages in their order, topics side by side
            self._node.create_subscription(kind, topic, callback, profile, callback_group=group)

    def _profile(self, reliability: str) -> QoSProfile:
        policy = ReliabilityPolicy.BEST_EFFORT if reliability == "best_effort" else ReliabilityPolicy.RELIABLE
        return QoSProfile(depth=self._config.queue_size, reliability=policy)

    # --- what comes, in any order ----------------------------------------------------------------

    def _listener(self, stream: str) -> Callable[[Any], None]:
        def on_message(msg: Any) -> None:
            with self._lock:
                self._synchronizer.add(stream, conversions.stamp_from_msg(msg.header.stamp), msg)
                self._take_settled()

        return on_message

    def _settle_the_rest(self) -> None:
        with self._lock:
            self._take_settled(nothing_more=True)

    def _take_settled(self, nothing_more: bool = False) -> None:
        for moment, messages in self._synchronizer.settled(nothing_more):
            self._inputs.put(moment, partial(self._see, moment, messages))
        for _ in range(self._synchronizer.take_dropped()):
            self._skip(InputSkippedError("not_synchronized", "no messages of the same moment on the other topics"))

    def _on_info(self, msg: CameraInfo) -> None:
        try:
            self._intrinsics = conversions.intrinsics_from_msg(msg)
            self._inputs.stir()
        except InvalidValueError as error:
            self._skip(InputSkippedError("camera_info", str(error)))

    def _on_tf(self, msg: TFMessage) -> None:
        with self._lock:
            jumps = [self._transforms.add(transform) for transform in msg.transforms]
        for jump in filter(None, jumps):
            self._inputs.put(jump.moment, self._doing(self._follow_jump, jump), droppable=False)
        self._inputs.stir()

    def _on_fixed_tf(self, msg: TFMessage) -> None:
        with self._lock:
            for transform in msg.transforms:
                self._transforms.add_fixed(transform)
        self._inputs.stir()

    def _on_3d(self, msg: Detection3DArray) -> None:
        moment = self._moment(msg)
        self._inputs.put(moment, partial(self._see_3d, moment, msg))

    def _on_grid(self, msg: OccupancyGrid) -> None:
        self._inputs.put(self._moment(msg), partial(self._lay, msg), droppable=False)

    def _on_path(self, msg: Path) -> None:
        self._inputs.put(self._moment(msg), self._doing(self._follow_path, msg), droppable=False)

    def _moment(self, msg: Any) -> Moment:
        return self._others[type(msg)].moment(conversions.stamp_from_msg(msg.header.stamp))

    # --- what is done, in the order of the stamps ------------------------------------------------

    def _see(self, moment: Moment, messages: tuple[Any, ...], last_call: bool) -> bool:
        """Take a frame in; return False while it has to wait for TF or camera_info."""
        depth, color, *results = messages
        if self._intrinsics is None and not last_call:
            return False
        return self._in_map(depth, moment, last_call, lambda pose: self._perceive(moment, pose, depth, color, results))

    def _see_3d(self, moment: Moment, msg: Detection3DArray, last_call: bool) -> bool:
        def perceive(sensor_pose: Pose) -> Frame:
            detections = conversions.detections_3d_from_msg(msg)
            keyframe = self._keyframes.name(moment.stamp_ns, sensor_pose)
            return self._maker.pipeline.observe_3d(moment.stamp_ns, sensor_pose, detections, keyframe)

        return self._in_map(msg, moment, last_call, perceive)

    def _in_map(self, msg: Any, moment: Moment, last_call: bool, perceive: Callable[[Pose], Frame]) -> bool:
        try:
            with self._lock:
                pose = self._transforms.pose(msg.header.frame_id, moment)
                if pose is None and not last_call:
                    return False
                pose = pose or self._transforms.pose_in_any_run(msg.header.frame_id, moment)
        except InputSkippedError as error:
            self._skip(error)
            return True
        return self._do(lambda: self._hand_on(perceive(self._keyframes.pose_now(moment, pose))))

    def _lay(self, msg: OccupancyGrid, last_call: bool) -> bool:
        """Take a grid in; return False while it has to wait for the fixed transform to the map of its floor."""
        frame = msg.header.frame_id or self._config.map_frame
        with self._lock:
            map_T_grid = self._transforms.fixed_pose(frame)
        if map_T_grid is not None:
            return self._do(partial(self._on_map, msg, map_T_grid))
        if last_call:
            self._skip(InputSkippedError("map_frame", f"/tf_static does not tell where {frame} lies in the map"))
        return last_call

    def _perceive(self, moment: Moment, pose: Pose, depth: Image, color: Image, results: list[Any]) -> Frame:
        if self._intrinsics is None:
            raise InputSkippedError("no_camera_info", "no usable camera_info has come yet")
        by_name = dict(zip(STREAMS[self._config.detections], results))
        masks, found = by_name.get(MASKS), by_name.get(DETECTIONS)
        return self._maker.make(
            moment.stamp_ns,
            pose,
            self._intrinsics,
            conversions.color_from_msg(color),
            conversions.depth_from_msg(depth),
            conversions.labels_from_msg(masks) if masks is not None else None,
            conversions.detections_from_msg(found) if found is not None else None,
        )

    def _hand_on(self, frame: Frame) -> None:
        self._on_frame(frame)
        self._counters.used("frames")

    def _follow_jump(self, jump: OdomJump) -> None:
        if self._config.corrections == "path":  # the path tells what moved, and by how much
            self._keyframes.note_jump(jump)
            return
        self._keyframes.follow_jump(jump)
        if jump.new_T_old is None:
            self._node.get_logger().info(f"{self._config.odom_frame} is on another floor now")
            return
        self._counters.used("corrections")
        x, y, _ = jump.new_T_old.position
        self._node.get_logger().info(f"SLAM moved {self._config.odom_frame} by ({x:.2f}, {y:.2f}) m: memory follows")

    def _follow_path(self, msg: Path) -> None:
        if msg.header.frame_id.lstrip("/") != self._config.map_frame:
            raise InputSkippedError("path_frame", f"expected poses in {self._config.map_frame}")
        self._keyframes.follow_path(conversions.path_from_msg(msg))
        self._counters.used("corrections")

    def _doing(self, work: Callable[[Any], object], msg: Any) -> Work:
        return lambda _: self._do(partial(work, msg))

    def _do(self, work: Callable[[], object]) -> bool:
        """Do it, count what cannot be done, and return True: it need not wait."""
        try:
            work()
        except InputSkippedError as error:
            self._skip(error)
        except InvalidValueError as error:
            self._skip(InputSkippedError("invalid_value", str(error)))
        except Exception as error:
            self._skip(InputSkippedError("internal_error", f"{type(error).__name__}: {error}"))
        return True

    def _skip(self, error: InputSkippedError) -> None:
        self._counters.skipped(error)
        self._node.get_logger().warning(f"skipped an input: {error}", throttle_duration_sec=5.0)
