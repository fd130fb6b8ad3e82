"""`memory-node demo`: a simulated home, the memory and the planner at work, with and without memory."""

from memory_node.app.demo.command import HELP, add_arguments, run

__all__ = ["HELP", "add_arguments", "run"]
