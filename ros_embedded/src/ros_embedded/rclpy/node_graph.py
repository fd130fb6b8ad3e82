"""A node's view of the graph: names, types, counts, endpoints."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ros_embedded.rclpy.exceptions import NodeNameNonExistentError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import profile_of
from ros_embedded.rclpy.impl.polling import wait_until
from ros_embedded.rclpy.impl.typesupport import ros_type_name, user_data_value
from ros_embedded.rclpy.names import expand_topic_name, validate_full_topic_name
from ros_embedded.rclpy.topic_endpoint_info import TopicEndpointInfo, TopicEndpointTypeEnum, TypeHash

NamesAndTypes = list[tuple[str, list[str]]]
_TOPIC, _REQUEST, _REPLY = (re.compile(text) for text in ("^rt(/.*)$", "^rq(/.*)Request$", "^rr(/.*)Reply$"))


def _names_and_types(endpoints: Iterable[cyclone.Endpoint], pattern: re.Pattern[str] | None) -> NamesAndTypes:
    """The topics that match the pattern, by ROS names; without a pattern all of them, by DDS names."""
    found: dict[str, set[str]] = defaultdict(set)
    for endpoint in endpoints:
        if pattern is None:
            found[endpoint.topic].add(endpoint.type_name)
        elif match := pattern.match(endpoint.topic):
            name = ros_type_name(endpoint.type_name)
            found[match[1]].add(name if pattern is _TOPIC else re.sub("_(Request|Response)$", "", name))
    return [(name, sorted(types)) for name, types in sorted(found.items())]


class GraphMixin:
    """Node's methods about the graph; those about a node raise NodeNameNonExistentError."""

    context: Any
    get_name: Any
    get_namespace: Any
    resolve_topic_name: Any

    def get_topic_names_and_types(self, no_demangle: bool = False) -> NamesAndTypes:
        graph = self.context.participant.graph
        return _names_and_types([*graph.endpoints(True), *graph.endpoints(False)], None if no_demangle else _TOPIC)

    def get_service_names_and_types(self) -> NamesAndTypes:
        """Services and clients, as in rclpy."""
        graph = self.context.participant.graph
        return _names_and_types([*graph.endpoints(True), *graph.endpoints(False)], _REQUEST)

    def __of_node(self, name: str, namespace: str, is_writer: bool, pattern: re.Pattern[str] | None) -> NamesAndTypes:
        endpoints = self.context.participant.graph.of_node(name, namespace, is_writer)
        if endpoints is None:
            raise NodeNameNonExistentError(
                f"Cannot get names and types for nonexistent node: name '{name}' namespace '{namespace}'"
            )
        return _names_and_types(endpoints, pattern)

    def get_publisher_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        return self.__of_node(node_name, node_namespace, True, None if no_demangle else _TOPIC)

    def get_subscriber_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        return self.__of_node(node_name, node_namespace, False, None if no_demangle else _TOPIC)

    def get_service_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        return self.__of_node(node_name, node_namespace, False, _REQUEST)

    def get_client_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        return self.__of_node(node_name, node_namespace, False, _REPLY)

    def get_node_names(self) -> list[str]:
        return [name for name, _ in self.get_node_names_and_namespaces()]

    def get_fully_qualified_node_names(self) -> list[str]:
        return [f"{namespace.rstrip('/')}/{name}" for name, namespace in self.get_node_names_and_namespaces()]

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        return [(node.name, node.namespace) for node in self.context.participant.graph.nodes()]

    def __expanded(self, name: str, is_service: bool = False) -> str:
        """The full name; counts are not remapped. Raises ValueError."""
        full_name = expand_topic_name(name, self.get_name(), self.get_namespace())
        validate_full_topic_name(full_name, is_service=is_service)
        return full_name

    def __count(self, topic: str, is_writer: bool) -> int:
        return len(self.context.participant.graph.on_topic(topic, is_writer))

    def count_publishers(self, topic_name: str) -> int:
        return self.__count(f"rt{self.__expanded(topic_name)}", True)

    def count_subscribers(self, topic_name: str) -> int:
        return self.__count(f"rt{self.__expanded(topic_name)}", False)

    def count_clients(self, service_name: str) -> int:
        return self.__count(f"rr{self.__expanded(service_name, True)}Reply", False)

    def count_services(self, service_name: str) -> int:
        return self.__count(f"rq{self.__expanded(service_name, True)}Request", False)

    def get_publishers_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        return self.__infos(topic_name, no_mangle, True)

    def get_subscriptions_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        return self.__infos(topic_name, no_mangle, False)

    def __infos(self, name: str, no_mangle: bool, is_writer: bool) -> list[TopicEndpointInfo]:
        if not no_mangle:
            self.__expanded(name)  # raises the ValueError that rclpy raises
            name = f"rt{self.resolve_topic_name(name)}"
        endpoints = self.context.participant.graph.on_topic(name, is_writer)
        return [self.__info(endpoint, no_mangle, is_writer) for endpoint in endpoints]

    def __info(self, endpoint: cyclone.Endpoint, no_mangle: bool, is_writer: bool) -> TopicEndpointInfo:
        assert endpoint.qos is not None
        text = user_data_value(endpoint.qos.user_data, "typehash") or ""
        match = re.fullmatch(r"RIHS(\d\d)_([0-9a-f]{64})", text)
        name, namespace = self.context.participant.graph.node_of(endpoint.gid)
        return TopicEndpointInfo(
            node_name=name,
            node_namespace=namespace,
            topic_type=endpoint.type_name if no_mangle else ros_type_name(endpoint.type_name),
            topic_type_hash=TypeHash(int(match[1]), bytes.fromhex(match[2])) if match else TypeHash(),
            endpoint_type=TopicEndpointTypeEnum.PUBLISHER if is_writer else TopicEndpointTypeEnum.SUBSCRIPTION,
            endpoint_gid=list(endpoint.gid),
            qos_profile=profile_of(endpoint.qos),
        )

    def wait_for_node(self, fully_qualified_node_name: str, timeout: float) -> bool:
        """Wait until a node is in the graph; False after `timeout` seconds."""
        name = f"/{fully_qualified_node_name.removeprefix('/')}"
        return wait_until(lambda: name in self.get_fully_qualified_node_names(), timeout, self.context)
