"""The same ROS that the programs get: the real one where it is sourced, ros_embedded elsewhere."""

from memory_node.nodes.run import activate_ros

activate_ros()
