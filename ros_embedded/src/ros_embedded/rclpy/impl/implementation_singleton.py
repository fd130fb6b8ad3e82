"""Stands for rclpy's C++ extension, of which only the exceptions are served."""

from ros_embedded.rclpy import exceptions as rclpy_implementation  # noqa: F401 - the API
