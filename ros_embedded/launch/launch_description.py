"""What a launch file returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ros_embedded.launch.launch_context import LaunchContext


class LaunchDescription:
    """Actions and further descriptions, carried out in their order."""

    def __init__(self, initial_entities: Iterable[Any] | None = None) -> None:
        self.entities = list(initial_entities or ())

    def add_action(self, action: Any) -> None:
        self.entities.append(action)

    add_entity = add_action

    def visit(self, context: LaunchContext) -> None:
        for entity in self.entities:
            entity.visit(context)
