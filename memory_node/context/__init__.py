"""What a planner is told of memory."""
