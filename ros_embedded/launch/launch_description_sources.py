"""Launch descriptions from Python files."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from ros_embedded.launch.launch_context import LaunchContext
from ros_embedded.launch.launch_description import LaunchDescription
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions


class InvalidPythonLaunchFileError(Exception):
    """A launch file without generate_launch_description()."""


class LaunchDescriptionSource:
    """A launch description that is given, or comes from a file."""

    def __init__(self, launch_description: LaunchDescription | None = None, location: Any = None) -> None:
        self._description = launch_description
        self.location = location

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        if self._description is None:
            self._description = self._load(context)
        return self._description

    def path(self, context: LaunchContext) -> Path | None:
        return None if self.location is None else Path(perform_substitutions(context, self.location)).resolve()

    def _load(self, context: LaunchContext) -> LaunchDescription:
        raise NotImplementedError


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A .launch.py file. XML and YAML launch files are not served here."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path)

    def _load(self, context: LaunchContext) -> LaunchDescription:
        path = self.path(context)
        generate = runpy.run_path(str(path)).get("generate_launch_description")
        if generate is None:
            raise InvalidPythonLaunchFileError(f"{path} has no function generate_launch_description")
        return generate()
