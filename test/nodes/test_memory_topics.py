"""The latched graph, its markers and menus, as displays join and leave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import yaml
from robot_memory import msg as rm
from ros_peer import RosPeer, wait_until
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate, Marker
from visualization_msgs.srv import GetInteractiveMarkers

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.resources import resource_path
from memory_node.domain.scene import Relation, RelationKind, SceneObject, SceneSnapshot
from memory_node.nodes import conversions
from memory_node.nodes.marker_messages import EditMenus, MarkerTopic, changes_to_msg
from memory_node.nodes.memory_topics import GraphTopic
from memory_node.nodes.qos import LATCHED
from memory_node.scene_graph.marker_shapes import MarkerDiff


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


def thing(object_id: str, x_m: float) -> SceneObject:
    return SceneObject(
        id=object_id,
        class_probabilities={"Mug": 0.8, "Cup": 0.2},
        box=OrientedBox(np.array([x_m, 0.0, 1.0]), np.array([0.1, 0.1, 0.1]), np.pi / 4),
        covariance=np.eye(3) * 1e-4,
        existence=0.9,
        first_seen_ns=1,
        last_seen_ns=2,
    )


def test_markers_are_changed_and_deleted_one_by_one() -> None:
    diff, header = MarkerDiff(), conversions.header(0)
    scene = SceneSnapshot(1, objects=(thing("a", 1.0), thing("b", 2.0)))
    first = changes_to_msg(diff.update(scene), header).markers
    assert {m.action for m in first} == {Marker.ADD}
    moved = replace(scene, objects=(thing("a", 1.5),))
    second = changes_to_msg(diff.update(moved), header).markers
    cube = next(m for m in second if m.ns == "objects" and m.action == Marker.ADD)
    assert cube.id == next(m.id for m in first if m.ns == "objects" and m.pose.position.x == 1.0)
    gone = {(m.ns, m.id) for m in second if m.action == Marker.DELETE}
    assert gone == {(m.ns, m.id) for m in first if m.ns in ("objects", "object_names")} - {
        (m.ns, m.id) for m in second if m.action == Marker.ADD
    }
    assert not changes_to_msg(diff.update(moved), header).markers


class RecordingMemory:
    """A scene, and the edits that menus ask for."""

    def __init__(self, *objects: SceneObject, relations: tuple[Relation, ...] = ()) -> None:
        self.calls: list[tuple[str, ...]] = []
        self._scene = SceneSnapshot(1, objects=objects, relations=relations)

    def scene(self) -> SceneSnapshot:
        return self._scene

    def edit(
        self, operation: str, object_id: str, other_id: str = "", new_class: str = "", position: tuple[float, ...] = ()
    ) -> str:
        self.calls.append((operation, object_id, other_id or new_class or " ".join(f"{x:.2f}" for x in position)))
        return object_id

    def forget(self, object_id: str) -> int:
        self.calls.append(("forget", object_id))
        return 1


def test_menu_of_an_object_edits_memory(peer: RosPeer) -> None:
    near = Relation("a", RelationKind.NEAR, "b", 0.3)
    memory = RecordingMemory(thing("a", 1.0), thing("b", 1.3), relations=(near,))
    EditMenus(peer.node, memory)  # type: ignore[arg-type]
    response = peer.call(GetInteractiveMarkers, "test_peer/edit/get_interactive_markers")
    marker = next(marker for marker in response.markers if marker.name == "a")
    titles = [entry.title for entry in marker.menu_entries][2:]
    assert titles == [
        "it is two things, side by side",
        "it is a Cup (20%)",
        "it is the same thing as the Mug beside it (b)",
    ]
    for entry in marker.menu_entries:
        chosen = InteractiveMarkerFeedback(
            marker_name="a", event_type=InteractiveMarkerFeedback.MENU_SELECT, menu_entry_id=entry.id
        )
        peer.publish("test_peer/edit/feedback", chosen)
    wait_until(lambda: len(memory.calls) == 5)
    assert memory.calls == [
        ("delete", "a", ""),
        ("forget", "a"),
        ("split", "a", "1.07 0.07 1.00"),  # a tenth of a metre along the box, which is turned by 45 degrees
        ("relabel", "a", "Cup"),
        ("merge", "a", "b"),
    ]


def test_menus_are_erased_at_the_end(peer: RosPeer) -> None:
    updates: list[InteractiveMarkerUpdate] = []
    menus = EditMenus(peer.node, RecordingMemory())  # type: ignore[arg-type]
    peer.node.create_subscription(InteractiveMarkerUpdate, "test_peer/edit/update", updates.append, 10)
    wait_until(lambda: menus._updates.get_subscription_count())
    menus.show(SceneSnapshot(1, objects=(thing("a", 1.0),)))
    wait_until(lambda: len(updates) == 1)
    menus.close()
    wait_until(lambda: len(updates) == 2)
    assert [(update.seq_num, list(update.erases)) for update in updates] == [(1, []), (2, ["a"])]


def test_shipped_rviz_view_can_hear_what_the_node_publishes(peer: RosPeer) -> None:
    """A display that asks for transient local hears nothing of a volatile publisher."""
    view = yaml.safe_load(resource_path("rviz/memory.rviz").read_text())
    shown = {display["Name"]: display for display in view["Visualization Manager"]["Displays"]}
    topic = shown["Scene graph"]["Topic"]
    MarkerTopic(peer.node)
    (published,) = peer.node.get_publishers_info_by_topic("test_peer/markers")
    assert topic["Value"] == "/memory/markers"
    assert topic["Durability Policy"] == published.qos_profile.durability.name.title().replace("_", " ")
    assert topic["Reliability Policy"] == published.qos_profile.reliability.name.title().replace("_", " ")
