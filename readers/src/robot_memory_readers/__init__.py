"""Weights of robot_memory's trained readers of instructions; data only, found by memory_node.domain.resources."""
