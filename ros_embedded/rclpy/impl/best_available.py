"""What BEST_AVAILABLE becomes when an endpoint is made, by the rules of ros2/rmw_dds_common."""

from __future__ import annotations

from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.impl.graph import Graph
from ros_embedded.rclpy.qos import (
    DeadlineBestAvailable,
    DurabilityPolicy,
    LivelinessLeaseDurationeBestAvailable,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

_BY_TOPIC = 2


def resolved(profile: QoSProfile, graph: Graph, topic: str, for_publisher: bool) -> QoSProfile:
    """`profile` with each BEST_AVAILABLE policy as strict as matching all that is on the DDS topic allows."""
    if not (
        profile.reliability == ReliabilityPolicy.BEST_AVAILABLE
        or profile.durability == DurabilityPolicy.BEST_AVAILABLE
        or profile.liveliness == LivelinessPolicy.BEST_AVAILABLE
        or profile.deadline == DeadlineBestAvailable
        or profile.liveliness_lease_duration == LivelinessLeaseDurationeBestAvailable
    ):
        return profile
    others = graph.on_topic(topic, is_writer=not for_publisher)
    known = [endpoint.qos for endpoint in others if endpoint.qos is not None]
    values = {name: getattr(profile, name) for name in QoSProfile._ORDER}
    if profile.reliability == ReliabilityPolicy.BEST_AVAILABLE:
        reliable = for_publisher or all(qos.reliability for qos in known)
        values["reliability"] = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
    if profile.durability == DurabilityPolicy.BEST_AVAILABLE:
        latched = for_publisher or all(qos.durability for qos in known)
        values["durability"] = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    if profile.liveliness == LivelinessPolicy.BEST_AVAILABLE:
        by_topic = [qos.liveliness == _BY_TOPIC for qos in known]
        manual = any(by_topic) if for_publisher else bool(by_topic) and all(by_topic)
        values["liveliness"] = LivelinessPolicy.MANUAL_BY_TOPIC if manual else LivelinessPolicy.AUTOMATIC
    choose = min if for_publisher else max
    if profile.deadline == DeadlineBestAvailable:
        values["deadline"] = Duration(nanoseconds=choose((qos.deadline for qos in known), default=0))
    if profile.liveliness_lease_duration == LivelinessLeaseDurationeBestAvailable:
        lease = choose((qos.lease_duration for qos in known), default=0)
        values["liveliness_lease_duration"] = Duration(nanoseconds=lease)
    return QoSProfile(**values)
