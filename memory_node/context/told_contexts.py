"""The contexts that planners were given, kept while they may still act on them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from memory_node.domain.clock import Clock

# How long a planner may still act on a context.
KEPT_S = 1800.0
_MOST = 1024


class ToldContexts:
    """What each context said that is counted when a planner acts on it: the keys of its guidelines. Thread-safe."""

    def __init__(self, clock: Clock, kept_s: float = KEPT_S) -> None:
        self._clock = clock
        self._kept_ns = int(kept_s * 1e9)
        self._lock = threading.Lock()
        self._told: OrderedDict[str, tuple[int, tuple[str, ...]]] = OrderedDict()

    def note(self, context_id: str, guideline_keys: Iterable[str]) -> None:
        """Remember a context until its time is over."""
        now_ns = self._clock()
        with self._lock:
            self._told[context_id] = now_ns, tuple(guideline_keys)
            while self._told and (len(self._told) > _MOST or self._is_over(now_ns)):
                self._told.popitem(last=False)

    def guidelines_of(self, context_id: str) -> tuple[str, ...] | None:
        """Return the keys of a context's guidelines; None for one that is not remembered, or not any more."""
        with self._lock:
            stamp_ns, keys = self._told.get(context_id, (0, None))
        return None if self._clock() - stamp_ns > self._kept_ns else keys

    def _is_over(self, now_ns: int) -> bool:
        stamp_ns, _ = next(iter(self._told.values()))
        return now_ns - stamp_ns > self._kept_ns
