"""The part of an executor that nodes, entities and tasks know."""

from __future__ import annotations

from typing import Any, Protocol


class ExecutorInterface(Protocol):
    """Runs tasks, and looks for work again when told to."""

    def create_task(self, callback: Any, *args: Any) -> Any:
        """Run a function or coroutine while spinning."""

    def _schedule(self, task: Any) -> None:
        """Start a task, or resume one that waited."""

    def wake(self) -> None:
        """End a wait for work."""

    def _refresh(self) -> None:
        """Look again at which nodes and entities there are."""

    def add_node(self, node: Any) -> bool:
        """Add a node; False if it has been added already."""

    def remove_node(self, node: Any) -> None:
        """Remove a node."""
