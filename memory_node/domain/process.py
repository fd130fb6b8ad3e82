"""Keeps a process going after errors, which are logged once and counted every time, and ends it at once; hands a
thread the newest of what comes."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar


class Faults:
    """Thread-safe. log: takes the text of a fault that is new."""

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._told: set[tuple[str, int]] = set()

    def note(self, where: str, error: BaseException) -> None:
        """Count an error under `where`; log it with its traceback if none has come from its place yet."""
        *_, last = traceback.extract_tb(error.__traceback__) or [None]
        place = (last.filename, last.lineno or 0) if last is not None else (type(error).__name__, 0)
        with self._lock:
            self._counts[where] += 1
            is_new = place not in self._told
            self._told.add(place)
        if is_new:
            told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self._log(f"{where}: internal error, which is logged once and counted from now on:\n{told}")

    def counts(self) -> dict[str, int]:
        """Return how many there were, by where."""
        with self._lock:
            return dict(sorted(self._counts.items()))


_LOG = logging.getLogger(__name__)


class WorkerThread:
    """A daemon thread that ends when its work returns, and only then.

    An exception of the work is logged once for each place in the code and counted, and the work is started again.

    Args:
        name: of the thread.
        work: called by the thread; returns when its owner has asked it to.
        pause_s: time between an error and the next beginning.
    """

    def __init__(self, name: str, work: Callable[[], object], pause_s: float = 0.5) -> None:
        self.name = name
        self._work = work
        self._pause_s = pause_s
        self._faults = Faults(_LOG.error)
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        _RUNNING.add(self)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for its end, which its owner has asked for."""
        self._is_done.set()
        self._thread.join(timeout_s)

    def is_alive(self) -> bool:
        """Return whether the thread has begun and not ended."""
        return self._thread.is_alive()

    @property
    def failures(self) -> int:
        """How often the work has raised."""
        return sum(self._faults.counts().values())

    @property
    def is_lost(self) -> bool:
        """Whether the thread has ended though its work has not returned and nobody waits for its end."""
        return self._thread.ident is not None and not self.is_alive() and not self._is_done.is_set()

    @property
    def is_over(self) -> bool:
        """Whether the thread has ended as its owner asked."""
        return self._is_done.is_set() and self._thread.ident is not None and not self.is_alive()

    def _run(self) -> None:
        while True:
            try:
                self._work()
                self._is_done.set()
                return
            except Exception as error:  # the boundary of the thread: its owner must go on
                self._faults.note(f"thread {self.name}", error)
            if self._is_done.wait(self._pause_s):
                return


class RepeatedWork:
    """A worker thread that does the same again and again until it is closed.

    Args:
        name: of the thread.
        work: what is done.
        waits_s: until the first time, and between two times.
        errors: those after which it is tried again at the next time.
    """

    def __init__(
        self, name: str, work: Callable[[], object], waits_s: tuple[float, float], errors: tuple[type[Exception], ...]
    ) -> None:
        self._work = work
        self._waits_s = waits_s
        self._errors = errors
        self._ending = threading.Event()
        self._thread = WorkerThread(name, self._run)

    @property
    def is_ending(self) -> bool:
        """Whether it was closed: work that waits returns then."""
        return self._ending.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self, timeout_s: float = 30.0) -> None:
        """Do it no more; what is in work is finished."""
        self._ending.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        wait_s, each_s = self._waits_s
        while not self._ending.wait(wait_s):
            wait_s = each_s
            try:
                self._work()
            except self._errors as error:
                _LOG.debug("%s is tried again: %s", self._thread.name, error)


_RUNNING: weakref.WeakSet[WorkerThread] = weakref.WeakSet()
_Item = TypeVar("_Item")


class Newest(Generic[_Item]):
    """Holds one item for a thread that is slower than who brings them.

    Attributes:
        skipped: how many were replaced before anybody took them.
        ended: whether nothing will be taken any more.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._item: _Item | None = None
        self.skipped = 0
        self.ended = False

    def put(self, item: _Item) -> None:
        """Hold an item instead of the one before."""
        with self._changed:
            self.skipped += self._item is not None
            self._item = item
            self._changed.notify()

    def take(self, timeout_s: float) -> _Item | None:
        """Return the newest item once, None where none comes in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._item is not None or self.ended, timeout_s)
            item, self._item = self._item, None
            return None if self.ended else item

    def end(self) -> None:
        """Wake the waiting thread; nothing is given any more."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()


def worker_threads() -> tuple[WorkerThread, ...]:
    """Return the worker threads that this process has started and whose owners still have them, by name; none that
    ended as its owner asked: its failures are those of a node that is gone."""
    return tuple(sorted((one for one in _RUNNING if not one.is_over), key=lambda thread: thread.name))


def end_at_once(status: int) -> NoReturn:
    """End the process without taking the interpreter apart: that takes half a second of processor time, many seconds on
    a busy machine.

    What must be closed has to be closed before; what was registered for the end of the process is done.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
