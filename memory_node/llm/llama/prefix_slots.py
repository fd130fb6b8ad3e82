"""Which prompts a model keeps in its memory, so that what they share with the next one is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.errors import TooLongError

SEQUENCE = 0  # the number of the sequence in which prompts are read


class SequenceMemory(Protocol):
    """The attention memory of a model: cells that belong to numbered sequences of tokens."""

    def cut(self, sequence: int, start: int) -> None:
        """Take everything from position `start` on out of a sequence."""

    def saved(self, sequence: int) -> NDArray[np.uint8]:
        """Return what it holds of a sequence."""

    def restore(self, sequence: int, state: NDArray[np.uint8]) -> None:
        """Put what was saved into an empty sequence."""


@dataclass
class Slot:
    """One kept prompt. adapter: what it was read with; tokens: what is kept of it; state: as saved, None in memory."""

    sequence: int = SEQUENCE
    adapter: str = ""
    tokens: list[int] = field(default_factory=list)
    used: int = 0
    state: NDArray[np.uint8] | None = None


class PrefixSlots:
    """Gives each prompt the one sequence, with as much of the prompt's beginning as is known.

    A slot of which the new prompt shares at least half is taken over; otherwise the prompt goes into the slot that was
    unused for longest, and begins with what it shares. Attention passes over all cells in use, whosesoever they are,
    so only the prompt that is read lies in the memory; the others are saved beside it. When all together have more
    tokens than there are cells, the slots unused for longest are emptied.

    Args:
        memory: where the sequence lives.
        count: how many prompts are kept.
        cells: tokens that all of them have together.
    """

    def __init__(self, memory: SequenceMemory, count: int, cells: int) -> None:
        self._memory = memory
        self._cells = cells
        self._slots = [Slot() for _ in range(count)]
        self._live = self._slots[0]
        self._clock = 0

    def take(self, adapter: str, tokens: Sequence[int], room: int) -> Slot:
        """Return the slot for a prompt. Its tokens are a beginning of the prompt that lacks at least the last token.

        room: tokens that will be added behind the prompt, and beside it for a moment.

        Raises:
            TooLongError: prompt and room exceed the cells.
        """
        if len(tokens) + room > self._cells:
            raise TooLongError(
                f"a prompt of {len(tokens)} tokens and {room} for the reply; the model's window has {self._cells}"
            )
        best = max(self._slots, key=lambda slot: _shared(slot, adapter, tokens))
        shared = _shared(best, adapter, tokens)
        slot = best
        if 2 * shared < len(best.tokens):
            slot = min((one for one in self._slots if one is not best), key=lambda one: one.used, default=best)
        self._clock += 1
        best.used = slot.used = self._clock
        self._bring(slot, best, shared)
        slot.adapter, slot.tokens = adapter, best.tokens[:shared]
        self._make_room(slot, len(tokens) + room)
        return slot

    def _bring(self, slot: Slot, best: Slot, shared: int) -> None:
        """Leave in the memory what `best` begins with, for `slot`; save what lay there, unless it was the slot's."""
        was = self._live
        if was is not slot and was.tokens:
            was.state = self._memory.saved(SEQUENCE)
        if best is not was and best.state is not None and shared:
            self._memory.cut(SEQUENCE, 0)
            self._memory.restore(SEQUENCE, best.state)
            self._memory.cut(SEQUENCE, shared)
        else:
            self._memory.cut(SEQUENCE, shared if best is was else 0)
        slot.state = None
        self._live = slot

    def forget_all(self) -> None:
        """Take note that the memory was cleared."""
        for slot in self._slots:
            slot.tokens, slot.state = [], None

    def _make_room(self, keeper: Slot, needed: int) -> None:
        for slot in sorted(self._slots, key=lambda one: one.used):
            if needed + sum(len(one.tokens) for one in self._slots if one is not keeper) <= self._cells:
                return
            if slot is not keeper:
                slot.tokens, slot.state = [], None


def _shared(slot: Slot, adapter: str, tokens: Sequence[int]) -> int:
    """Return how many tokens a prompt and a slot begin with in common; the prompt's last token is always read."""
    if slot.adapter != adapter:
        return 0
    limit = min(len(slot.tokens), len(tokens) - 1)
    return next((i for i in range(limit) if slot.tokens[i] != tokens[i]), max(limit, 0))
