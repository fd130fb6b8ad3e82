"""What comes into memory: frames, reported changes, steps of episodes."""
