"""Events of endpoints: deadlines, liveliness, matches, incompatible quality of service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import UnsupportedEventTypeError as UnsupportedEventTypeError  # rclpy's API
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.qos import QoSPolicyKind, qos_policy_name_from_kind
from ros_embedded.rclpy.task import await_or_execute


class QoSPublisherEventType(IntEnum):
    """Events of publishers."""

    RCL_PUBLISHER_OFFERED_DEADLINE_MISSED = 0
    RCL_PUBLISHER_LIVELINESS_LOST = 1
    RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS = 2
    RCL_PUBLISHER_INCOMPATIBLE_TYPE = 3
    RCL_PUBLISHER_MATCHED = 4


class QoSSubscriptionEventType(IntEnum):
    """Events of subscriptions."""

    RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED = 0
    RCL_SUBSCRIPTION_LIVELINESS_CHANGED = 1
    RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS = 2
    RCL_SUBSCRIPTION_MESSAGE_LOST = 3
    RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE = 4
    RCL_SUBSCRIPTION_MATCHED = 5


class QoSCountInfo(NamedTuple):
    """How often something has happened, and how often since the last event."""

    total_count: int
    total_count_change: int


class QoSLivelinessChangedInfo(NamedTuple):
    """How many matched publishers are alive and how many are not."""

    alive_count: int
    not_alive_count: int
    alive_count_change: int
    not_alive_count_change: int


class QoSMatchedInfo(NamedTuple):
    """How many endpoints match."""

    total_count: int
    total_count_change: int
    current_count: int
    current_count_change: int


class QoSIncompatibleInfo(NamedTuple):
    """How many endpoints with incompatible quality of service have been met, and which policy the last one broke."""

    total_count: int
    total_count_change: int
    last_policy_kind: QoSPolicyKind


QoSOfferedDeadlineMissedInfo = QoSRequestedDeadlineMissedInfo = QoSLivelinessLostInfo = QoSCountInfo
QoSMessageLostInfo = IncompatibleTypeInfo = QoSCountInfo
QoSSubscriptionMatchedInfo = QoSPublisherMatchedInfo = QoSMatchedInfo
QoSRequestedIncompatibleQoSInfo = QoSOfferedIncompatibleQoSInfo = QoSIncompatibleInfo

_POLICIES = {  # DDS policy ids
    2: QoSPolicyKind.DURABILITY,
    4: QoSPolicyKind.DEADLINE,
    8: QoSPolicyKind.LIVELINESS,
    11: QoSPolicyKind.RELIABILITY,
    13: QoSPolicyKind.HISTORY,
    22: QoSPolicyKind.LIFESPAN,
}


# each makes an info of the 32-bit words of a DDS status; None if nothing has changed
def _count(words: list[int]) -> Any:
    return QoSCountInfo(*words[:2]) if words[1] else None


def _liveliness(words: list[int]) -> Any:
    return QoSLivelinessChangedInfo(*words[:4]) if words[2] or words[3] else None


def _matched(words: list[int]) -> Any:
    return QoSMatchedInfo(*words[:4]) if words[1] or words[3] else None


def _incompatible(words: list[int]) -> Any:
    kind = _POLICIES.get(words[2], QoSPolicyKind.INVALID)
    return QoSIncompatibleInfo(words[0], words[1], kind) if words[1] else None


class _Event(NamedTuple):
    """An event: its type, the name and bit of Cyclone's status, and the reader of the status's words."""

    type: IntEnum
    status: str
    bit: int
    read: Callable[[list[int]], Any]


Callback = Callable[[Any], Any] | None


class EventHandler(ExecutableEntity):
    """Calls the callbacks of one endpoint's events."""

    def __init__(
        self, callback_group: CallbackGroup, endpoint: Reader | Writer, callbacks: dict[_Event, Callable[[Any], Any]]
    ) -> None:
        super().__init__(callback_group, endpoint.entity)
        self.event_types = [event.type for event in callbacks]
        self._endpoint, self._callbacks = endpoint, callbacks
        cyclone.set_status_mask(endpoint.entity, sum(1 << event.bit for event in callbacks))

    def _take(self) -> Callable[[], Any] | None:
        calls = []
        for event, callback in self._callbacks.items():
            info = event.read(cyclone.take_status(self._endpoint.entity, event.status))
            if info is not None:
                calls.append((callback, info))

        async def call() -> None:
            for callback, info in calls:
                await await_or_execute(callback, info)

        return call if calls else None

    def _close(self) -> None:
        """The endpoint itself is closed by its owner."""


class EventCallbacks:
    """The callbacks of an endpoint's events."""

    _EVENTS: ClassVar[dict[str, _Event]]
    _WARNING: ClassVar[str]
    use_default_callbacks: bool

    def create_event_handlers(
        self, callback_group: CallbackGroup, endpoint: Reader | Writer, logger: Any, topic_name: str
    ) -> list[EventHandler]:
        """The handler of the callbacks that are set; without one for incompatible QoS, a warning is logged."""
        callbacks = {event: getattr(self, name) for name, event in self._EVENTS.items() if getattr(self, name)}

        def warn(info: QoSIncompatibleInfo) -> None:
            logger.warn(self._WARNING.format(topic_name, qos_policy_name_from_kind(info.last_policy_kind)))

        if self.use_default_callbacks:
            callbacks.setdefault(self._EVENTS["incompatible_qos"], warn)
        return [EventHandler(callback_group, endpoint, callbacks)] if callbacks else []


_Publisher, _Subscription = QoSPublisherEventType, QoSSubscriptionEventType


@dataclass(kw_only=True)
class PublisherEventCallbacks(EventCallbacks):
    """The callbacks of a publisher's events; Cyclone reports no incompatible types."""

    deadline: Callback = None
    liveliness: Callback = None
    incompatible_qos: Callback = None
    incompatible_type: Callback = None
    matched: Callback = None
    use_default_callbacks: bool = True

    _EVENTS = {  # noqa: RUF012
        "deadline": _Event(_Publisher.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED, "offered_deadline_missed", 1, _count),
        "liveliness": _Event(_Publisher.RCL_PUBLISHER_LIVELINESS_LOST, "liveliness_lost", 9, _count),
        "incompatible_qos": _Event(
            _Publisher.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS, "offered_incompatible_qos", 3, _incompatible
        ),
        "matched": _Event(_Publisher.RCL_PUBLISHER_MATCHED, "publication_matched", 11, _matched),
    }
    _WARNING = (
        "New subscription discovered on topic '{}', requesting incompatible QoS. "
        "No messages will be sent to it. Last incompatible policy: {}"
    )


@dataclass(kw_only=True)
class SubscriptionEventCallbacks(EventCallbacks):
    """The callbacks of a subscription's events; Cyclone reports no incompatible types."""

    deadline: Callback = None
    incompatible_qos: Callback = None
    liveliness: Callback = None
    message_lost: Callback = None
    incompatible_type: Callback = None
    matched: Callback = None
    use_default_callbacks: bool = True

    _EVENTS = {  # noqa: RUF012
        "deadline": _Event(
            _Subscription.RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED, "requested_deadline_missed", 2, _count
        ),
        "incompatible_qos": _Event(
            _Subscription.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS, "requested_incompatible_qos", 4, _incompatible
        ),
        "liveliness": _Event(_Subscription.RCL_SUBSCRIPTION_LIVELINESS_CHANGED, "liveliness_changed", 10, _liveliness),
        "message_lost": _Event(_Subscription.RCL_SUBSCRIPTION_MESSAGE_LOST, "sample_lost", 5, _count),
        "matched": _Event(_Subscription.RCL_SUBSCRIPTION_MATCHED, "subscription_matched", 12, _matched),
    }
    _WARNING = (
        "New publisher discovered on topic '{}', offering incompatible QoS. "
        "No messages will be received from it. Last incompatible policy: {}"
    )
