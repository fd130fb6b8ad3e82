"""Where rclpy keeps validate_full_topic_name()."""

from ros_embedded.rclpy.names import validate_full_topic_name

__all__ = ["validate_full_topic_name"]
