"""A queue of inputs that are taken out in the order of their stamps."""

from __future__ import annotations

import bisect
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from memory_node.domain.errors import InputSkippedError
from memory_node.nodes.inputs.timeline import Moment

# After this time without any input, waiting inputs wait no longer (s).
IDLE_S = 1.0
# A report on another topic may come this much later than one of the same moment.
_OVERTAKEN_S = 0.2

Item = TypeVar("Item")
Ready = TypeVar("Ready")


@dataclass(order=True)
class _Input(Generic[Item]):
    moment: Moment
    number: int
    item: Item = field(compare=False)
    droppable: bool = field(compare=False)
    arrived_s: float = field(compare=False)


class OrderedInputs(Generic[Item]):
    """Gives inputs out in the order of their moments; one that has to wait for something holds up those after it.

    An input gives up waiting by stamps: when inputs of more than `patience_s` later have come and it still lacks
    something. The wall clock is used only to wait briefly for overtaken messages, and to notice that inputs have
    stopped. Any thread may put; one thread takes.

    Args:
        patience_s: how long to wait, by stamps.
        most: so many droppable inputs wait at most; then the oldest is skipped ("queue_full").
        behind: a droppable input that is ready with more of them behind it is skipped ("behind"): what takes them is
            slower than what puts them, and would work on ever older ones.
        on_idle: called by the thread that takes when nothing has come for a while; what has been settled by that may
            be put.
        skip: told of each input that was skipped here.
    """

    def __init__(
        self,
        patience_s: float,
        most: int,
        behind: int,
        on_idle: Callable[[], None],
        skip: Callable[[InputSkippedError], None],
    ) -> None:
        self._patience_s = patience_s
        self._most = most
        self._behind = behind
        self._on_idle = on_idle
        self._skip = skip
        self._numbers = itertools.count()
        self._waiting: list[_Input[Item]] = []
        self._at_work: _Input[Item] | None = None
        self._newest = Moment(0, 0)
        self._changed = threading.Condition()
        self._stirred = False
        self._idle = False
        self._last_stir_s = time.monotonic()
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def stop(self) -> None:
        """Give nothing out any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def put(self, moment: Moment, item: Item, droppable: bool = True) -> None:
        """Add an input; when there is no room, the oldest droppable one has to go."""
        dropped = None
        with self._changed:
            idle = [entry for entry in self._waiting if entry.droppable and entry is not self._at_work]
            if droppable and len(idle) >= self._most:
                dropped = idle[0]
                self._waiting.remove(dropped)
            bisect.insort(self._waiting, _Input(moment, next(self._numbers), item, droppable, time.monotonic()))
            if droppable:
                self._newest = max(self._newest, moment)
        if dropped is not None:
            self._skip(InputSkippedError("queue_full", f"{self._most} inputs are waiting"))
        self.stir()

    def stir(self) -> None:
        """Note that something has come that an input may have been waiting for."""
        with self._changed:
            self._stirred = True
            self._last_stir_s = time.monotonic()
            self._changed.notify()

    def take(self, ready: Callable[[Item, bool], Ready | None]) -> Ready | None:
        """Wait until the first input in order is ready and return it so; None after `stop`.

        ready: returns what an input has become, or None while it has to wait; `last_call`: it must not wait any longer.
        An input for which it raises is out of the queue.
        """
        while not self._stopped:
            became = self._try_first(ready)
            if became is not None:
                return became
            self._wait()
        return None

    def _try_first(self, ready: Callable[[Item, bool], Ready | None]) -> Ready | None:
        while True:
            became, newer = self._try_one(ready)
            if newer <= self._behind:
                return became
            self._skip(InputSkippedError("behind", f"{newer} newer inputs are waiting"))

    def _try_one(self, ready: Callable[[Item, bool], Ready | None]) -> tuple[Ready | None, int]:
        """Return what the first input has become, and how many are waiting behind it if it may be skipped for them."""
        with self._changed:
            if not self._waiting:
                return None, 0
            self._at_work = first = self._waiting[0]
            last_call = self._idle or self._is_overdue(first)
        stays = False
        try:
            became = ready(first.item, last_call)
            stays = became is None
        finally:
            with self._changed:
                self._at_work = None
                if not stays:
                    self._waiting.remove(first)
                newer = sum(entry.droppable for entry in self._waiting)
        return became, newer if first.droppable and not stays else 0

    def _wait(self) -> None:
        """Wait for something new, at most until the next deadline by the wall clock."""
        with self._changed:
            if not self._stirred and not self._stopped:
                self._changed.wait(_OVERTAKEN_S / 2.0 if self._waiting else IDLE_S)
            self._stirred = False
            self._idle = time.monotonic() - self._last_stir_s > IDLE_S
        if self._idle and not self._stopped:
            self._on_idle()

    def _is_overdue(self, head: _Input[Item]) -> bool:
        later = head.moment.run < self._newest.run or self._newest.apart_s(head.moment) > self._patience_s
        return later and time.monotonic() - head.arrived_s > _OVERTAKEN_S
