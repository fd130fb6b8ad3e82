"""The interface of all optimizers: extraction and management of memory are one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.lessons.optimizer.attempt import Attempt, Deed
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.optimizer.entry import MemoryEntry
from memory_node.lessons.optimizer.method_note import RepairNote


@dataclass(frozen=True)
class Proposal:
    """What an optimizer answers. candidate: None where it has nothing to say. problem: why not, "" otherwise.
    tokens_in, tokens_out: what a language model read and wrote for it."""

    candidate: Candidate | None
    analysis: str = ""
    problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Optimizer(Protocol):
    """Decides what an attempt leaves in memory. is_quick: whether it answers at once, without a language model."""

    name: str
    is_quick: bool

    def propose(self, attempt: Attempt, shown: Sequence[MemoryEntry]) -> Proposal:
        """Return what to keep of an attempt. shown: the entries that its task retrieves, the nearest first; one of them
        may be replaced."""

    def repairs_at_once(self, deed: Deed) -> tuple[RepairNote, ...]:
        """Return what a failed action teaches before its attempt has ended; () where whole attempts alone are read."""


class WholeAttempts:
    """An optimizer that learns nothing before an attempt has ended."""

    def repairs_at_once(self, deed: Deed) -> tuple[RepairNote, ...]:
        """Return nothing; see Optimizer."""
        return ()
