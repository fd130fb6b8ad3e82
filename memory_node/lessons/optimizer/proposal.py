"""The interface of all optimizers: extraction and management of memory are one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.candidate import Candidate


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

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Return what to keep of an attempt. shown: the entries that its task retrieves, the nearest first; one of them
        may be replaced."""
