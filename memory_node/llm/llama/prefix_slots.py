"""Which prompts a model keeps in its memory, so that what they share with the next one is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory_node.llm.errors import TooLongError


class SequenceMemory(Protocol):
    """The attention memory of a model: cells that belong to one or more numbered sequences of tokens."""

    def cut(self, sequence: int, start: int) -> None:
        """Take everything from position `start` on out of a sequence."""

    def share(self, source: int, target: int, end: int) -> None:
        """Let the first `end` positions of `source` belong to the empty sequence `target`, too."""


@dataclass
class Slot:
    """One kept sequence. adapter: what it was read with; tokens: what the memory holds of it."""

    sequence: int
    adapter: str = ""
    tokens: list[int] = field(default_factory=list)
    used: int = 0


class PrefixSlots:
    """Gives each prompt a sequence that holds as much of its beginning as is known.

    A slot of which the new prompt shares at least half is taken over; otherwise the prompt goes into the slot that was
    unused for longest, and the shared beginning is shared there too. When the cells run short, the slots unused for
    longest are emptied.

    Args:
        memory: where the sequences live.
        count: how many there are.
        cells: tokens that all of them hold together.
    """

    def __init__(self, memory: SequenceMemory, count: int, cells: int) -> None:
        self._memory = memory
        self._cells = cells
        self._slots = [Slot(sequence) for sequence in range(count)]
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
        if slot is not best:
            self._empty(slot)
            if shared:
                self._memory.share(best.sequence, slot.sequence, shared)
            slot.tokens = best.tokens[:shared]
        elif shared < len(slot.tokens):
            self._memory.cut(slot.sequence, shared)
            del slot.tokens[shared:]
        slot.adapter = adapter
        self._make_room(slot, len(tokens) + room)
        return slot

    def forget_all(self) -> None:
        """Take note that the memory was cleared."""
        for slot in self._slots:
            slot.tokens.clear()

    def _make_room(self, keeper: Slot, needed: int) -> None:
        for slot in sorted(self._slots, key=lambda one: one.used):
            # Shared cells are counted once for each of their slots, which errs on the safe side.
            if needed + sum(len(one.tokens) for one in self._slots if one is not keeper) <= self._cells:
                return
            if slot is not keeper:
                self._empty(slot)

    def _empty(self, slot: Slot) -> None:
        if slot.tokens:
            self._memory.cut(slot.sequence, 0)
            slot.tokens = []


def _shared(slot: Slot, adapter: str, tokens: Sequence[int]) -> int:
    """Return how many tokens a prompt and a slot begin with in common; the prompt's last token is always read."""
    if slot.adapter != adapter:
        return 0
    limit = min(len(slot.tokens), len(tokens) - 1)
    return next((i for i in range(limit) if slot.tokens[i] != tokens[i]), max(limit, 0))
