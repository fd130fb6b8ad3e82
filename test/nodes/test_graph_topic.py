"""The whole graph is made for those who listen, and only for them."""

from typing import Any

import numpy as np
from robot_memory import msg as rm
from ros_peer import RosPeer, wait_until

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.nodes.memory_topics import GraphTopic
from memory_node.nodes.qos import LATCHED


class CountingMemory:
    """A scene of one thing, whose version moves with `change`; counts how often it is asked for."""

    def __init__(self) -> None:
        self.version = self.asked = 0

    def change(self) -> None:
        self.version += 1

    def scene(self) -> SceneSnapshot:
        self.asked += 1
        box = OrientedBox(np.array([self.version, 0.0, 1.0]), np.array([0.1, 0.1, 0.1]), 0.0)
        thing = SceneObject("a", {"Mug": 1.0}, box, np.eye(3) * 1e-4, 0.9, 1, 2)
        return SceneSnapshot(1, objects=(thing,), version=self.version)


def listener(peer: RosPeer, topic: Any) -> tuple[list[int], Any]:
    versions: list[int] = []
    before = topic._publisher.get_subscription_count()
    name = "test_peer/scene_graph"
    subscription = peer.node.create_subscription(rm.SceneGraph, name, lambda m: versions.append(m.version), LATCHED)
    wait_until(lambda: topic._publisher.get_subscription_count() == before + 1)
    return versions, subscription


def test_graph_is_made_for_listeners_alone(peer: RosPeer) -> None:
    memory, topic = CountingMemory(), GraphTopic(peer.node)
    topic.offer(memory)  # type: ignore[arg-type]
    assert memory.asked == 0
    versions, _ = listener(peer, topic)
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: versions == [0])
    topic.offer(memory)  # type: ignore[arg-type]
    assert memory.asked == 1
    memory.change()
    topic._again_s = 0.0
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: versions == [0, 1])


def test_listeners_wait_longer_for_graphs_that_take_longer(peer: RosPeer) -> None:
    memory, topic = CountingMemory(), GraphTopic(peer.node)
    versions, _ = listener(peer, topic)
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: versions == [0])
    topic._again_s += 1e3
    memory.change()
    topic.offer(memory)  # type: ignore[arg-type]
    assert memory.asked == 1
    late, _ = listener(peer, topic)
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: late and late[-1] == 1)


def test_one_who_joins_late_never_gets_an_old_graph(peer: RosPeer) -> None:
    memory, topic = CountingMemory(), GraphTopic(peer.node)
    versions, subscription = listener(peer, topic)
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: versions == [0])
    peer.node.destroy_subscription(subscription)
    wait_until(lambda: not topic._publisher.get_subscription_count())
    topic.offer(memory)  # type: ignore[arg-type]
    memory.change()
    topic.offer(memory)  # type: ignore[arg-type]
    late, _ = listener(peer, topic)
    topic.offer(memory)  # type: ignore[arg-type]
    wait_until(lambda: late == [1])
