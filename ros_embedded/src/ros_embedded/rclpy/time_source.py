"""Feeds clocks from /clock while a node's parameter use_sim_time is true."""

from __future__ import annotations

import weakref
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.clock import Clock, ROSClock
from ros_embedded.rclpy.impl.node_core import NodeCore
from ros_embedded.rclpy.impl.node_interface import ServingNode
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_embedded.rclpy.time import ClockType, Time

CLOCK_TOPIC = "/clock"
USE_SIM_TIME_NAME = "use_sim_time"


class TimeSource:
    """Follows one node's parameter use_sim_time, for any number of clocks."""

    def __init__(self, *, node: ServingNode | None = None) -> None:
        self._clock_sub: Any = None
        self._node_weak_ref: weakref.ReferenceType[ServingNode] | None = None
        self._associated_clocks: set[ROSClock] = set()
        self._last_time_set = Time(clock_type=ClockType.ROS_TIME)
        self._ros_time_is_active = False
        if node is not None:
            self.attach_node(node)

    @property
    def ros_time_is_active(self) -> bool:
        return self._ros_time_is_active

    @ros_time_is_active.setter
    def ros_time_is_active(self, enabled: bool) -> None:
        if self._ros_time_is_active == enabled:
            return
        self._ros_time_is_active = enabled
        for clock in self._associated_clocks:
            clock._set_ros_time_is_active(enabled)
        node = self._get_node()
        if not enabled:
            self._unsubscribe()
        elif node is not None:
            qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
            clock_type = get_message("rosgraph_msgs/msg/Clock")
            self._clock_sub = node.create_subscription(clock_type, CLOCK_TOPIC, self.clock_callback, qos)

    def attach_node(self, node: ServingNode) -> None:
        """Follow the parameter of `node` alone. Raises TypeError if it is no node."""
        if not isinstance(getattr(node, "_rclpy_core", None), NodeCore):
            raise TypeError("Node must be of type rclpy.node.Node")
        self.detach_node()
        self._node_weak_ref = weakref.ref(node)
        if not node.has_parameter(USE_SIM_TIME_NAME):
            node.declare_parameter(USE_SIM_TIME_NAME, False)
        self._on_set_parameters([node.get_parameter(USE_SIM_TIME_NAME)])
        node.add_on_set_parameters_callback(self._on_set_parameters)

    def detach_node(self) -> None:
        self._unsubscribe()
        self._node_weak_ref = None

    def _unsubscribe(self) -> None:
        node = self._get_node()
        if self._clock_sub is not None and node is not None:
            node.destroy_subscription(self._clock_sub)
        self._clock_sub = None

    def attach_clock(self, clock: Clock) -> None:
        """Feed `clock` too. Raises ValueError unless it is in ROS time."""
        if not isinstance(clock, ROSClock):
            raise ValueError("Only clocks with type ROS_TIME can be attached.")
        clock.set_ros_time_override(self._last_time_set)
        clock._set_ros_time_is_active(self.ros_time_is_active)
        self._associated_clocks.add(clock)

    def clock_callback(self, msg: Any) -> None:
        self._last_time_set = Time.from_msg(msg.clock)
        for clock in self._associated_clocks:
            clock.set_ros_time_override(self._last_time_set)

    def _on_set_parameters(self, parameters: list[Parameter]) -> Any:
        result = get_message("rcl_interfaces/msg/SetParametersResult")(successful=True)
        for parameter in parameters:
            if parameter.name != USE_SIM_TIME_NAME:
                continue
            if parameter.type_ is Parameter.Type.BOOL:
                self.ros_time_is_active = parameter.value
            elif parameter.type_ is not Parameter.Type.NOT_SET:
                result.successful = False
                result.reason = f"{USE_SIM_TIME_NAME} parameter set to something besides a bool"
        return result

    def _get_node(self) -> ServingNode | None:
        return None if self._node_weak_ref is None else self._node_weak_ref()
