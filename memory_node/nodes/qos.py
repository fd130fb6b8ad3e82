"""Quality of service that several nodes agree on."""

import copy

from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

# What joins late gets the last one: maps, the whole graph.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# What a user may change: `qos_overrides./map.subscription.durability: volatile`, for example.
_KINDS = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.DURABILITY)
OVERRIDABLE_BUT_RELIABILITY = QoSOverridingOptions(_KINDS)
OVERRIDABLE = QoSOverridingOptions((*_KINDS, QoSPolicyKind.RELIABILITY))


def own(profile: QoSProfile) -> QoSProfile:
    """Return a profile for one overridable topic alone: rclpy writes overrides into the profile that it is given."""
    return copy.copy(profile)
