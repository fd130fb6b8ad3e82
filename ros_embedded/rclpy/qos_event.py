"""The former name of event_handler."""

from ros_embedded.rclpy.event_handler import *  # noqa: F403
