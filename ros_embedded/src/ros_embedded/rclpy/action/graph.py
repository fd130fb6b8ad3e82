"""Actions in the graph, recognised by their feedback topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

NamesAndTypes = list[tuple[str, list[str]]]
_FEEDBACK, _TYPE = "/_action/feedback", "_FeedbackMessage"


def _actions(topics: NamesAndTypes) -> NamesAndTypes:
    return [
        (name.removesuffix(_FEEDBACK), [kind.removesuffix(_TYPE) for kind in kinds])
        for name, kinds in topics
        if name.endswith(_FEEDBACK)
    ]


def get_action_client_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """Actions that a node calls. Raises NodeNameNonExistentError."""
    return _actions(node.get_subscriber_names_and_types_by_node(remote_node_name, remote_node_namespace))


def get_action_server_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """Actions that a node serves. Raises NodeNameNonExistentError."""
    return _actions(node.get_publisher_names_and_types_by_node(remote_node_name, remote_node_namespace))


def get_action_names_and_types(node: Node) -> NamesAndTypes:
    """All actions."""
    return _actions(node.get_topic_names_and_types())
