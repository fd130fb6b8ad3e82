"""Where rclpy keeps topic_or_service_is_hidden()."""

from ros_embedded.rclpy.names import HIDDEN_TOPIC_PREFIX, TOPIC_SEPARATOR_STRING, topic_or_service_is_hidden

__all__ = ["HIDDEN_TOPIC_PREFIX", "TOPIC_SEPARATOR_STRING", "topic_or_service_is_hidden"]
