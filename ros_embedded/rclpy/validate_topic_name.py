"""Where rclpy keeps validate_topic_name()."""

from ros_embedded.rclpy.names import validate_topic_name

__all__ = ["validate_topic_name"]
