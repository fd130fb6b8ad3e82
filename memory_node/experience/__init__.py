"""Working, episodic and semantic memory of what the robot did."""
