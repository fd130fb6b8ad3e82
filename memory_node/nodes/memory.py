"""The memory node: camera, map and skill reports in; services, latched graph, deltas and diagnostics out."""

from __future__ import annotations

import numpy as np
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from robot_memory import msg as rm

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InputSkippedError, InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.observation import Frame
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.nodes.camera_input import CameraInput
from memory_node.nodes.demonstrations import DEMONSTRATED, STEPS_KEPT
from memory_node.nodes.diagnostics import Diagnosis, InputCounters
from memory_node.nodes.inputs.frame_maker import FrameMaker
from memory_node.nodes.inputs.keyframes import Keyframes
from memory_node.nodes.managed_node import ManagedNode
from memory_node.nodes.memory_services import MemoryServices
from memory_node.nodes.memory_topics import MemoryTopics
from memory_node.nodes.node_parameters import MemoryParameters
from memory_node.nodes.people import People
from memory_node.opening import open_memory
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.segment_tracker import FollowedSegments
from memory_node.store.errors import StoreInUseError
from memory_node.store.location import default_database
from memory_node.view import ShownFrames, serve_view

# Silence of its planner after which an episode is over.
ABANDONED_AFTER_S = 1800.0


class MemoryNode(ManagedNode):
    """Builds the memory and serves it. Configured, memory is open; active, it listens, publishes and answers."""

    memory: RobotMemory

    def __init__(self) -> None:
        super().__init__("memory", MemoryParameters)
        self._goals = self.announce_goals()
        self.start()

    def configure(self) -> None:
        """Open memory."""
        database = self.config.database or str(default_database(self.get_namespace()))
        try:
            self.memory = open_memory(self.config.changed(database=database), clock=self.now_ns)
        except StoreInUseError as error:
            remedy = "stop it, or give this robot a memory of its own: database:=FILE, or a namespace:=NAME of its own"
            raise StoreInUseError(f"{error}; {remedy}") from error
        scene = self.memory.scene()
        known = f"{len(scene.objects)} objects in {len(scene.areas)} areas"
        self.get_logger().info(f"remembering {known}{'' if self.config.database else f', in {database}'}")

    def activate(self) -> None:
        """Listen, publish and answer."""
        config = self.config
        self._view = self._served_view()
        self._counters = InputCounters()
        self._topics = MemoryTopics(self, self.memory, lambda: config.publish_period_s)
        self._service_servers = MemoryServices(self, self.memory, self._topics)
        keyframes = Keyframes(self.memory)
        by_geometry = config.detections == "segment"
        segments = FollowedSegments(config.segmentation, config.segment_tracker) if by_geometry else None
        maker = FrameMaker(PerceptionPipeline(config.perception), None, keyframes.name, segments)
        self._inputs = CameraInput(self, config, maker, keyframes, self._counters, self._remember, self._on_map)
        group = MutuallyExclusiveCallbackGroup()
        shown, message = self._on_demonstrated, rm.DemonstratedStep
        self._shown = self.create_subscription(message, DEMONSTRATED, shown, STEPS_KEPT, callback_group=group)
        kinds = load_catalogue(config.label_space)
        recipient = kinds[kinds.recipient] if kinds.recipient else None
        self._people = People(self, self.memory, recipient, config.map_frame, config.person_at)
        components = {"inputs": self._inputs.diagnosis, "memory": self._diagnosis}
        if (view := self._view) is not None:
            components["view"] = lambda: Diagnosis(view.figures())
        self.publish_diagnostics(config.diagnostic_updater, components)
        self.create_timer(0.5, self.memory.take_over_changes, callback_group=group)
        self.create_timer(60.0, self._end_abandoned, callback_group=group)

    def deactivate(self) -> None:
        """Finish what is being taken in and asked; memory stays open."""
        self._inputs.stop()
        self.destroy_subscription(self._shown)
        if self._view is not None:
            self._view.close()
        self._service_servers.close()
        self._topics.close()

    def clean_up(self) -> None:
        """Make everything durable."""
        self.memory.close()

    def _served_view(self) -> ShownFrames | None:
        if self.config.view == "none":
            return None
        view = serve_view(self.config.view_port)
        self.get_logger().info(f"Rerun's viewers: rerun rerun+http://HOST:{self.config.view_port}/proxy")
        return ShownFrames(view, lambda: self.memory.scene().objects)

    def _remember(self, frame: Frame, color: NDArray[np.uint8] | None) -> None:
        self.memory.observe(frame)
        if self._view is not None and color is not None:
            self._view.show(color, frame)

    def _on_map(self, msg: OccupancyGrid, map_T_grid: Pose) -> None:
        try:
            grid = conversions.grid_from_msg(msg, map_T_grid)
        except InvalidValueError as error:
            raise InputSkippedError("map", str(error)) from error
        self.memory.set_map(grid, conversions.stamp_from_msg(msg.header.stamp))
        self.get_logger().info(f"map of {grid.cells.shape[1]}x{grid.cells.shape[0]} cells taken")

    def _on_demonstrated(self, message: rm.DemonstratedStep) -> None:
        try:
            self.memory.episodes.take_demonstrated(conversions.demonstrated_from_msg(message))
            self.memory.commit()
        except RobotMemoryError as error:
            self.get_logger().warning(f"a step that was shown is left out: {error}")

    def _end_abandoned(self) -> None:
        for episode_id in self.memory.experience.end_abandoned(ABANDONED_AFTER_S):
            self.get_logger().warning(f"episode {episode_id} was abandoned by its planner")

    def _diagnosis(self) -> Diagnosis:
        figures = self.memory.diagnostics()
        state, bad_rows = figures.get("store", "ok"), figures.get("store.bad_rows", 0)
        problems = [] if state == "ok" else [f"the store takes nothing: {state}"]
        if bad_rows:
            problems.append(f"{bad_rows} stored rows cannot be read and are left out: run `memory-node store check`")
        if warning := figures.get("store.warning"):
            problems.append(f"the store: {warning}")
        if not figures["frame_verified"]:
            problems.append(
                "what was stored before the start is not trusted yet, since the map may have another origin: let the "
                "robot see three pieces of furniture again, or call ~/confirm_relocalization once it is localised"
            )
        return Diagnosis(figures, tuple(problems))

    @property
    def is_idle(self) -> bool:
        """Whether no other node has a goal running, whose result memory must still receive."""
        return not self._goals.others_are_busy
