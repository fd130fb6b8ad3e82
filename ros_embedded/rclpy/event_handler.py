"""Events of endpoints: deadlines, liveliness, matches, incompatible quality of service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.exceptions import UnsupportedEventTypeError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.qos import QoSPolicyKind, qos_policy_name_from_kind


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


@dataclass(frozen=True)
class QoSCountInfo:
    """How often something has happened, and how often since the last event."""

    total_count: int
    total_count_change: int


QoSOfferedDeadlineMissedInfo = QoSCountInfo
QoSRequestedDeadlineMissedInfo = QoSCountInfo
QoSLivelinessLostInfo = QoSCountInfo
QoSMessageLostInfo = QoSCountInfo
IncompatibleTypeInfo = QoSCountInfo


@dataclass(frozen=True)
class QoSLivelinessChangedInfo:
    """How many matched publishers are alive and not."""

    alive_count: int
    not_alive_count: int
    alive_count_change: int
    not_alive_count_change: int


@dataclass(frozen=True)
class QoSMatchedInfo:
    """How many endpoints match."""

    total_count: int
    total_count_change: int
    current_count: int
    current_count_change: int


QoSSubscriptionMatchedInfo = QoSMatchedInfo
QoSPublisherMatchedInfo = QoSMatchedInfo


@dataclass(frozen=True)
class QoSRequestedIncompatibleQoSInfo:
    """How many endpoints with incompatible quality of service have been met, and which policy the last one broke."""

    total_count: int
    total_count_change: int
    last_policy_kind: QoSPolicyKind


QoSOfferedIncompatibleQoSInfo = QoSRequestedIncompatibleQoSInfo

_POLICIES = {  # DDS policy ids
    2: QoSPolicyKind.DURABILITY,
    4: QoSPolicyKind.DEADLINE,
    8: QoSPolicyKind.LIVELINESS,
    11: QoSPolicyKind.RELIABILITY,
    13: QoSPolicyKind.HISTORY,
    22: QoSPolicyKind.LIFESPAN,
}


def _count(words: list[int]) -> Any:
    return QoSCountInfo(*words[:2]) if words[1] else None


def _liveliness(words: list[int]) -> Any:
    return QoSLivelinessChangedInfo(*words[:4]) if words[2] or words[3] else None


def _matched(words: list[int]) -> Any:
    return QoSMatchedInfo(*words[:4]) if words[1] or words[3] else None


def _incompatible(words: list[int]) -> Any:
    kind = _POLICIES.get(words[2], QoSPolicyKind.INVALID)
    return QoSRequestedIncompatibleQoSInfo(words[0], words[1], kind) if words[1] else None


# event type: Cyclone's status, its bit, and how to read its words; None is read where nothing has changed
_STATUSES: dict[IntEnum, tuple[str, int, Callable[[list[int]], Any]]] = {
    QoSPublisherEventType.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED: ("offered_deadline_missed", 1, _count),
    QoSPublisherEventType.RCL_PUBLISHER_LIVELINESS_LOST: ("liveliness_lost", 9, _count),
    QoSPublisherEventType.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS: ("offered_incompatible_qos", 3, _incompatible),
    QoSPublisherEventType.RCL_PUBLISHER_MATCHED: ("publication_matched", 11, _matched),
}
_SUBSCRIPTION_STATUSES: dict[IntEnum, tuple[str, int, Callable[[list[int]], Any]]] = {
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED: ("requested_deadline_missed", 2, _count),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED: ("liveliness_changed", 10, _liveliness),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS: (
        "requested_incompatible_qos", 4, _incompatible,
    ),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_MESSAGE_LOST: ("sample_lost", 5, _count),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_MATCHED: ("subscription_matched", 12, _matched),
}  # fmt: skip


class EventHandler(ExecutableEntity):
    """Calls the callbacks of one endpoint's events."""

    def __init__(
        self, callback_group: CallbackGroup, endpoint: Reader | Writer, callbacks: dict[IntEnum, Callable[[Any], Any]]
    ) -> None:
        super().__init__(callback_group, endpoint.entity)
        statuses = _STATUSES if isinstance(endpoint, Writer) else _SUBSCRIPTION_STATUSES
        self.event_types = list(callbacks)
        self._endpoint = endpoint
        unsupported = [event.name for event in callbacks if event not in statuses]
        if unsupported:
            raise UnsupportedEventTypeError(f"{unsupported} are not supported by Cyclone DDS")
        self._handled = [(*statuses[event], callback) for event, callback in callbacks.items()]
        cyclone.set_status_mask(endpoint.entity, sum(1 << bit for _, bit, _, _ in self._handled))

    def _take(self) -> Callable[[], Any] | None:
        calls = []
        for name, _, read, callback in self._handled:
            info = read(cyclone.take_status(self._endpoint.entity, name))
            if info is not None:
                calls.append((callback, info))

        def call() -> None:
            for callback, info in calls:
                callback(info)

        return call if calls else None

    def _close(self) -> None:
        """The endpoint itself is closed by its owner."""


class _EventCallbacks:
    _EVENTS: dict[str, IntEnum]
    _WARNING: str

    def __init__(self, use_default_callbacks: bool, callbacks: dict[str, Callable[[Any], Any] | None]) -> None:
        self.use_default_callbacks = use_default_callbacks
        for name, callback in callbacks.items():
            setattr(self, name, callback)

    def create_event_handlers(
        self, callback_group: CallbackGroup, endpoint: Reader | Writer, logger: Any, topic_name: str
    ) -> list[EventHandler]:
        """The handler for the callbacks that are set; incompatible QoS is warned of if nothing else is."""
        callbacks = {event: getattr(self, name) for name, event in self._EVENTS.items() if getattr(self, name)}
        incompatible = self._EVENTS["incompatible_qos"]
        if self.use_default_callbacks and incompatible not in callbacks:

            def warn(info: Any) -> None:
                logger.warn(self._WARNING.format(topic_name, qos_policy_name_from_kind(info.last_policy_kind)))

            callbacks[incompatible] = warn
        return [EventHandler(callback_group, endpoint, callbacks)] if callbacks else []


class PublisherEventCallbacks(_EventCallbacks):
    """What a publisher calls when something happens to it."""

    _EVENTS = {  # noqa: RUF012
        "deadline": QoSPublisherEventType.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED,
        "liveliness": QoSPublisherEventType.RCL_PUBLISHER_LIVELINESS_LOST,
        "incompatible_qos": QoSPublisherEventType.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS,
        "matched": QoSPublisherEventType.RCL_PUBLISHER_MATCHED,
    }
    _WARNING = (
        "New subscription discovered on topic '{}', requesting incompatible QoS. "
        "No messages will be sent to it. Last incompatible policy: {}"
    )

    def __init__(
        self,
        *,
        deadline: Callable[[QoSOfferedDeadlineMissedInfo], None] | None = None,
        liveliness: Callable[[QoSLivelinessLostInfo], None] | None = None,
        incompatible_qos: Callable[[QoSOfferedIncompatibleQoSInfo], None] | None = None,
        incompatible_type: Callable[[IncompatibleTypeInfo], None] | None = None,
        matched: Callable[[QoSPublisherMatchedInfo], None] | None = None,
        use_default_callbacks: bool = True,
    ) -> None:
        self.incompatible_type = incompatible_type  # Cyclone has no such event
        callbacks = {
            "deadline": deadline,
            "liveliness": liveliness,
            "incompatible_qos": incompatible_qos,
            "matched": matched,
        }
        super().__init__(use_default_callbacks, callbacks)


class SubscriptionEventCallbacks(_EventCallbacks):
    """What a subscription calls when something happens to it."""

    _EVENTS = {  # noqa: RUF012
        "deadline": QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED,
        "incompatible_qos": QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS,
        "liveliness": QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED,
        "message_lost": QoSSubscriptionEventType.RCL_SUBSCRIPTION_MESSAGE_LOST,
        "matched": QoSSubscriptionEventType.RCL_SUBSCRIPTION_MATCHED,
    }
    _WARNING = (
        "New publisher discovered on topic '{}', offering incompatible QoS. "
        "No messages will be received from it. Last incompatible policy: {}"
    )

    def __init__(
        self,
        *,
        deadline: Callable[[QoSRequestedDeadlineMissedInfo], None] | None = None,
        incompatible_qos: Callable[[QoSRequestedIncompatibleQoSInfo], None] | None = None,
        liveliness: Callable[[QoSLivelinessChangedInfo], None] | None = None,
        message_lost: Callable[[QoSMessageLostInfo], None] | None = None,
        incompatible_type: Callable[[IncompatibleTypeInfo], None] | None = None,
        matched: Callable[[QoSSubscriptionMatchedInfo], None] | None = None,
        use_default_callbacks: bool = True,
    ) -> None:
        self.incompatible_type = incompatible_type  # Cyclone has no such event
        callbacks = {
            "deadline": deadline,
            "incompatible_qos": incompatible_qos,
            "liveliness": liveliness,
            "message_lost": message_lost,
            "matched": matched,
        }
        super().__init__(use_default_callbacks, callbacks)
