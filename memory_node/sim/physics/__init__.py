"""The simulated body: a Fetch with physics in a small home (MuJoCo; extra `physics`)."""

import os
from importlib.util import find_spec

from memory_node.domain.errors import ExtraMissingError

if find_spec("mujoco") is None:
    raise ExtraMissingError("physics needs MuJoCo: pip install 'robot_memory[physics]'", name="mujoco")
# MuJoCo chooses its OpenGL when it is imported. EGL needs no display; a user's own choice stays.
os.environ.setdefault("MUJOCO_GL", "egl")
