"""What the memory node publishes: the latched graph, its deltas, the short-term memory and working memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from robot_memory import msg as rm

from memory_node.domain.scene import SceneEvent, SceneSnapshot
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.nodes.conversions.paired import Paired, Part
from memory_node.nodes.marker_messages import EditMenus, MarkerTopic
from memory_node.nodes.qos import LATCHED, OVERRIDABLE, own
from memory_node.short_term.object_cache import CacheStatistics

try:
    from rclpy.event_handler import PublisherEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks

# The whole graph is published again after so many times what that took.
_SHARE_OF_PUBLISHING = 20.0
_STATISTICS = Paired(CacheStatistics, rm.CacheStatistics, size=Part("units"))


class GraphTopic:
    """Publishes the whole graph when somebody joins, and again when it has changed, as long as anybody listens.

    A robot that maps changes its graph ten times a second, and the whole of it takes milliseconds to seconds to write.
    While nobody listens none is written, and the last one is withdrawn once it is out of date: a latched topic would
    give it to the next one who joins.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._make = partial(
            node.create_publisher,
            rm.SceneGraph,
            "~/scene_graph",
            qos_overriding_options=OVERRIDABLE,
            # rclpy keeps a writer until its executor lets go of its callbacks: until then the old graph is given out.
            event_callbacks=PublisherEventCallbacks(use_default_callbacks=False),
        )
        self._publisher = self._make(own(LATCHED))
        self._version: int | None = None  # of the graph that the topic holds
        self._listeners = 0
        self._again_s = 0.0

    def offer(self, memory: RobotMemory) -> SceneSnapshot | None:
        """Publish the graph if somebody listens who has not got it, and return it then; called once a period."""
        listeners = self._publisher.get_subscription_count()
        has_joined, self._listeners = listeners > self._listeners, listeners
        if self._version == memory.version:
            return None
        if not listeners:
            self._withdraw()
        elif has_joined or time.monotonic() >= self._again_s:
            began_s = time.monotonic()
            scene = memory.scene()
            self._publisher.publish(conversions.snapshot_to_msg(scene))
            self._version = scene.version
            now_s = time.monotonic()
            self._again_s = now_s + _SHARE_OF_PUBLISHING * (now_s - began_s)
            return scene
        return None

    def _withdraw(self) -> None:
        if self._version is None:
            return
        self._version = None
        self._node.destroy_publisher(self._publisher)
        self._publisher = self._make(own(LATCHED))


class MemoryTopics:
    """Publishes ~/scene_graph (latched), ~/scene_graph_delta, ~/memory_units (latched), ~/cache_statistics, ~/markers.

    Deltas are published at once. The rest follows once a period, where it has changed; the whole graph and the markers
    are made only for those who listen.
    """

    def __init__(self, node: Node, memory: RobotMemory, period_s: Callable[[], float]) -> None:
        self._node = node
        self._memory = memory
        self._published_version = self._shown_version = -1
        self._published_lookups = -1
        publisher = partial(node.create_publisher, qos_overriding_options=OVERRIDABLE)
        self._graph = GraphTopic(node)
        self._delta = publisher(rm.SceneGraphDelta, "~/scene_graph_delta", 100)
        self._units = publisher(rm.MemoryUnits, "~/memory_units", own(LATCHED))
        self._statistics = publisher(rm.CacheStatistics, "~/cache_statistics", 10)
        self._working_memory = publisher(rm.WorkingMemory, "~/working_memory", own(LATCHED))
        self._markers = MarkerTopic(node)
        self._menus = EditMenus(node, memory)
        self._timer = node.create_timer(period_s(), self._publish, callback_group=MutuallyExclusiveCallbackGroup())
        self._period_s = period_s
        self._stop_listening = memory.on_change(self._on_change)

    def _on_change(self, events: tuple[SceneEvent, ...], from_version: int, to_version: int) -> None:
        if not self._delta.get_subscription_count():
            return  # each frame makes one: whoever comes later begins with the whole graph
        stamp_ns = self._node.get_clock().now().nanoseconds
        self._delta.publish(conversions.delta_to_msg(events, stamp_ns, from_version, to_version))

    def publish_working_memory(self, episode_id: str) -> None:
        """Publish the running episode's working memory, after each of its steps."""
        view = self._memory.experience.working_memory(episode_id)
        if view is None:
            return
        self._working_memory.publish(
            rm.WorkingMemory(
                header=conversions.header(self._node.get_clock().now().nanoseconds),
                episode_id=episode_id,
                text=view.text(),
                steps_so_far=view.steps_so_far,
                success_rate=view.success_rate or 0.0,
                held_object=view.held_object,
                recent_places=list(view.recent_places),
                warnings=[str(warning) for warning in view.warnings],
            )
        )

    def close(self) -> None:
        """Follow memory no more, and take the menus away from the displays that show them."""
        self._stop_listening()
        self._menus.close()

    def _publish(self) -> None:
        self._timer.timer_period_ns = round(self._period_s() * 1e9)  # it may have changed
        stamp_ns = self._node.get_clock().now().nanoseconds
        statistics = self._memory.statistics()
        shares = {"occupancy": statistics.occupancy, "hit_ratio": statistics.hit_ratio or 0.0}
        self._statistics.publish(_STATISTICS.to_msg(statistics, header=conversions.header(stamp_ns), **shares))
        version = self._memory.version
        # A lookup changes what would be evicted next.
        if (version, statistics.lookups) != (self._published_version, self._published_lookups):
            self._published_version, self._published_lookups = version, statistics.lookups
            self._units.publish(conversions.units_to_msg(self._memory.cache.leaving(), stamp_ns))
        published = self._graph.offer(self._memory)
        if version == self._shown_version or not (self._markers.is_watched or self._menus.is_watched):
            self._markers.greet()
            return
        scene = published or self._memory.scene()
        self._shown_version = scene.version
        self._markers.show(scene)
        self._menus.show(scene)
