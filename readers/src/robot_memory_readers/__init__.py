"""Weights of robot_memory's trained reader of instructions; data only, found by memory_node.domain.resources."""
