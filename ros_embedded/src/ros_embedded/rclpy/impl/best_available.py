"""Resolves BEST_AVAILABLE policies when an endpoint is made, by the rules of ros2/rmw_dds_common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.impl.cyclone import EndpointQos
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
    strictest = _strictest_offer(known) if is_publisher else _strictest_request(known)
    return profile.replaced(**{name: strictest[name] for name in open_ones})


def _strictest_offer(readers: Sequence[EndpointQos]) -> dict[str, Any]:
    """The most that a publisher can offer, as no subscription minds more than it asks for."""
    manual = any(qos.liveliness == _BY_TOPIC for qos in readers)
    return {
        "reliability": ReliabilityPolicy.RELIABLE,
        "durability": DurabilityPolicy.TRANSIENT_LOCAL,
        "liveliness": LivelinessPolicy.MANUAL_BY_TOPIC if manual else LivelinessPolicy.AUTOMATIC,
        "deadline": Duration(nanoseconds=min((qos.deadline for qos in readers), default=0)),
        "liveliness_lease_duration": Duration(nanoseconds=min((qos.lease_duration for qos in readers), default=0)),
    }


def _strictest_request(writers: Sequence[EndpointQos]) -> dict[str, Any]:
    """The most that a subscription can ask for so that every publisher offers it."""
    reliable = all(qos.reliability for qos in writers)
    latched = all(qos.durability for qos in writers)
    manual = bool(writers) and all(qos.liveliness == _BY_TOPIC for qos in writers)
    return {
        "reliability": ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        "durability": DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        "liveliness": LivelinessPolicy.MANUAL_BY_TOPIC if manual else LivelinessPolicy.AUTOMATIC,
        "deadline": Duration(nanoseconds=max((qos.deadline for qos in writers), default=0)),
        "liveliness_lease_duration": Duration(nanoseconds=max((qos.lease_duration for qos in writers), default=0)),
    }
