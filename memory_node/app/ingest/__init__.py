"""`memory-node ingest`: a memory from recorded input."""
