"""The scene graph for rviz: markers that are added, changed and deleted one by one, and menus to edit objects."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    MarkerArray,
    MenuEntry,
)
from visualization_msgs.msg import Marker as MarkerMsg
from visualization_msgs.srv import GetInteractiveMarkers

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import RelationKind, SceneObject, SceneSnapshot
from memory_node.memory import RobotMemory
from memory_node.nodes import conversions
from memory_node.scene_graph.marker_shapes import Marker, MarkerChanges, MarkerDiff

_SHAPES = {
    "cube": MarkerMsg.CUBE,
    "sphere": MarkerMsg.SPHERE,
    "line_list": MarkerMsg.LINE_LIST,
    "text": MarkerMsg.TEXT_VIEW_FACING,
}
# How long a marker belongs to the client that touched it last, as in interactive_markers (s).
_ONE_CLIENT_S = 1.0
_DELETE, _FORGET, _SPLIT, _FIRST_CLASS, _FIRST_TWIN = 1, 2, 3, 10, 100


def marker_to_msg(number: int, marker: Marker, header: Header) -> MarkerMsg:
    """Return one marker; `number` is its id for life."""
    x, y, z = marker.position
    msg = MarkerMsg(header=header, ns=marker.namespace, id=number, type=_SHAPES[marker.shape], action=MarkerMsg.ADD)
    msg.pose = conversions.pose_to_msg(Pose.planar(x, y, marker.yaw_rad, z))
    msg.scale = conversions.vector_to_msg(marker.size)
    red, green, blue, alpha = marker.color
    msg.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
    msg.text = marker.text
    msg.points = [conversions.point_to_msg(point) for point in marker.points]
    msg.lifetime = Duration()
    return msg


def changes_to_msg(changes: MarkerChanges, header: Header) -> MarkerArray:
    """Return the difference between what rviz shows and what it should show."""
    msg = MarkerArray(markers=[marker_to_msg(number, marker, header) for number, marker in changes.set])
    for namespace, number in changes.deleted:
        msg.markers.append(MarkerMsg(header=header, ns=namespace, id=number, action=MarkerMsg.DELETE))
    return msg


class MarkerTopic:
    """Publishes ~/markers; a display that joins late gets everything once."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._diff = MarkerDiff()
        self._scene: SceneSnapshot | None = None
        self._displays = 0
        self._publisher = node.create_publisher(MarkerArray, "~/markers", QoSProfile(depth=100))

    @property
    def is_watched(self) -> bool:
        """Whether any display shows the markers."""
        return bool(self._publisher.get_subscription_count())

    def show(self, scene: SceneSnapshot) -> None:
        """Publish what changed since the last call."""
        self._scene = scene
        if self._displays:
            self._publish(self._diff.update(scene), scene)
        self.greet()

    def greet(self) -> None:
        """Give displays that have joined since the last call everything; while there are none, nothing is drawn."""
        displays = self._publisher.get_subscription_count()
        if displays > self._displays and self._scene is not None:
            deleted = self._diff.update(self._scene).deleted
            self._publish(MarkerChanges(self._diff.everything().set, deleted), self._scene)
        self._displays = displays

    def _publish(self, changes: MarkerChanges, scene: SceneSnapshot) -> None:
        if changes.set or changes.deleted:
            header = conversions.header(scene.stamp_ns, scene.frame_id)
            self._publisher.publish(changes_to_msg(changes, header))


class EditMenus:
    """Interactive markers on ~/edit: a menu on each object.

    Choosing an entry edits memory as the user: it is not there, forget it, it is two things, it is one of the other
    likely classes, it is the same thing as a near one of its class. Topics, service, sequence numbers, the refusal of
    two clients at one marker and the erasing at the end are those of interactive_markers.InteractiveMarkerServer
    (ROS 2), which rviz's display speaks to; docs/dependencies.md says why it is not used itself.
    """

    def __init__(self, node: Node, memory: RobotMemory) -> None:
        self._node = node
        self._memory = memory
        self._sequence = 0
        self._shown: dict[str, tuple[tuple[float, ...], tuple[str, ...], tuple[str, ...]]] = {}
        self._markers: dict[str, InteractiveMarker] = {}
        self._last_feedback: dict[str, tuple[str, float]] = {}  # client and time (s), by marker
        group = MutuallyExclusiveCallbackGroup()
        self._updates = node.create_publisher(InteractiveMarkerUpdate, "~/edit/update", 100)
        node.create_subscription(
            InteractiveMarkerFeedback, "~/edit/feedback", self._on_feedback, 10, callback_group=group
        )
        node.create_service(GetInteractiveMarkers, "~/edit/get_interactive_markers", self._on_get, callback_group=group)

    @property
    def is_watched(self) -> bool:
        """Whether any display shows the menus."""
        return bool(self._updates.get_subscription_count())

    def show(self, scene: SceneSnapshot) -> None:
        """Publish the menus of objects that are new, moved or otherwise classed, and erase those of the gone."""
        if self.is_watched:
            self._update(scene)

    def close(self) -> None:
        """Take the menus away from the displays that show them."""
        erased = list(self._shown)
        self._shown, self._markers = {}, {}
        if erased and self._node.context.ok():
            self._publish([], erased)

    def _update(self, scene: SceneSnapshot) -> None:
        twins = _twins(scene)
        looks = {found.id: (*_look(found), twins.get(found.id, ())) for found in scene.objects}
        changed = [found for found in scene.objects if self._shown.get(found.id) != looks[found.id]]
        erased = [object_id for object_id in self._shown if object_id not in looks]
        if not changed and not erased:
            return
        header = conversions.header(scene.stamp_ns, scene.frame_id)
        made = [_menu_marker(found, twins.get(found.id, ()), header) for found in changed]
        self._shown = looks
        self._markers = {name: marker for name, marker in self._markers.items() if name in looks}
        self._last_feedback = {name: last for name, last in self._last_feedback.items() if name in looks}
        self._markers.update({marker.name: marker for marker in made})
        self._publish(made, erased)

    def _publish(self, made: list[InteractiveMarker], erased: list[str]) -> None:
        self._sequence += 1
        self._updates.publish(
            InteractiveMarkerUpdate(
                server_id=self._node.get_fully_qualified_name(),
                seq_num=self._sequence,
                type=InteractiveMarkerUpdate.UPDATE,
                markers=made,
                erases=erased,
            )
        )

    def _on_get(self, request: Any, response: Any) -> Any:
        # While nobody looks no scene is shown; who asks is about to.
        self._update(self._memory.scene())
        response.sequence_number = self._sequence
        response.markers = list(self._markers.values())
        return response

    def _on_feedback(self, feedback: InteractiveMarkerFeedback) -> None:
        marker = self._markers.get(feedback.marker_name)
        if marker is None or self._is_conflict(feedback):
            return
        if feedback.event_type != InteractiveMarkerFeedback.MENU_SELECT:
            return
        entry = next((e for e in marker.menu_entries if e.id == feedback.menu_entry_id), None)
        beside = conversions.pose_from_msg(marker.pose).apply([float(marker.scale), 0.0, 0.0])
        actions: dict[int, Callable[[], object]] = {
            _DELETE: lambda: self._memory.edit("delete", marker.name),
            _FORGET: lambda: self._memory.forget(object_id=marker.name),
            _SPLIT: lambda: self._memory.edit("split", marker.name, position=tuple(beside.tolist())),
        }
        try:
            if feedback.menu_entry_id in actions:
                actions[feedback.menu_entry_id]()
            elif entry is not None and entry.id >= _FIRST_TWIN:
                self._memory.edit("merge", marker.name, entry.command)
            elif entry is not None and entry.command:
                self._memory.edit("relabel", marker.name, new_class=entry.command)
        except RobotMemoryError as error:
            self._node.get_logger().warning(f"edit of {marker.name} refused: {error}")

    def _is_conflict(self, feedback: InteractiveMarkerFeedback) -> bool:
        """Return whether another client was at this marker just now; the first one has it."""
        now_s = time.monotonic()
        client, at_s = self._last_feedback.get(feedback.marker_name, (feedback.client_id, now_s))
        if client != feedback.client_id and now_s - at_s < _ONE_CLIENT_S:
            return True
        self._last_feedback[feedback.marker_name] = (feedback.client_id, now_s)
        return False


def _look(found: SceneObject) -> tuple[tuple[float, ...], tuple[str, ...]]:
    place = (*found.box.center.round(2).tolist(), *found.box.size.round(2).tolist(), round(found.box.yaw_rad, 2))
    return place, tuple(sorted(found.class_probabilities))


def _twins(scene: SceneSnapshot) -> dict[str, tuple[str, ...]]:
    """Return for each object the ids of those of its class that are near it: one thing may have been taken for two."""
    by_id = scene.by_id
    twins: dict[str, tuple[str, ...]] = {}
    for relation in scene.relations:
        one, other = by_id.get(relation.source_id), by_id.get(relation.target_id)
        if relation.kind is RelationKind.NEAR and one and other and one.class_name == other.class_name:
            twins[one.id] = (*twins.get(one.id, ()), other.id)
            twins[other.id] = (*twins.get(other.id, ()), one.id)
    return twins


def _menu_marker(found: SceneObject, twins: tuple[str, ...], header: Header) -> InteractiveMarker:
    marker = InteractiveMarker(
        header=header, name=found.id, description="", scale=float(max(found.box.size.max(), 0.1))
    )
    center = found.box.center
    marker.pose = conversions.pose_to_msg(Pose.planar(center[0], center[1], found.box.yaw_rad, center[2]))
    marker.menu_entries = [
        MenuEntry(id=_DELETE, title=f"{found.class_name}: it is not there"),
        MenuEntry(id=_FORGET, title="forget it, history included"),
        MenuEntry(id=_SPLIT, title="it is two things, side by side"),
    ]
    others = sorted((p, name) for name, p in found.class_probabilities.items() if name != found.class_name)
    for number, (probability, name) in enumerate(reversed(others)):
        title = f"it is a {name} ({probability:.0%})"
        marker.menu_entries.append(MenuEntry(id=_FIRST_CLASS + number, title=title, command=name))
    for number, twin in enumerate(twins):
        title = f"it is the same thing as the {found.class_name} beside it ({twin[-4:]})"
        marker.menu_entries.append(MenuEntry(id=_FIRST_TWIN + number, title=title, command=twin))
    # A clear box that takes the click; the picture itself is in ~/markers.
    box = MarkerMsg(type=MarkerMsg.CUBE, color=ColorRGBA(r=1.0, g=1.0, b=1.0, a=0.05))
    box.scale = conversions.vector_to_msg(found.box.size)
    menu = InteractiveMarkerControl.MENU
    marker.controls = [InteractiveMarkerControl(interaction_mode=menu, always_visible=True, markers=[box])]
    return marker
