"""One daemon thread that runs queued jobs. A job that hangs does not delay anybody, not even the end of the process."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable

from memory_node.domain.worker_thread import WorkerThread

logger = logging.getLogger(__name__)


class BackgroundWorker:
    """Bounded: with `capacity` jobs waiting no more are taken."""

    def __init__(self, name: str, capacity: int) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(capacity)
        self._closing = threading.Event()
        self._thread = WorkerThread(name, self._work)
        self._thread.start()

    @property
    def closing(self) -> bool:
        """Whether results are no longer wanted."""
        return self._closing.is_set()

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue a job and return at once; False: there is no room for it, or an end to all work."""
        if self.closing:
            return False
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return False
        return True

    def close(self, timeout_s: float = 1.0) -> None:
        """Drop what waits; wait a little for the job that runs."""
        self._closing.set()
        with contextlib.suppress(queue.Full):  # the thread looks at `closing` before each job
            self._jobs.put_nowait(None)
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self.closing:
            try:
                job()
            except Exception:
                # A job that fails must not take later ones with it.
                logger.exception("a job of %s failed", self._thread.name)
