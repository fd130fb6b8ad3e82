"""Resolves BEST_AVAILABLE policies when an endpoint is made, by the rules of ros2/rmw_dds_common."""

from __future__ import annotations

from typing import Any

from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.impl.discovery import Graph
from ros_embedded.rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from ros_embedded.rclpy.qos import qos_profile_best_available as best_available

_BY_TOPIC = 2


def resolved(profile: QoSProfile, graph: Graph, topic: str, is_publisher: bool) -> QoSProfile:
    """`profile` with each BEST_AVAILABLE policy as strict as all endpoints on the DDS topic can match."""
    policies = ("reliability", "durability", "liveliness", "deadline", "liveliness_lease_duration")
    open_ones = [name for name in policies if getattr(profile, name) == getattr(best_available, name)]
    if not open_ones:
        return profile
    known = [end.qos for end in graph.on_topic(topic, is_writer=not is_publisher) if end.qos is not None]
    reliable = is_publisher or all(qos.reliability for qos in known)
    latched = is_publisher or all(qos.durability for qos in known)
    by_topic = [qos.liveliness == _BY_TOPIC for qos in known]
    manual = any(by_topic) if is_publisher else bool(by_topic) and all(by_topic)
    choose = min if is_publisher else max
    strictest: dict[str, Any] = {
        "reliability": ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        "durability": DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        "liveliness": LivelinessPolicy.MANUAL_BY_TOPIC if manual else LivelinessPolicy.AUTOMATIC,
        "deadline": Duration(nanoseconds=choose((qos.deadline for qos in known), default=0)),
        "liveliness_lease_duration": Duration(nanoseconds=choose((qos.lease_duration for qos in known), default=0)),
    }
    return profile.replaced(**{name: strictest[name] for name in open_ones})
