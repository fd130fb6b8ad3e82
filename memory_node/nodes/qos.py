"""Quality of service that several nodes agree on."""

from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

# What joins late gets the last one: maps, the whole graph.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# What a user may change: `qos_overrides./map.subscription.durability: volatile`, for example.
OVERRIDABLE = QoSOverridingOptions(
    (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY, QoSPolicyKind.DURABILITY)
)
