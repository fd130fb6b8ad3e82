"""Training of the optimizer of memory: a warm start, then reinforcement by what memory does for neighbouring tasks."""
