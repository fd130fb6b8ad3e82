"""Which policies of an endpoint a user may override with parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.exceptions import ParameterAlreadyDeclaredException
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.qos import POLICY_TYPES, QoSPolicyKind, QoSProfile


class InvalidQosOverridesError(Exception):
    """The overridden profile was refused."""


QosCallbackResult = get_message("rcl_interfaces/msg/SetParametersResult")


@dataclass(frozen=True)
class QoSOverridingOptions:
    """Policies that parameters may override; `callback` may refuse the result, `entity_id` marks the endpoint."""

    policy_kinds: Iterable[QoSPolicyKind]
    callback: Callable[[QoSProfile], Any] | None = field(default=None, kw_only=True)
    entity_id: str | None = field(default=None, kw_only=True)

    @classmethod
    def with_default_policies(
        cls, *, callback: Callable[[QoSProfile], Any] | None = None, entity_id: str | None = None
    ) -> QoSOverridingOptions:
        kinds = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY)
        return cls(kinds, callback=callback, entity_id=entity_id)


def declare_qos_parameters(
    node: NodeInterface, entity: str, topic: str, profile: QoSProfile, options: QoSOverridingOptions
) -> QoSProfile:
    """Declare `qos_overrides.<topic>.<entity>[_id].<policy>` parameters and return the profile with their values.

    Raises InvalidQosOverridesError if the options' callback refuses.
    """
    suffix = f"_{options.entity_id}" if options.entity_id else ""
    changes: dict[str, Any] = {}
    for kind in options.policy_kinds:
        policy = kind.name.lower()
        name = f"qos_overrides.{topic}.{entity}{suffix}.{policy}"
        descriptor = get_message("rcl_interfaces/msg/ParameterDescriptor")(read_only=True)
        default: Any = getattr(profile, policy)
        if isinstance(default, Duration):
            default = default.nanoseconds
        elif policy in POLICY_TYPES:
            default = default.short_key
        try:
            value = node.declare_parameter(name, default, descriptor).value
        except ParameterAlreadyDeclaredException:
            value = node.get_parameter(name).value
        try:
            changes[policy] = _policy(policy, value)
        except KeyError as error:
            raise RuntimeError(f"Unexpected QoS override for policy `{policy}`: `{value}`") from error
    overridden = profile.replaced(**changes)
    if options.callback is not None:
        result = options.callback(overridden)
        if not result.successful:
            refused = f"Provided QoS overrides for {entity} `{topic}` with id `{options.entity_id}`, are not valid"
            raise InvalidQosOverridesError(f"{refused}: {result.reason}")
    return overridden


def _policy(policy: str, value: Any) -> Any:
    if policy in POLICY_TYPES:
        return POLICY_TYPES[policy][value.upper()]
    return Duration(nanoseconds=value) if policy in ("deadline", "lifespan", "liveliness_lease_duration") else value
