"""Where rclpy keeps expand_topic_name()."""

from ros_embedded.rclpy.names import expand_topic_name

__all__ = ["expand_topic_name"]
