"""The inspector's view of a running memory node, by its topics and services."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from robot_memory import msg as rm
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from memory_node.domain.clock import system_clock
from memory_node.domain.geometry import Pose
from memory_node.domain.step import EpisodeSummary
from memory_node.inspector.agent_memory import CacheView, Listener, MemoryChange
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.facts import Proposition
from memory_node.nodes import conversions
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.qos import LATCHED
from memory_node.short_term.crop_files import read_crop

MAP = "map"
_UNITS, _FIGURES, _WORK = "memory_units", "cache_statistics", "working_memory"
_PATH_STEP_M = 0.05
_PATH_POINTS = 5000
_STATISTICS = tuple(name for name in rm.CacheStatistics.get_fields_and_field_types() if name != "header")


class NodeViews:
    """`MemoryViews` of a memory node, by its services and topics."""

    def __init__(self, node: Node, memory_name: str, client: MemoryClient) -> None:
        self._client = client
        self.episodes, self.episode = client.episodes, client.episode
        self.lessons, self.places = client.lessons, client.places
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._last: dict[str, Any] = {}  # message, by topic
        self._map_T_frame: dict[str, Pose] = {}
        self._simulated_ns = 0
        self._path: deque[tuple[int, float, float]] = deque(maxlen=_PATH_POINTS)
        group = ReentrantCallbackGroup()

        def listen(kind: Any, topic: str, callback: Callable[[Any], None], qos: Any) -> None:
            node.create_subscription(kind, topic, callback, qos, callback_group=group)

        listen(rm.SceneGraphDelta, f"{memory_name}/scene_graph_delta", self._on_delta, 100)
        for kind, topic in ((rm.MemoryUnits, _UNITS), (rm.CacheStatistics, _FIGURES), (rm.WorkingMemory, _WORK)):
            qos = 10 if topic == _FIGURES else LATCHED
            listen(kind, f"{memory_name}/{topic}", partial(self._last.__setitem__, topic), qos)
        listen(TFMessage, "tf", self._on_transforms, 100)
        listen(TFMessage, "tf_static", self._on_transforms, LATCHED)
        listen(Odometry, "odom", self._on_odometry, 10)
        listen(Clock, "/clock", self._on_clock, qos_profile_sensor_data)

    def clock(self) -> int:
        """Return now in nanoseconds: of a simulation or a bag that is played, else of this machine."""
        return self._simulated_ns or system_clock()

    def crop_jpeg(self, object_id: str) -> bytes | None:
        """Return the picture that the short-term memory names; only where its file lies on this machine."""
        units = self._last[_UNITS].units if _UNITS in self._last else ()
        return read_crop(next((unit.image_path for unit in units if unit.object_id == object_id), ""))

    def cache(self) -> CacheView | None:
        """Return the short-term memory as the node last told it."""
        if _UNITS not in self._last:
            return None
        return CacheView(conversions.units_from_msg(self._last[_UNITS]), dict(self._told()))

    def statements(self, concept: str, k: int) -> tuple[Proposition, ...]:
        """Return the k statements that answer a concept; "": that people told last."""
        return (
            self._client.ask(concept, Mode.SEMANTIC, k).propositions if concept else self._client.told_statements("", k)
        )

    def figures(self) -> dict[str, float]:
        """Return the short-term memory's statistics; none before the node has told them."""
        return {
            f"short_term.{name}": float(value) for name, value in self._told().items() if not isinstance(value, str)
        }

    def working_memory(self, episodes: Sequence[EpisodeSummary] | None) -> str | None:
        """Return the running episode's last steps in words."""
        # The node's last message stays after the episode has ended.
        ended = episodes is not None and all(episode.ended_ns for episode in episodes)
        return None if ended else self._last[_WORK].text if _WORK in self._last else ""

    def robot_path(self) -> tuple[tuple[int, float, float], ...]:
        """Return where the robot has been since this began: stamp, x, y."""
        return tuple(self._path)

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each delta of the scene graph."""
        with self._lock:
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _told(self) -> dict[str, float | str]:
        told = self._last.get(_FIGURES)
        return {} if told is None else {name: getattr(told, name) for name in _STATISTICS}

    def _on_delta(self, msg: Any) -> None:
        changed = tuple(map(conversions.object_from_msg, (*msg.appeared, *msg.updated, *msg.moved)))
        ids = tuple(found.id for found in changed)
        gone = (*msg.removed_ids, *msg.merged_ids, *msg.forgotten_ids)
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(MemoryChange(msg.to_version, ids, gone, msg.from_version, changed))

    def _on_transforms(self, msg: Any) -> None:
        for transform in msg.transforms:
            if transform.header.frame_id == MAP:
                self._map_T_frame[transform.child_frame_id] = conversions.transform_from_msg(transform.transform)

    def _on_clock(self, msg: Any) -> None:
        self._simulated_ns = conversions.stamp_from_msg(msg.clock, "clock")

    def _on_odometry(self, msg: Any) -> None:
        frame = msg.header.frame_id
        map_T_odom = Pose() if frame == MAP else self._map_T_frame.get(frame)
        if map_T_odom is None:
            return
        x, y, _ = map(float, (map_T_odom @ conversions.pose_from_msg(msg.pose.pose)).position)
        if not self._path or abs(x - self._path[-1][1]) + abs(y - self._path[-1][2]) > _PATH_STEP_M:
            self._path.append((conversions.stamp_from_msg(msg.header.stamp, "odom"), x, y))
