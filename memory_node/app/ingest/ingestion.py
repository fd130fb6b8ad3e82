"""One scene's images, maps and corrections go into memory, as the memory node would take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memory_node.app.ingest.recording import Boxes3D, Event, RgbdImage
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.step import DemonstratedStep
from memory_node.memory import RobotMemory
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.keyframes import Keyframes, OdomJump
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.opening import open_memory, stamp_ids
from memory_node.perception.detection import Detector
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.segment_tracker import FollowedSegments
from memory_node.perception.segmentation import GeometricSegmenter
from memory_node.perception.surface import level_pose
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.clip_embedder import ClipEmbedder


class Ingestion:
    """A memory that grows with each image.

    Args:
        config: the memory node's parameters; without `database` the memory is of this process only.
        detector: finds things in the images; None: what came along with them, else geometry alone.
        pictures: tells how things look, by CLIP.
    """

    def __init__(
        self, config: MemoryParameters, detector: Detector | None = None, pictures: ClipEmbedder | None = None
    ) -> None:
        self._memory = _StoredMemory(config) if config.database else _GraphAlone(config)
        self._keyframes = Keyframes(self._memory)
        self._pictures = pictures
        pipeline = PerceptionPipeline(config.perception)
        self._with_detector = FrameMaker(pipeline, detector, self._keyframes.name) if detector is not None else None
        self._with_results = FrameMaker(pipeline, None, self._keyframes.name)
        segments = FollowedSegments(config.segmentation, config.segment_tracker)
        self._alone = FrameMaker(pipeline, None, self._keyframes.name, segments)
        # One view alone is all that there is where nobody knows the camera's pose.
        self._of_one_view = FrameMaker(pipeline, GeometricSegmenter(config.segmentation), self._keyframes.name)

    def take(self, image: RgbdImage) -> Frame:
        """Take in one image with what came before it; return the frame that it became.

        Raises:
            InputSkippedError: it cannot be used.
        """
        self._follow(image.before)
        pose = image.map_T_camera or level_pose(image.depth_m, image.intrinsics)
        if pose is None:
            raise InputSkippedError("no_pose", "neither TF nor a horizontal surface tells how the camera stands")
        told = image.labels is not None or image.detections is not None
        followed = self._alone if image.map_T_camera is not None else self._of_one_view
        maker = self._with_detector or (self._with_results if told else followed)
        frame = maker.make(
            image.stamp_ns, pose, image.intrinsics, image.color, image.depth_m, image.labels, image.detections
        )
        if self._pictures is not None:
            frame = _with_looks(frame, self._pictures)
        self._memory.observe(frame)
        return frame

    def objects(self) -> Sequence[SceneObject]:
        """Return what is remembered now."""
        return self._memory.known()

    def finish(self, rest: Iterable[Event]) -> SceneGraph:
        """Take in what came after the last image and return what is remembered."""
        self._follow(rest)
        return self._memory.finished()

    def _follow(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, OdomJump):
                self._keyframes.follow_jump(event)
                self._alone.start_anew()
            elif isinstance(event, Boxes3D):
                name = self._keyframes.name(event.stamp_ns, event.map_T_sensor)
                pipeline = self._with_results.pipeline
                self._memory.observe(pipeline.observe_3d(event.stamp_ns, event.map_T_sensor, event.detections, name))
            elif isinstance(event, DemonstratedStep):
                self._memory.take_demonstrated(event)
            else:
                stamp_ns, grid = event
                self._memory.lay_map(grid, stamp_ns)


def _with_looks(frame: Frame, pictures: ClipEmbedder) -> Frame:
    """Return a frame whose observations tell how they look."""
    crops = {i: crop for i, observation in enumerate(frame.observations) if (crop := observation.crop())}
    if not crops:
        return frame
    looks = dict(zip(crops, pictures.embed_crops(list(crops.values()))))
    observations = tuple(
        replace(observation, embedding=looks[i]) if i in looks else observation
        for i, observation in enumerate(frame.observations)
    )
    return replace(frame, observations=observations)


class _GraphAlone(SceneGraph):
    """A scene graph of this process."""

    def __init__(self, config: MemoryParameters) -> None:
        super().__init__(config.scene_graph, stamp_ids(config.robot_id, SceneSnapshot(0)))

    def lay_map(self, grid: OccupancyMap, stamp_ns: int) -> None:
        """Lay out areas on a map."""
        self.set_map(grid.cells, grid.resolution_m, grid.map_T_origin, stamp_ns)

    def take_demonstrated(self, shown: DemonstratedStep) -> None:
        """Leave it: a graph knows no episodes."""

    def known(self) -> Sequence[SceneObject]:
        """Return the objects that are remembered now."""
        return self.objects()

    def finished(self) -> SceneGraph:
        """Return it."""
        return self


class _StoredMemory:
    """The memory that a robot's nodes open, in a database; its time is that of the recording."""

    def __init__(self, config: MemoryParameters) -> None:
        self._now_ns = 0
        self._config = config
        self._memory: RobotMemory = open_memory(config, clock=lambda: self._now_ns)

    def observe(self, frame: Frame) -> object:
        """Take in a frame."""
        self._now_ns = frame.stamp_ns
        return self._memory.observe(frame)

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name."""
        return self._memory.keyframes()

    def correct_poses(self, corrected: Mapping[str, Pose]) -> object:
        """Move what was seen from keyframes."""
        return self._memory.correct_poses(corrected)

    def lay_map(self, grid: OccupancyMap, stamp_ns: int) -> None:
        """Lay out areas on a map."""
        self._memory.set_map(grid, stamp_ns)

    def take_demonstrated(self, shown: DemonstratedStep) -> None:
        """Take over a step of a demonstration."""
        self._now_ns = shown.step.stamp_ns
        self._memory.episodes.take_demonstrated(shown)

    def known(self) -> Sequence[SceneObject]:
        """Return the objects that are remembered now."""
        return self._memory.scene().objects

    def finished(self) -> SceneGraph:
        """Make it durable, close it, and return what is remembered."""
        scene = self._memory.scene()
        self._memory.commit()
        self._memory.close()
        return SceneGraph.from_snapshot(scene, self._config.scene_graph)
