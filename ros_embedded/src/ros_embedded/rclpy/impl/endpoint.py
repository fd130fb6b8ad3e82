"""DDS writers and readers that carry ROS messages, and their quality of service."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.duration import Duration, Infinite
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.lifetime import Lifetime
from ros_embedded.rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

_UNLIMITED = -1
_XCDR1 = (ct.c_int16 * 1)(0)


def _nanoseconds(duration: Duration) -> int:
    return duration.nanoseconds or Infinite.nanoseconds


def create_dds_qos(profile: QoSProfile, user_data: bytes, is_writer: bool) -> int:
    """Cyclone's form of `profile`; the caller deletes it."""
    qos = cyclone.create_qos()
    depth = max(profile.depth, 1)
    keep_all = profile.history == HistoryPolicy.KEEP_ALL
    cyclone.qset_history(qos, int(keep_all), depth)
    cyclone.qset_reliability(qos, int(profile.reliability != ReliabilityPolicy.BEST_EFFORT), Infinite.nanoseconds)
    latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    cyclone.qset_durability(qos, int(latched))
    if latched and is_writer:
        cyclone.qset_durability_service(qos, 0, int(keep_all), depth, *(_UNLIMITED,) * 3)
    cyclone.qset_deadline(qos, _nanoseconds(profile.deadline))
    by_topic = profile.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC
    cyclone.qset_liveliness(qos, 2 if by_topic else 0, _nanoseconds(profile.liveliness_lease_duration))
    if is_writer:
        cyclone.qset_lifespan(qos, _nanoseconds(profile.lifespan))
        cyclone.qset_writer_data_lifecycle(qos, False)
    cyclone.qset_data_representation(qos, 1, _XCDR1)
    cyclone.qset_userdata(qos, user_data, len(user_data))
    return qos


def profile_of(qos: cyclone.EndpointQos) -> QoSProfile:
    """A discovered endpoint's quality of service as a ROS profile."""

    def duration(nanoseconds: int) -> Duration:
        return Infinite if nanoseconds == cyclone.INFINITE else Duration(nanoseconds=nanoseconds)

    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL if qos.history else HistoryPolicy.KEEP_LAST,
        depth=0 if qos.history else qos.depth,
        reliability=ReliabilityPolicy.RELIABLE if qos.reliability else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.durability else DurabilityPolicy.VOLATILE,
        lifespan=duration(qos.lifespan),
        deadline=duration(qos.deadline),
        liveliness=LivelinessPolicy.MANUAL_BY_TOPIC if qos.liveliness == 2 else LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=duration(qos.lease_duration),
    )


class _Endpoint:
    condition: int | None = None

    def __init__(
        self,
        participant: int,
        lifetime: Lifetime,
        topic: str,
        descriptor: cyclone.TopicDescriptor,
        qos: QoSProfile,
        user_data: bytes,
    ) -> None:
        is_writer = isinstance(self, Writer)
        create: Any = cyclone.create_writer if is_writer else cyclone.create_reader
        topic_entity = cyclone.check(
            cyclone.create_topic(participant, ct.byref(descriptor), topic.encode(), None, None), f"topic {topic!r}"
        )
        dds_qos = create_dds_qos(qos, user_data, is_writer)
        try:
            self.entity = cyclone.check(create(participant, topic_entity, dds_qos, None), f"endpoint of {topic!r}")
        finally:
            cyclone.delete_qos(dds_qos)
            cyclone.delete(topic_entity)  # the topic lives as long as its endpoints
        self.topic, self._lifetime = topic, lifetime
        self.gid = cyclone.guid(self.entity)

    def matches(self) -> list[int]:
        """Handles of the endpoints on the other side. Raises DDSError after the end."""
        with self._lifetime:
            return cyclone.matched(self.entity, isinstance(self, Writer))

    def close(self) -> None:
        with self._lifetime:
            cyclone.delete(self.entity)


class Writer(_Endpoint):
    """Publishes CDR payloads on a DDS topic."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sertype = cyclone.sertype(self.entity)
        self.handle = cyclone.instance_handle(self.entity)

    def write(self, payload: bytes | bytearray) -> None:
        """Send one sample, its encapsulation header included. Raises DDSError."""
        with self._lifetime:
            cyclone.write_cdr(self.entity, self._sertype, payload)


class Reader(_Endpoint):
    """Receives CDR payloads from a DDS topic; `condition` triggers a wait set while some are waiting."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.condition = cyclone.read_condition(self.entity)

    def take(self, read: Callable[[memoryview], Any] = bytes) -> cyclone.Sample | None:
        """Take the oldest sample, or None; its data is what `read` returns for the payload.

        Raises DDSError after the end, and what `read` raises; the sample is taken in that case, too.
        """
        with self._lifetime:
            return cyclone.take_cdr(self.entity, read)
