"""One scene's images, maps and corrections go into a scene graph, as the memory node would take them."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.app.ingest.recording import RgbdImage
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.observation import Frame
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.keyframes import Keyframes, OdomJump
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.opening import stamp_ids
from memory_node.perception.level_pose import level_pose
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.segmentation import GeometricSegmenter
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph import SceneGraph


class Ingestion:
    """A scene graph that grows with each image; config: the memory node's parameters."""

    def __init__(self, config: MemoryParameters) -> None:
        self._graph = SceneGraph(config.scene_graph, stamp_ids(config.robot_id))
        self._keyframes = Keyframes(self._graph)
        segmenter = GeometricSegmenter(config.segmentation)
        self._maker = FrameMaker(PerceptionPipeline(config.perception), segmenter, self._keyframes.name)

    def take(self, image: RgbdImage) -> Frame:
        """Take in one image with what came before it; return the frame that it became.

        Raises:
            InputSkippedError: it cannot be used.
        """
        self._follow(image.before)
        pose = image.map_T_camera or level_pose(image.depth_m, image.intrinsics)
        if pose is None:
            raise InputSkippedError("no_pose", "neither TF nor a horizontal surface tells how the camera stands")
        frame = self._maker.make(image.stamp_ns, pose, image.intrinsics, image.color, image.depth_m)
        self._graph.observe(frame)
        return frame

    def finish(self, rest: Iterable[tuple[int, OccupancyMap] | OdomJump]) -> SceneGraph:
        """Take in what came after the last image and return the graph."""
        self._follow(rest)
        return self._graph

    def _follow(self, events: Iterable[tuple[int, OccupancyMap] | OdomJump]) -> None:
        for event in events:
            if isinstance(event, OdomJump):
                self._keyframes.follow_jump(event)
            else:
                stamp_ns, grid = event
                self._graph.set_map(grid.cells, grid.resolution_m, grid.map_T_origin, stamp_ns)
