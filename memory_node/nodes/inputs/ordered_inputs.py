"""A queue of inputs that are worked off in the order of their stamps, in a thread of its own."""

from __future__ import annotations

import bisect
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memory_node.domain.errors import InputSkippedError
from memory_node.nodes.inputs.timeline import Moment

# No input for so long: what waits for another one need not wait any longer.
IDLE_S = 1.0
# A report on another topic may come this much later than one of the same moment.
_OVERTAKEN_S = 0.2

# Returns whether it was done; False: it has to wait for other inputs. `last_call`: it must not wait any longer.
Work = Callable[[bool], bool]
Skip = Callable[[InputSkippedError], None]


@dataclass(order=True)
class _Input:
    moment: Moment
    number: int
    work: Work = field(compare=False)
    droppable: bool = field(compare=False)
    arrived_s: float = field(compare=False)


class OrderedInputs:
    """Does the work of inputs in the order of their moments; one that has to wait holds up those after it.

    An input gives up waiting by stamps: when inputs of more than `patience_s` later have come and it still lacks
    something. The wall clock only grants a grace to what was overtaken on its way, and notices that nothing comes any
    more.

    Args:
        patience_s: how long to wait, by stamps.
        most: so many droppable inputs wait at most; then the oldest is skipped ("queue_full").
        on_idle: called when nothing has come for a while; what has been settled by that may be put.
        skip: told of each input that was skipped here.
    """

    def __init__(self, patience_s: float, most: int, on_idle: Callable[[], None], skip: Skip) -> None:
        self._patience_s = patience_s
        self._most = most
        self._on_idle = on_idle
        self._skip = skip
        self._numbers = itertools.count()
        self._waiting: list[_Input] = []
        self._at_work: _Input | None = None
        self._newest = Moment(0, 0)
        self._changed = threading.Condition()
        self._stirred = False
        self._last_stir_s = time.monotonic()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="inputs", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the input that is being worked on, and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join(10.0)

    def put(self, moment: Moment, work: Work, droppable: bool = True) -> None:
        """Add an input; when there is no room, the oldest droppable one has to go."""
        dropped = None
        with self._changed:
            idle = [entry for entry in self._waiting if entry.droppable and entry is not self._at_work]
            if droppable and len(idle) >= self._most:
                dropped = idle[0]
                self._waiting.remove(dropped)
            bisect.insort(self._waiting, _Input(moment, next(self._numbers), work, droppable, time.monotonic()))
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

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._stirred and not self._stopped:
                    self._changed.wait(_OVERTAKEN_S / 2.0 if self._waiting else IDLE_S)
                if self._stopped:
                    return
                self._stirred = False
                idle = time.monotonic() - self._last_stir_s > IDLE_S
            if idle:
                self._on_idle()
            self._work_off(idle)

    def _work_off(self, idle: bool) -> None:
        while True:
            with self._changed:
                if not self._waiting or self._stopped:
                    return
                self._at_work = head = self._waiting[0]
                last_call = idle or self._is_overdue(head)
            done = head.work(last_call)
            with self._changed:
                self._at_work = None
                if done:
                    self._waiting.remove(head)
            if not done:
                return

    def _is_overdue(self, head: _Input) -> bool:
        later = head.moment.run < self._newest.run or self._newest.apart_s(head.moment) > self._patience_s
        return later and time.monotonic() - head.arrived_s > _OVERTAKEN_S
