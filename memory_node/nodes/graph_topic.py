"""~/scene_graph: the whole graph, latched, made only for those who listen."""

from __future__ import annotations

import time
from functools import partial

from rclpy.node import Node
from robot_memory import msg as rm

from memory_node.domain.scene import SceneSnapshot
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED, OVERRIDABLE, own

try:
    from rclpy.event_handler import PublisherEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks

# The whole graph is published again after so many times what that took.
_SHARE_OF_PUBLISHING = 20.0


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
