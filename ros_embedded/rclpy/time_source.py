"""Feeds a node's clock from /clock while the parameter use_sim_time is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.clock import ROSClock
from ros_embedded.rclpy.parameter import Parameter
from ros_embedded.rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_embedded.rclpy.time import Time

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

CLOCK_TOPIC = "/clock"
USE_SIM_TIME_NAME = "use_sim_time"


class TimeSource:
    """Belongs to one node."""

    def __init__(self, node: Node, clock: ROSClock) -> None:
        self._node, self._clock = node, clock
        self._subscription: Any = None
        if not node.has_parameter(USE_SIM_TIME_NAME):
            node.declare_parameter(USE_SIM_TIME_NAME, False)
        self._apply(node.get_parameter(USE_SIM_TIME_NAME))
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply_all)

    @property
    def ros_time_is_active(self) -> bool:
        return self._clock.ros_time_is_active

    def _check(self, parameters: list[Parameter]) -> Any:
        result = get_message("rcl_interfaces/msg/SetParametersResult")(successful=True)
        for parameter in parameters:
            if parameter.name == USE_SIM_TIME_NAME and parameter.type_ is not Parameter.Type.BOOL:
                result.successful = False
                result.reason = f"{USE_SIM_TIME_NAME} parameter set to something besides a bool"
        return result

    def _apply_all(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            self._apply(parameter)

    def _apply(self, parameter: Parameter) -> None:
        if parameter.name != USE_SIM_TIME_NAME:
            return
        if parameter.value is True and self._subscription is None:
            self._subscription = self._node.create_subscription(
                get_message("rosgraph_msgs/msg/Clock"),
                CLOCK_TOPIC,
                self._on_clock,
                QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
            )
        elif parameter.value is not True and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
        self._clock._set_ros_time_is_active(parameter.value is True)

    def _on_clock(self, message: Any) -> None:
        self._clock.set_ros_time_override(Time.from_msg(message.clock))
