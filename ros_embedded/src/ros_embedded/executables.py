"""Finds the command that starts a package's executable, with or without an installed ROS."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points


class ExecutableNotFoundError(LookupError):
    """A package has no executable of that name, or is not installed."""


def executable_command(package: str, executable: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The command that starts an executable.

    It is looked for as colcon installs it, below AMENT_PREFIX_PATH, then by the entry point of the group
    `ros_embedded.executables` that is named as the package: a module to be run as `python -m MODULE EXECUTABLE`.

    Raises:
        ExecutableNotFoundError: if there is neither.

    """
    for prefix in filter(None, environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        path = os.path.join(prefix, "lib", package, executable)
        if os.access(path, os.X_OK):
            return [path]
    for point in entry_points(group="ros_embedded.executables"):
        if point.name == package:
            return [sys.executable, "-m", point.value, executable]
    raise ExecutableNotFoundError(f"executable '{executable}' of package '{package}' not found")
