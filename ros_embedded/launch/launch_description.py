"""What a launch file returns, and what that is evaluated in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ros_embedded.interfaces.lookup import share_folders


class LaunchContext:
    """The configurations and environment at a point of the description, and the processes it has asked for so far."""

    def __init__(self, temporary_folder: Path) -> None:
        self.temporary_folder = temporary_folder
        self.launch_configurations: dict[str, str] = {}
        self.environment: dict[str, str] = dict(os.environ)
        self.ros_namespace = ""
        self.launch_file: Path | None = None
        self.processes: list[Any] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo, at the end, changes of configurations, environment and namespace."""
        saved = dict(vars(self))
        self.launch_configurations = dict(self.launch_configurations)
        self.environment = dict(self.environment)
        try:
            yield
        finally:
            vars(self).update(saved)

    def share_folder(self, package: str) -> Path:
        """A package's share folder; a launch file in a checkout finds its own package above itself.

        Raises LookupError if the package is not installed.
        """
        folders = share_folders(package, self.launch_file.parents if self.launch_file else ())
        if not folders:
            raise LookupError(f"package '{package}' not found: neither installed nor above the launch file")
        return folders[0]


class LaunchDescription:
    """Actions and further descriptions, carried out in their order."""

    def __init__(self, initial_entities: Iterable[Any] | None = None) -> None:
        self.entities = list(initial_entities or ())
        self.add_action = self.add_entity = self.entities.append

    def visit(self, context: LaunchContext) -> None:
        for entity in self.entities:
            entity.visit(context)
