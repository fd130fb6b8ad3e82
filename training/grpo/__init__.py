"""Reinforcement of compiler and soft memory from an executor's success: group-relative policy optimization."""
