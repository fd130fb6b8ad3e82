"""What is asked of memory: where things are, where to look, the whole scene, what a planner should know."""
