"""Where rclpy keeps validate_namespace()."""

from ros_embedded.rclpy.names import validate_namespace

__all__ = ["validate_namespace"]
