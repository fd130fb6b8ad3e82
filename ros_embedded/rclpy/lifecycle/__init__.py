"""Managed nodes: configured, activated, deactivated and cleaned up from outside."""

from ros_embedded.rclpy.lifecycle.managed_entity import ManagedEntity, SimpleManagedEntity
from ros_embedded.rclpy.lifecycle.node import LifecycleNode, LifecycleNodeMixin, LifecycleState
from ros_embedded.rclpy.lifecycle.publisher import LifecyclePublisher
from ros_embedded.rclpy.lifecycle.state_machine import TransitionCallbackReturn  # noqa: F401 - not in rclpy's __all__

Node = LifecycleNode
NodeMixin = LifecycleNodeMixin
State = LifecycleState
Publisher = LifecyclePublisher

__all__ = [
    "LifecycleNode",
    "LifecycleNodeMixin",
    "LifecyclePublisher",
    "LifecycleState",
    "ManagedEntity",
    "SimpleManagedEntity",
]
