"""Quality of service: policies, profiles and the presets of ROS 2."""
# ruff: noqa: N818 - rclpy's names

from __future__ import annotations

import warnings
from collections.abc import Iterator
from enum import Enum, IntEnum
from typing import Any

from ros_embedded.rclpy.duration import Duration, Infinite


class QoSPolicyKind(IntEnum):
    """Policies, numbered by their bits in incompatible-QoS events."""

    INVALID = 1 << 0
    DURABILITY = 1 << 1
    DEADLINE = 1 << 2
    LIVELINESS = 1 << 3
    RELIABILITY = 1 << 4
    HISTORY = 1 << 5
    LIFESPAN = 1 << 6
    DEPTH = 1 << 7
    LIVELINESS_LEASE_DURATION = 1 << 8
    AVOID_ROS_NAMESPACE_CONVENTIONS = 1 << 9


def qos_policy_name_from_kind(policy_kind: QoSPolicyKind | int) -> str:
    """The name of a policy."""
    return QoSPolicyKind(policy_kind).name


class InvalidQoSProfileException(Exception):
    """A profile lacks what it needs."""

    def __init__(self, *args: Any) -> None:
        super().__init__("Invalid QoSProfile", *args)


class QoSPolicyEnum(IntEnum):
    """Base of the policies' values; a short key is the name that the command line uses."""

    @property
    def short_key(self) -> str:
        return self.name.lower()


class HistoryPolicy(QoSPolicyEnum):
    """How many samples are kept."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3


class ReliabilityPolicy(QoSPolicyEnum):
    """Whether lost samples are sent again."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3


class DurabilityPolicy(QoSPolicyEnum):
    """Whether late joiners get earlier samples."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3


class LivelinessPolicy(QoSPolicyEnum):
    """Who asserts that a publisher is alive."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4


for _policy in (HistoryPolicy, ReliabilityPolicy, DurabilityPolicy, LivelinessPolicy):
    for _value in _policy:  # names from before ROS 2 Foxy, which older nodes use
        setattr(_policy, f"RMW_QOS_POLICY_{_policy.__name__[:-6].upper()}_{_value.name}", _value)

QoSHistoryPolicy = HistoryPolicy
QoSReliabilityPolicy = ReliabilityPolicy
QoSDurabilityPolicy = DurabilityPolicy
QoSLivelinessPolicy = LivelinessPolicy
POLICY_TYPES: dict[str, type[QoSPolicyEnum]] = {
    "history": HistoryPolicy,
    "reliability": ReliabilityPolicy,
    "durability": DurabilityPolicy,
    "liveliness": LivelinessPolicy,
}

_UNSET = Duration()


class QoSProfile:
    """The policies of an endpoint; `history` or `depth` must be given."""

    _DEFAULTS: dict[str, Any] = {  # noqa: RUF012
        "history": HistoryPolicy.KEEP_LAST, "depth": 10, "reliability": ReliabilityPolicy.RELIABLE,
        "durability": DurabilityPolicy.VOLATILE, "lifespan": _UNSET, "deadline": _UNSET,
        "liveliness": LivelinessPolicy.SYSTEM_DEFAULT, "liveliness_lease_duration": _UNSET,
        "avoid_ros_namespace_conventions": False,
    }  # fmt: skip
    history: HistoryPolicy
    depth: int
    reliability: ReliabilityPolicy
    durability: DurabilityPolicy
    lifespan: Duration
    deadline: Duration
    liveliness: LivelinessPolicy
    liveliness_lease_duration: Duration
    avoid_ros_namespace_conventions: bool

    def __init__(self, **kwargs: Any) -> None:
        assert kwargs.keys() <= self._DEFAULTS.keys(), f"Invalid arguments passed to constructor: {kwargs.keys()!r}"
        if "history" not in kwargs and "depth" not in kwargs:
            raise InvalidQoSProfileException("History and/or depth settings are required.")
        if kwargs.get("history", HistoryPolicy.KEEP_LAST) == HistoryPolicy.KEEP_LAST and "depth" not in kwargs:
            raise InvalidQoSProfileException("History set to KEEP_LAST without a depth setting.")
        for name, default in self._DEFAULTS.items():
            setattr(self, name, kwargs.get(name, default))

    def replaced(self, **changes: Any) -> QoSProfile:
        """A copy with other values for some policies."""
        return QoSProfile(**{name: getattr(self, name) for name in self._DEFAULTS} | changes)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._DEFAULTS:
            raise AttributeError(f"'QoSProfile' object has no attribute '{name}'")
        if name in POLICY_TYPES:
            assert isinstance(value, int)
            value = POLICY_TYPES[name](value)
        assert isinstance(value, type(self._DEFAULTS[name]))
        if name == "depth" and value == 0 and self.history == HistoryPolicy.KEEP_LAST:
            warnings.warn(
                "A zero depth with KEEP_LAST doesn't make sense; no data could be stored. "
                "This will be interpreted as SYSTEM_DEFAULT",
                stacklevel=2,
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QoSProfile) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable, as in rclpy

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


def _profile(depth: int = 10, **policies: str) -> QoSProfile:
    kinds = {name: POLICY_TYPES[name][value] for name, value in policies.items()}
    return QoSProfile(depth=depth, **{"history": HistoryPolicy.KEEP_LAST, **kinds})


qos_profile_default = _profile()
qos_profile_unknown = _profile(0, history="UNKNOWN", reliability="UNKNOWN", durability="UNKNOWN", liveliness="UNKNOWN")
qos_profile_system_default = _profile(
    0, history="SYSTEM_DEFAULT", reliability="SYSTEM_DEFAULT", durability="SYSTEM_DEFAULT"
)
qos_profile_sensor_data = _profile(5, reliability="BEST_EFFORT")
qos_profile_services_default = _profile()
qos_profile_parameters = _profile(1000)
qos_profile_parameter_events = _profile(1000)
qos_profile_action_status_default = _profile(1, durability="TRANSIENT_LOCAL")
qos_profile_rosout_default = _profile(1000, durability="TRANSIENT_LOCAL").replaced(lifespan=Duration(seconds=10))


class QoSPresetProfiles(Enum):
    """The profiles that ROS 2 names."""

    UNKNOWN = qos_profile_unknown
    DEFAULT = qos_profile_default
    SYSTEM_DEFAULT = qos_profile_system_default
    SENSOR_DATA = qos_profile_sensor_data
    SERVICES_DEFAULT = qos_profile_services_default
    PARAMETERS = qos_profile_parameters
    PARAMETER_EVENTS = qos_profile_parameter_events
    ACTION_STATUS_DEFAULT = qos_profile_action_status_default


class QoSCompatibility(IntEnum):
    """Whether two endpoints can talk."""

    OK = 0
    WARNING = 1
    ERROR = 2


_UNDECIDED = (0, 4)  # SYSTEM_DEFAULT, and UNKNOWN


def _limit(duration: Duration) -> int:
    return duration.nanoseconds or Infinite.nanoseconds


def _mismatches(pub: QoSProfile, sub: QoSProfile) -> Iterator[str]:
    """Why a subscription refuses what a publisher offers."""
    if (pub.reliability, sub.reliability) == (ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE):
        yield "Best effort publisher and reliable subscription;"
    if (pub.durability, sub.durability) == (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL):
        yield "Volatile publisher and transient local subscription;"
    if _limit(pub.deadline) > _limit(sub.deadline):
        yield "Subscription deadline is less than publisher deadline;"
    if (pub.liveliness, sub.liveliness) == (LivelinessPolicy.AUTOMATIC, LivelinessPolicy.MANUAL_BY_TOPIC):
        yield "Publisher's liveliness is automatic and subscription's is manual by topic;"
    if _limit(pub.liveliness_lease_duration) > _limit(sub.liveliness_lease_duration):
        yield "Subscription liveliness lease duration is less than publisher liveliness lease duration;"


def _doubts(pub: QoSProfile, sub: QoSProfile) -> Iterator[str]:
    """Why they may not communicate: policies that only the middleware decides."""
    if pub.reliability in _UNDECIDED and sub.reliability == ReliabilityPolicy.RELIABLE:
        yield f"Reliable subscription, but publisher is {pub.reliability.short_key};"
    if sub.durability == DurabilityPolicy.TRANSIENT_LOCAL and pub.durability in _UNDECIDED:
        yield f"Transient local subscription, but publisher is {pub.durability.short_key};"
    if pub.liveliness in _UNDECIDED and sub.liveliness in _UNDECIDED:
        names = pub.liveliness.short_key, sub.liveliness.short_key
        yield "Publisher liveliness is {} and subscription liveliness is {};".format(*names)


def qos_check_compatible(publisher_qos: QoSProfile, subscription_qos: QoSProfile) -> tuple[QoSCompatibility, str]:
    """Tell whether a publisher and a subscription with these profiles communicate, and the reason if not."""
    if errors := list(_mismatches(publisher_qos, subscription_qos)):
        return QoSCompatibility.ERROR, "".join(f"ERROR: {text}" for text in errors)
    doubts = list(_doubts(publisher_qos, subscription_qos))
    return QoSCompatibility.WARNING if doubts else QoSCompatibility.OK, "".join(f"WARNING: {text}" for text in doubts)
