"""Where rclpy keeps validate_parameter_name()."""

from ros_embedded.rclpy.names import validate_parameter_name

__all__ = ["validate_parameter_name"]
