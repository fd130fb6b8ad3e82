"""Managed nodes: configured, activated, deactivated and cleaned up from outside."""
# ruff: noqa: F401 - the imported names are the API

from ros_embedded.rclpy.lifecycle.managed_entity import ManagedEntity, SimpleManagedEntity
from ros_embedded.rclpy.lifecycle.node import LifecycleNode, LifecycleNodeMixin, LifecycleState
from ros_embedded.rclpy.lifecycle.publisher import LifecyclePublisher
from ros_embedded.rclpy.lifecycle.state_machine import TransitionCallbackReturn

Node, NodeMixin, State, Publisher = LifecycleNode, LifecycleNodeMixin, LifecycleState, LifecyclePublisher
