"""A node's view of the graph: names, types, counts, endpoints."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ros_embedded.rclpy.exceptions import NodeNameNonExistentError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import profile_of
from ros_embedded.rclpy.impl.graph import Graph
from ros_embedded.rclpy.impl.typesupport import ros_type_name, user_data_value
from ros_embedded.rclpy.names import expand_topic_name
from ros_embedded.rclpy.topic_endpoint_info import TopicEndpointInfo, TopicEndpointTypeEnum, TypeHash

NamesAndTypes = list[tuple[str, list[str]]]
_POLL_S = 0.01
_REQUEST, _REPLY = re.compile(r"^rq(/.*)Request$"), re.compile(r"^rr(/.*)Reply$")


def _topics(endpoints: Iterable[cyclone.Endpoint], no_demangle: bool = False) -> NamesAndTypes:
    found: dict[str, set[str]] = defaultdict(set)
    for endpoint in endpoints:
        if no_demangle:
            found[endpoint.topic].add(endpoint.type_name)
        elif endpoint.topic.startswith("rt/"):
            found[endpoint.topic[2:]].add(ros_type_name(endpoint.type_name))
    return [(name, sorted(types)) for name, types in sorted(found.items())]


def _services(endpoints: Iterable[cyclone.Endpoint], pattern: re.Pattern[str]) -> NamesAndTypes:
    found: dict[str, set[str]] = defaultdict(set)
    for endpoint in endpoints:
        if match := pattern.match(endpoint.topic):
            found[match[1]].add(re.sub("_(Request|Response)$", "", ros_type_name(endpoint.type_name)))
    return [(name, sorted(types)) for name, types in sorted(found.items())]


class GraphMixin:
    """Node's methods about the graph."""

    context: Any

    @property
    def __graph(self) -> Graph:
        return self.context.participant.graph

    def get_name(self) -> str:
        """The name without namespace."""
        raise NotImplementedError

    def get_namespace(self) -> str:
        """The namespace."""
        raise NotImplementedError

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a topic."""
        raise NotImplementedError

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """The full, remapped name of a service."""
        raise NotImplementedError

    def get_topic_names_and_types(self, no_demangle: bool = False) -> NamesAndTypes:
        """All topics."""
        graph = self.__graph
        return _topics([*graph.endpoints(True), *graph.endpoints(False)], no_demangle)

    def get_service_names_and_types(self) -> NamesAndTypes:
        """All services."""
        return _services(self.__graph.endpoints(False), _REQUEST)

    def __of_node(self, name: str, namespace: str, is_writer: bool) -> Iterable[cyclone.Endpoint]:
        endpoints = self.__graph.of_node(name, namespace, is_writer)
        if endpoints is None:
            raise NodeNameNonExistentError(
                f"Cannot get names and types for nonexistent node: name '{name}' namespace '{namespace}'"
            )
        return endpoints

    def get_publisher_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Topics that a node publishes. Raises NodeNameNonExistentError."""
        return _topics(self.__of_node(node_name, node_namespace, True), no_demangle)

    def get_subscriber_names_and_types_by_node(
        self, node_name: str, node_namespace: str, no_demangle: bool = False
    ) -> NamesAndTypes:
        """Topics that a node subscribes to. Raises NodeNameNonExistentError."""
        return _topics(self.__of_node(node_name, node_namespace, False), no_demangle)

    def get_service_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        """Services that a node offers. Raises NodeNameNonExistentError."""
        return _services(self.__of_node(node_name, node_namespace, False), _REQUEST)

    def get_client_names_and_types_by_node(self, node_name: str, node_namespace: str) -> NamesAndTypes:
        """Services that a node calls. Raises NodeNameNonExistentError."""
        return _services(self.__of_node(node_name, node_namespace, False), _REPLY)

    def get_node_names(self) -> list[str]:
        """The names of all nodes."""
        return [node.name for node in self.__graph.nodes()]

    def get_fully_qualified_node_names(self) -> list[str]:
        """The names of all nodes with their namespaces."""
        return [f"{node.namespace.rstrip('/')}/{node.name}" for node in self.__graph.nodes()]

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        """(name, namespace) of all nodes."""
        return [(node.name, node.namespace) for node in self.__graph.nodes()]

    def get_node_names_and_namespaces_with_enclaves(self) -> list[tuple[str, str, str]]:
        """(name, namespace, enclave) of all nodes; without security every enclave is /."""
        return [(*names, "/") for names in self.get_node_names_and_namespaces()]

    def __count(self, topic: str, is_writer: bool) -> int:
        return len(self.__graph.on_topic(topic, is_writer))

    def count_publishers(self, topic_name: str) -> int:
        """How many publishers a topic has."""
        return self.__count(f"rt{self.resolve_topic_name(topic_name)}", True)

    def count_subscribers(self, topic_name: str) -> int:
        """How many subscriptions a topic has."""
        return self.__count(f"rt{self.resolve_topic_name(topic_name)}", False)

    def count_clients(self, service_name: str) -> int:
        """How many clients a service has."""
        return self.__count(f"rr{self.resolve_service_name(service_name)}Reply", False)

    def count_services(self, service_name: str) -> int:
        """How many servers a service has."""
        return self.__count(f"rq{self.resolve_service_name(service_name)}Request", False)

    def get_publishers_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        """The publishers of a topic."""
        return self.__infos(topic_name, no_mangle, True)

    def get_subscriptions_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[TopicEndpointInfo]:
        """The subscriptions of a topic."""
        return self.__infos(topic_name, no_mangle, False)

    def __infos(self, topic_name: str, no_mangle: bool, is_writer: bool) -> list[TopicEndpointInfo]:
        topic = topic_name if no_mangle else f"rt{self.__full_topic_name(topic_name)}"
        return [self.__info(endpoint, is_writer) for endpoint in self.__graph.on_topic(topic, is_writer)]

    def __full_topic_name(self, topic_name: str) -> str:
        return expand_topic_name(topic_name, self.get_name(), self.get_namespace())

    def __info(self, endpoint: cyclone.Endpoint, is_writer: bool) -> TopicEndpointInfo:
        assert endpoint.qos is not None
        text: Any = user_data_value(endpoint.qos.user_data, "typehash")
        match = re.fullmatch(r"RIHS(\d\d)_([0-9a-f]{64})", text or "")
        name, namespace = self.__graph.node_of(endpoint.gid)
        return TopicEndpointInfo(
            name,
            namespace,
            ros_type_name(endpoint.type_name),
            TypeHash(int(match[1]), bytes.fromhex(match[2])) if match else TypeHash(),
            TopicEndpointTypeEnum.PUBLISHER if is_writer else TopicEndpointTypeEnum.SUBSCRIPTION,
            list(endpoint.gid),
            profile_of(endpoint.qos),
        )

    def wait_for_node(self, fully_qualified_node_name: str, timeout: float) -> bool:
        """Wait until a node is in the graph; False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        if not fully_qualified_node_name.startswith("/"):
            fully_qualified_node_name = f"/{fully_qualified_node_name}"
        while not (found := fully_qualified_node_name in self.get_fully_qualified_node_names()):
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_S)
        return found
