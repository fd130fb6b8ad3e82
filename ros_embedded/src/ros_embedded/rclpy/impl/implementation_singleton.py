"""Where nodes look for the C++ extension, of which only the errors are served."""

from ros_embedded.rclpy import exceptions as rclpy_implementation  # noqa: F401 - offered
