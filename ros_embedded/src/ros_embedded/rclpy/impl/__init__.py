"""What rclpy keeps under impl: here, the layer between ROS entities and Cyclone DDS."""
