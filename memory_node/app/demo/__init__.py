"""`memory-node demo`: a simulated home, the memory and the planner at work, with and without memory."""
