"""A brief state while it is being changed; each change is recorded as an operation."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.context.brief_state import MAX_ITEM, BriefState, Section
from memory_node.context.state_operations import Create, Delete, Delta, Fold, Update, apply


class StateDraft:
    """state: as it stands now. delta: the operations that led there."""

    def __init__(self, state: BriefState) -> None:
        self.state = state
        self.delta: Delta = ()

    def put(self, section: Section, old: str, new: str) -> None:
        """Replace one item by another; with "" for old only add, with "" for new only remove. An item that is there
        already stays."""
        items = self.state.items(section)
        has_old = bool(old) and old in items
        if new and new not in items:
            self._do(Update(section=section, old=old, text=new) if has_old else Create(section=section, text=new))
        elif has_old and old != new:
            self._do(Delete(section=section, text=old))

    def add(self, section: Section, text: str) -> None:
        """Add an item."""
        self.put(section, "", text)

    def take_out(self, section: Section, text: str) -> None:
        """Take an item out, if it is there."""
        self.put(section, text, "")

    def fold(self, section: Section, texts: Sequence[str], into: str) -> None:
        """Fold items into one fact."""
        self._do(Fold(section=section, texts=tuple(texts), into=into[:MAX_ITEM]))

    def _do(self, operation: Create | Update | Delete | Fold) -> None:
        self.state = apply((operation,), self.state)
        self.delta = (*self.delta, operation)
