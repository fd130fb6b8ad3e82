"""What nodes, entities and tasks know of the executor that runs them."""

from __future__ import annotations

from typing import Any, Protocol


class ExecutorInterface(Protocol):
    """Takes tasks, and is told when there is something new to do."""

    def create_task(self, callback: Any, *args: Any) -> Any:
        """Run a function or coroutine while spinning."""

    def _schedule(self, task: Any) -> None:
        """Start a task, or resume one that waited."""

    def wake(self) -> None:
        """End a wait for work."""

    def _refresh(self) -> None:
        """Look again at which nodes and entities there are."""

    def add_node(self, node: Any) -> bool:
        """Take a node in; False if it is in already."""

    def remove_node(self, node: Any) -> None:
        """Leave a node out."""
