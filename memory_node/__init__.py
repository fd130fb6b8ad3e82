"""The memory of a mobile manipulator; everything but `memory_node.nodes` is free of ROS."""

__version__ = "0.1.0"
