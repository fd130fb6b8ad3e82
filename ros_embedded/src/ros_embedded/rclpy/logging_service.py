"""Services that read and set the levels of loggers."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces import get_message, get_service
from ros_embedded.rclpy.impl.node_interface import ServingNode
from ros_embedded.rclpy.logging import get_logger_level, set_logger_level
from ros_embedded.rclpy.qos import qos_profile_services_default


class LoggingService:
    """Created with a node that enables it."""

    def __init__(self, node: ServingNode) -> None:
        for name, callback in (("Get", self._get_logger_levels), ("Set", self._set_logger_levels)):
            srv_type = get_service(f"rcl_interfaces/srv/{name}LoggerLevels")
            node.create_service(
                srv_type, f"~/{name.lower()}_logger_levels", callback, qos_profile=qos_profile_services_default
            )

    def _get_logger_levels(self, request: Any, response: Any) -> Any:
        level = get_message("rcl_interfaces/msg/LoggerLevel")
        response.levels = [level(name=name, level=int(get_logger_level(name))) for name in request.names]
        return response

    def _set_logger_levels(self, request: Any, response: Any) -> Any:
        result = get_message("rcl_interfaces/msg/SetLoggerLevelsResult")
        for level in request.levels:
            answer = result(successful=True)
            try:
                set_logger_level(level.name, level.level)
            except ValueError:
                answer.successful, answer.reason = False, "Failed reason: Invalid logger level."
            response.results.append(answer)
        return response
