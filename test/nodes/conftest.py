"""Node tests run on the real rclpy where it is sourced, on ros_embedded elsewhere."""

from memory_node.nodes.run import activate_ros

activate_ros()
