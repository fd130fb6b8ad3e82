"""What people and other programs look into memory with; free of ROS."""
