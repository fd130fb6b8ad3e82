"""The simulated home: world, robot and camera."""
