"""The memory node: camera, map and skill reports in; services, latched graph, deltas and diagnostics out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nav_msgs.msg import OccupancyGrid
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from memory_node.catalogue.label_space import HOUSEHOLD
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.experience.config import EXTRACTORS, ExperienceConfig
from memory_node.nodes import conversions
from memory_node.nodes.camera_input import CameraInput, InputParameters
from memory_node.nodes.diagnostics import DiagnosticsPublisher, InputCounters
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.keyframes import Keyframes
from memory_node.nodes.memory_services import MemoryServices
from memory_node.nodes.memory_topics import MemoryTopics
from memory_node.nodes.parameters import declare, parameter
from memory_node.nodes.running_goals import RunningGoals
from memory_node.opening import MemoryConfig, open_memory
from memory_node.perception.config import PerceptionConfig, SegmentationConfig
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.segmentation import GeometricSegmenter
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.store.location import default_database

# An episode whose planner has been silent for so long is over.
ABANDONED_AFTER_S = 1800.0


@dataclass(frozen=True)
class MemoryParameters:
    """Parameters of the memory node beside those of its inputs."""

    database: str = parameter("", "long-term memory: a file or a SQLAlchemy URL; empty: the user's data folder")
    label_space: str = parameter(HOUSEHOLD, "what kinds of things there are: a shipped label space or a .yaml file")
    site: str = parameter("home", "the site that the long-term memory is of")
    robot_id: str = parameter("robot", "who writes, for a memory that several robots share")
    publish_period_s: float = parameter(1.0, "period of the latched graph and the statistics (s)", 0.1, 60.0)
    short_term_capacity: int = parameter(64, "units of the short-term memory", 1, 10_000_000)
    short_term_policy: str = parameter("adaptive", "replacement policy", choices=POLICY_NAMES)
    area_spacing_m: float = parameter(1.5, "distance between the areas that tile the reachable space (m)", 0.2, 20.0)
    extractor: str = parameter(
        "", "who reads ended episodes: rules, or llm; empty: as config/experience.yaml says", choices=("", *EXTRACTORS)
    )
    llm_base_url: str = parameter("", "OpenAI-compatible endpoint that reads ended episodes; empty: as the file says")
    llm_model: str = parameter("", "name of its model; empty: as the file says")
    clip_path: str = parameter(
        "",
        "folder with an ONNX CLIP's image.onnx, text.onnx and tokenizer.json, for looks; empty: as retrieval.yaml says",
    )
    perception: PerceptionConfig = PerceptionConfig()  # noqa: RUF009 - frozen


class MemoryNode(Node):
    """Builds the memory and serves it."""

    def __init__(self) -> None:
        super().__init__("memory")
        config, inputs = declare(self, MemoryParameters), declare(self, InputParameters)
        self.memory = open_memory(_memory_config(config, inputs), clock=self._now_ns)
        self._counters = InputCounters()
        self._topics = MemoryTopics(self, self.memory, config.publish_period_s)
        self._service_servers = MemoryServices(self, self.memory, self._topics)
        keyframes = Keyframes(self.memory)
        segmenter = GeometricSegmenter(SegmentationConfig.load()) if inputs.detections == "segment" else None
        maker = FrameMaker(PerceptionPipeline(config.perception), segmenter, keyframes.name)
        self._inputs = CameraInput(self, inputs, maker, keyframes, self._counters, self.memory.observe, self._on_map)
        group = MutuallyExclusiveCallbackGroup()
        self._running = RunningGoals(self)
        self._diagnostics = DiagnosticsPublisher(self, self._figures, self._problems)
        self._fleet = self.create_timer(0.5, self.memory.take_over_changes, callback_group=group)
        self._tidy = self.create_timer(60.0, self._end_abandoned, callback_group=group)
        scene = self.memory.scene()
        self.get_logger().info(f"remembering {len(scene.objects)} objects in {len(scene.areas)} areas")

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _on_map(self, msg: OccupancyGrid, map_T_grid: Pose) -> None:
        try:
            grid = conversions.grid_from_msg(msg, map_T_grid)
        except InvalidValueError as error:
            raise InputSkippedError("map", str(error)) from error
        self.memory.set_map(grid, conversions.stamp_from_msg(msg.header.stamp))
        self.get_logger().info(f"map of {grid.cells.shape[1]}x{grid.cells.shape[0]} cells taken")

    def _end_abandoned(self) -> None:
        for episode_id in self.memory.experience.end_abandoned(ABANDONED_AFTER_S):
            self.get_logger().warning(f"episode {episode_id} was abandoned by its planner")

    def _figures(self) -> dict[str, object]:
        return {**self._counters.values(), **self.memory.diagnostics()}

    def _problems(self) -> list[str]:
        state = self.memory.diagnostics().get("store", "ok")
        return [] if state == "ok" else [f"the store takes nothing: {state}"]

    @property
    def is_idle(self) -> bool:
        """Whether nobody has a goal running, whose end memory is still to be told."""
        return not self._running.others_are_busy

    def end(self) -> None:
        """Nothing runs here that could be stopped."""

    def destroy_node(self) -> None:
        """Make everything durable, then go."""
        self._running.close()
        self._inputs.stop()
        self.memory.close()
        super().destroy_node()


def _memory_config(config: MemoryParameters, inputs: InputParameters) -> MemoryConfig:
    return MemoryConfig(
        database=config.database or str(default_database()),
        site=config.site,
        robot_id=config.robot_id,
        scene=replace(SceneGraphConfig.load(), area_spacing_m=config.area_spacing_m, clock_jump_s=inputs.clock_jump_s),
        experience=_experience_config(config),
        clip_path=config.clip_path,
        label_space=config.label_space,
        short_term=replace(
            ShortTermConfig.load(), capacity=config.short_term_capacity, policy=config.short_term_policy
        ),
    )


def _experience_config(config: MemoryParameters) -> ExperienceConfig:
    shipped = ExperienceConfig.load()
    return replace(
        shipped,
        extractor=config.extractor or shipped.extractor,
        llm_base_url=config.llm_base_url or shipped.llm_base_url,
        llm_model=config.llm_model or shipped.llm_model,
    )
