"""Launch descriptions without ROS: the part of Jazzy's `launch` that starts nodes."""

from ros_embedded.launch.launch_description import LaunchContext, LaunchDescription

__all__ = ["LaunchContext", "LaunchDescription"]
