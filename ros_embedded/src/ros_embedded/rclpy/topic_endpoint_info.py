"""Publishers and subscriptions as the graph shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from ros_embedded.rclpy.qos import QoSPresetProfiles, QoSProfile


class TopicEndpointTypeEnum(IntEnum):
    """Publisher or subscription."""

    INVALID = 0
    PUBLISHER = 1
    SUBSCRIPTION = 2


@dataclass(slots=True)
class TypeHash:
    """A REP-2011 hash: version 1 and 32 bytes; version -1 where none is known."""

    version: int = -1
    value: bytes = bytes(32)

    def __str__(self) -> str:
        return "INVALID" if self.version <= 0 or len(self.value) != 32 else f"RIHS{self.version:02}_{self.value.hex()}"


@dataclass(kw_only=True, slots=True)
class TopicEndpointInfo:
    """An endpoint, the node it belongs to, and its quality of service."""

    node_name: str = ""
    node_namespace: str = ""
    topic_type: str = ""
    topic_type_hash: TypeHash = field(default_factory=TypeHash)
    endpoint_type: TopicEndpointTypeEnum = TopicEndpointTypeEnum.INVALID
    endpoint_gid: list[int] = field(default_factory=list)
    qos_profile: QoSProfile = field(default_factory=lambda: QoSPresetProfiles.UNKNOWN.value)

    def __str__(self) -> str:
        qos = self.qos_profile
        gid = ".".join(f"{byte:02x}" for byte in self.endpoint_gid)
        history: Any = qos.history.name + (f" ({qos.depth})" if qos.history == 1 else "")
        return "\n".join(
            (
                f"Node name: {self.node_name}",
                f"Node namespace: {self.node_namespace}",
                f"Topic type: {self.topic_type}",
                f"Topic type hash: {self.topic_type_hash}",
                f"Endpoint type: {self.endpoint_type.name}",
                f"GID: {gid}",
                "QoS profile:",
                f"  Reliability: {qos.reliability.name}",
                f"  History (Depth): {history}",
                f"  Durability: {qos.durability.name}",
                f"  Lifespan: {qos.lifespan}",
                f"  Deadline: {qos.deadline}",
                f"  Liveliness: {qos.liveliness.name}",
                f"  Liveliness lease duration: {qos.liveliness_lease_duration}",
            )
        )
