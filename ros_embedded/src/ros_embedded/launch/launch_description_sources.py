"""Launch descriptions from Python files."""

from __future__ import annotations

import runpy
from pathlib import Path

from ros_embedded.launch.launch_description import LaunchContext, LaunchDescription
from ros_embedded.launch.substitutions import SomeSubstitutionsType, perform_substitutions


class InvalidPythonLaunchFileError(Exception):
    """A launch file without generate_launch_description()."""


class PythonLaunchDescriptionSource:
    """A .launch.py file. XML and YAML launch files are not served here."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        self.location = launch_file_path

    def path(self, context: LaunchContext) -> Path:
        return Path(perform_substitutions(context, self.location)).resolve()

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Run the file. Raises InvalidPythonLaunchFileError."""
        generate = runpy.run_path(str(self.path(context))).get("generate_launch_description")
        if generate is None:
            raise InvalidPythonLaunchFileError(f"{self.path(context)} has no function generate_launch_description")
        return generate()
