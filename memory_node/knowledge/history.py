"""What changed in the graph, so that it can be undone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.standard_step import StandardStep

Node = Proposition | StandardStep
# Operations that can be undone.
_OPERATIONS_KEPT = 64


@dataclass(frozen=True)
class Edit:
    """One node before and after; None: it was not there. kind: as in the log. key: names it within its kind."""

    kind: str
    key: str
    before: Node | None
    after: Node | None

    @property
    def logged_key(self) -> str:
        """What names the node in the log."""
        node = self.before or self.after
        return node.key if isinstance(node, Proposition) else self.key

    @property
    def reversed(self) -> Edit:
        """The edit that takes this one back."""
        return Edit(self.kind, self.key, self.after, self.before)


class History:
    """The last operations, each as its edits."""

    def __init__(self) -> None:
        self._operations: deque[tuple[Edit, ...]] = deque(maxlen=_OPERATIONS_KEPT)

    def __len__(self) -> int:
        return len(self._operations)

    def note(self, edits: tuple[Edit, ...]) -> None:
        """Remember an operation."""
        if edits:
            self._operations.append(edits)

    def take_back(self) -> tuple[Edit, ...]:
        """Return the edits that undo the last operation, and forget it; none when there is nothing to undo."""
        if not self._operations:
            return ()
        return tuple(edit.reversed for edit in reversed(self._operations.pop()))

    def clear(self) -> None:
        """Make everything so far final."""
        self._operations.clear()
