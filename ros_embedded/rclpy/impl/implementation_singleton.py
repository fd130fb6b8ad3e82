"""Where nodes look for the C++ extension's names."""

from ros_embedded.rclpy import _rclpy_pybind11 as rclpy_implementation

__all__ = ["rclpy_implementation"]
