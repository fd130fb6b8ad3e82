"""What agents are given of memory, whether it lies in a file or in a running node."""

from __future__ import annotations

from typing import Protocol

from memory_node.domain.ports import MemoryPort


class AgentMemory(MemoryPort, Protocol):
    """A memory that tells itself in words and forgets, too."""

    def scene_text(self, token_budget: int) -> str:
        """Return the scene graph in words within a budget."""

    def forget(self, object_id: str) -> int:
        """Erase an object, history included; return how many objects went."""
