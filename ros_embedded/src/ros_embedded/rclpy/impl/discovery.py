"""The ROS graph as this process sees it: publishers, subscriptions, services, clients, and the nodes that own them.

Endpoints come from Cyclone's built-in topics, their nodes from `ros_discovery_info` (rmw_dds_common's design).
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.cdr import deserialize
from ros_embedded.interfaces.type_description import type_hash
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.lifetime import Lifetime
from ros_embedded.rclpy.impl.typesupport import topic_descriptor
from ros_embedded.rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile

DISCOVERY_TOPIC = "ros_discovery_info"
_BUILTIN_PREFIX = "DCPS"  # DDS topics of discovery itself, which are not part of the ROS graph
_GID = slice(4, 20)  # the participant's gid in a ParticipantEntitiesInfo payload
_DISCOVERY_TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"


@dataclass
class NodeEntities:
    """A node and the endpoints that belong to it."""

    namespace: str
    name: str
    readers: list[bytes] = field(default_factory=list)
    writers: list[bytes] = field(default_factory=list)

    def packed(self, offset: int) -> bytes:
        """As CDR NodeEntitiesInfo that starts `offset` bytes into the payload."""
        out = bytearray(offset)
        for text in (self.namespace, self.name):
            encoded = text.encode() + b"\0"
            out += bytes(-len(out) % 4) + struct.pack("<I", len(encoded)) + encoded
        for gids in (self.readers, self.writers):
            out += bytes(-len(out) % 4) + struct.pack("<I", len(gids)) + b"".join(gids)
        return bytes(out[offset:])


class Graph:
    """Announces one participant's nodes, and knows those of the others."""

    def __init__(self, participant: int, lifetime: Lifetime) -> None:
        self._lifetime = lifetime
        self._lock = threading.RLock()
        self._local: list[NodeEntities] = []
        self._gid = cyclone.guid(participant)
        self._remote: dict[bytes, list[NodeEntities]] = {}
        self._batches = 0
        self.publications: dict[int, cyclone.Endpoint] = {}
        self.subscriptions: dict[int, cyclone.Endpoint] = {}
        descriptor = topic_descriptor(_DISCOVERY_TYPE, False)
        user_data = f"typehash={type_hash(_DISCOVERY_TYPE)};".encode()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        everything = QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._writer = Writer(participant, lifetime, DISCOVERY_TOPIC, descriptor, latched, user_data)
        self._reader = Reader(participant, lifetime, DISCOVERY_TOPIC, descriptor, everything, user_data)
        self._builtin = [
            (cyclone.check(cyclone.create_reader(participant, topic, None, None), "discovery"), known)
            for topic, known in (
                (cyclone.BUILTIN_PUBLICATIONS, self.publications),
                (cyclone.BUILTIN_SUBSCRIPTIONS, self.subscriptions),
            )
        ]
        self.conditions = [self._reader.condition, *(cyclone.read_condition(reader) for reader, _ in self._builtin)]

    def add_node(self, node: NodeEntities) -> None:
        with self.announcement():
            self._local.append(node)

    def remove_node(self, node: NodeEntities) -> None:
        with self.announcement():
            self._local.remove(node)

    @contextmanager
    def announcement(self) -> Iterator[None]:
        """Announces the changes made in the block once, at its end; blocks nest."""
        with self._lock:
            self._batches += 1
            try:
                yield
            finally:
                self._batches -= 1
                if self._batches == 0 and not self._lifetime.is_over:
                    self._announce()

    def _announce(self) -> None:
        payload = b"\0\1\0\0" + self._gid + struct.pack("<I", len(self._local))
        for node in self._local:
            payload += bytes(-(len(payload) - 4) % 4)
            payload += node.packed(len(payload) - 4)
        self._writer.write(payload)

    def refresh(self) -> None:
        """Read the news of discovery since the last call. Raises DDSError after the end."""
        with self._lock, self._lifetime:
            for reader, known in self._builtin:
                for endpoint in cyclone.take_endpoints(reader):
                    if endpoint.topic.startswith(_BUILTIN_PREFIX):
                        continue
                    if endpoint.alive:
                        known[endpoint.instance_handle] = endpoint
                        continue
                    gone = known.pop(endpoint.instance_handle, None)
                    if gone is not None and known is self.publications and gone.topic == DISCOVERY_TOPIC:
                        self._remote.pop(gone.participant_gid, None)
            latest: dict[bytes, bytes] = {}  # only the latest announcement of each participant counts
            while (sample := self._reader.take()) is not None:
                latest[sample.data[_GID]] = sample.data
            for gid, payload in latest.items():
                if gid != self._gid:
                    self._learn(payload)

    def _learn(self, payload: bytes) -> None:
        try:
            info = deserialize(payload, get_message(_DISCOVERY_TYPE))
        except ValueError:  # malformed: the nodes of this peer stay unknown
            return
        self._remote[bytes(info.gid.data)] = [
            NodeEntities(
                node.node_namespace,
                node.node_name,
                [bytes(gid.data) for gid in node.reader_gid_seq],
                [bytes(gid.data) for gid in node.writer_gid_seq],
            )
            for node in info.node_entities_info_seq
        ]

    def nodes(self) -> list[NodeEntities]:
        """All nodes of the graph, this process's included."""
        with self._lock:
            self.refresh()
            others = [node for nodes in self._remote.values() for node in nodes]
            return [*self._local, *others]

    def endpoints(self, is_writer: bool) -> list[cyclone.Endpoint]:
        """All writers or all readers of the graph."""
        with self._lock:
            self.refresh()
            return list((self.publications if is_writer else self.subscriptions).values())

    def on_topic(self, topic: str, is_writer: bool) -> list[cyclone.Endpoint]:
        return [endpoint for endpoint in self.endpoints(is_writer) if endpoint.topic == topic]

    def of_node(self, name: str, namespace: str, is_writer: bool) -> Iterator[cyclone.Endpoint] | None:
        """The writers or readers of a node; None if there is no such node."""
        found = [node for node in self.nodes() if (node.name, node.namespace) == (name, namespace)]
        if not found:
            return None
        gids = {gid for node in found for gid in (node.writers if is_writer else node.readers)}
        return (endpoint for endpoint in self.endpoints(is_writer) if endpoint.gid in gids)

    def node_of(self, gid: bytes) -> tuple[str, str]:
        """Name and namespace of the node that an endpoint belongs to, as far as it has been announced."""
        for node in self.nodes():
            if gid in node.readers or gid in node.writers:
                return node.name, node.namespace
        return "_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_"
