"""The simulated home: world, robot and camera; `physics` has a body with physics."""
