"""Quality of service that several nodes agree on."""

from rclpy.qos import DurabilityPolicy, QoSProfile

# What joins late gets the last one: maps, the whole graph.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
