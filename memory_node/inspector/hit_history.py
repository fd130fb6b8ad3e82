"""How the short-term memory's hit ratio went since the inspector began."""

from __future__ import annotations

import threading
from collections import deque

from memory_node.domain.clock import Clock
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.agent_memory import MemoryViews

_PERIOD_S = 5.0
# An hour.
_KEPT = 720


class HitHistory:
    """Samples in a thread of its own; `close` ends it. Before the first lookup there is nothing to sample."""

    def __init__(self, views: MemoryViews, clock: Clock, period_s: float = _PERIOD_S) -> None:
        self._views, self._clock, self._period_s = views, clock, period_s
        self._samples: deque[tuple[int, float]] = deque(maxlen=_KEPT)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hit_history", daemon=True)
        self._thread.start()

    def samples(self) -> tuple[tuple[int, float], ...]:
        """Return (stamp in nanoseconds of the inspector's clock, hit ratio), the newest last."""
        return tuple(self._samples.copy())

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        while not self._ended.is_set():
            self._sample()
            self._ended.wait(self._period_s)

    def _sample(self) -> None:
        try:
            view = self._views.cache()
        except RobotMemoryError:  # a node that does not answer now
            return
        if view is not None and view.figures.get("lookups"):
            self._samples.append((self._clock(), float(view.figures["hit_ratio"])))
