"""The layer between ROS entities and Cyclone DDS, and the parts of rclpy's own package `impl` that programs use."""
