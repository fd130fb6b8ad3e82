"""`memory-node ingest`: a memory from recorded input."""

from memory_node.app.ingest.command import HELP, add_arguments, run

__all__ = ["HELP", "add_arguments", "run"]
