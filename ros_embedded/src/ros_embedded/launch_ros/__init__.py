"""Nodes in launch descriptions: the everyday part of Jazzy's launch_ros."""
