"""What a planner sees of memory: the whole memory behind one door, and context for prompts."""
