"""Where rclpy keeps validate_node_name()."""

from ros_embedded.rclpy.names import validate_node_name

__all__ = ["validate_node_name"]
