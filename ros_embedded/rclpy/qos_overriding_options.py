"""Which policies of an endpoint a user may override with parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.exceptions import InvalidParameterValueException, ParameterAlreadyDeclaredException
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
)

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

_ENUMS = {
    "history": HistoryPolicy,
    "reliability": ReliabilityPolicy,
    "durability": DurabilityPolicy,
    "liveliness": LivelinessPolicy,
}


class InvalidQosOverridesError(Exception):
    """The overridden profile was refused."""


class QoSOverridingOptions:
    """Names the policies; `callback` may refuse the outcome, `entity_id` tells endpoints of one topic apart."""

    def __init__(
        self,
        policy_kinds: Iterable[QoSPolicyKind],
        *,
        callback: Callable[[QoSProfile], Any] | None = None,
        entity_id: str | None = None,
    ) -> None:
        self._policy_kinds, self._callback, self._entity_id = tuple(policy_kinds), callback, entity_id

    @property
    def policy_kinds(self) -> tuple[QoSPolicyKind, ...]:
        """The policies that may be overridden."""
        return self._policy_kinds

    @property
    def callback(self) -> Callable[[QoSProfile], Any] | None:
        """Judges the overridden profile with a SetParametersResult."""
        return self._callback

    @property
    def entity_id(self) -> str | None:
        """Tells endpoints of one topic apart."""
        return self._entity_id

    @classmethod
    def with_default_policies(
        cls, *, callback: Callable[[QoSProfile], Any] | None = None, entity_id: str | None = None
    ) -> QoSOverridingOptions:
        """History, depth and reliability."""
        kinds = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY)
        return cls(kinds, callback=callback, entity_id=entity_id)


def declare_qos_parameters(
    node: Node, entity: str, topic: str, profile: QoSProfile, options: QoSOverridingOptions
) -> QoSProfile:
    """Declare `qos_overrides.<topic>.<entity>[_id].<policy>` parameters and return the profile with their values.

    Raises:
        InvalidQosOverridesError: the options' callback refuses.
    """
    suffix = f"_{options.entity_id}" if options.entity_id else ""
    values = {name: getattr(profile, name) for name in QoSProfile._ORDER}
    for kind in options.policy_kinds:
        policy = kind.name.lower()
        name = f"qos_overrides.{topic}.{entity}{suffix}.{policy}"
        descriptor = get_message("rcl_interfaces/msg/ParameterDescriptor")(read_only=True)
        try:
            parameter = node.declare_parameter(name, _to_parameter(values[policy]), descriptor)
        except ParameterAlreadyDeclaredException:
            parameter = node.get_parameter(name)
        values[policy] = _from_parameter(policy, parameter)
    overridden = QoSProfile(**values)
    if options.callback is not None:
        result = options.callback(overridden)
        if not result.successful:
            raise InvalidQosOverridesError(f"{result.reason}: Provided QoS overrides are not valid")
    return overridden


def _to_parameter(value: Any) -> Any:
    if isinstance(value, Duration):
        return value.nanoseconds
    return value.name.lower() if hasattr(value, "short_key") else value


def _from_parameter(policy: str, parameter: Parameter) -> Any:
    try:
        if policy in _ENUMS:
            return _ENUMS[policy][parameter.value.upper()]
    except KeyError as error:
        raise InvalidParameterValueException(parameter.name, parameter.value, f"unknown {policy} policy") from error
    if policy in ("deadline", "lifespan", "liveliness_lease_duration"):
        return Duration(nanoseconds=parameter.value)
    return parameter.value
