"""The simulated body: a Fetch with physics in a small home (MuJoCo; extra `physics`)."""

import os
from importlib.util import find_spec

from memory_node.domain.errors import ResourceMissingError

if find_spec("mujoco") is None:
    raise ResourceMissingError("physics needs MuJoCo: pip install 'robot_memory[physics]'")
# MuJoCo chooses its OpenGL when it is imported. EGL needs no display; a user's own choice stays.
os.environ.setdefault("MUJOCO_GL", "egl")
