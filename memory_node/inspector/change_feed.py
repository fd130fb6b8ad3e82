"""Passes changes of memory on to any number of streams, which cannot block each other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from memory_node.inspector.agent_memory import Listener, MemoryChange

# More ids than that are told as "everything".
_MOST_IDS = 500


class Subscription:
    """What one stream has not been told yet: changes that pile up become one. Used in its event loop alone."""

    def __init__(self) -> None:
        self._pending: MemoryChange | None = None
        self._came = asyncio.Event()

    def add(self, change: MemoryChange) -> None:
        """Keep a change for the stream."""
        before = self._pending
        if before is not None:
            gone = (*before.gone, *change.gone)
            changed = tuple(dict.fromkeys((*before.changed, *change.changed)))
            change = MemoryChange(change.version, changed, gone)
        self._pending = change
        self._came.set()

    async def next(self, timeout_s: float) -> MemoryChange | None:
        """Return what is new, None when nothing is within `timeout_s`.

        A change that touches very many objects comes without ids: all may have changed.
        """
        try:
            await asyncio.wait_for(self._came.wait(), timeout_s)
        except asyncio.TimeoutError:
            return None
        self._came.clear()
        change, self._pending = self._pending, None
        if change is not None and len(change.changed) + len(change.gone) > _MOST_IDS:
            return MemoryChange(change.version, (), ())
        return change


class ChangeFeed:
    """follow: has a listener called after each change, from any thread, until what it returns is called."""

    def __init__(self, follow: Callable[[Listener], Callable[[], None]]) -> None:
        self._lock = threading.Lock()
        self._streams: dict[Subscription, asyncio.AbstractEventLoop] = {}
        self._stop_following = follow(self._tell)
        self.closed = False

    def __len__(self) -> int:
        return len(self._streams)

    def subscribe(self) -> Subscription:
        """Begin a stream of the running event loop; `leave` ends it."""
        stream = Subscription()
        with self._lock:
            self._streams[stream] = asyncio.get_running_loop()
        return stream

    def leave(self, stream: Subscription) -> None:
        """End a stream."""
        with self._lock:
            self._streams.pop(stream, None)

    def close(self) -> None:
        """Follow memory no more, and wake every stream, for it to see that the feed is closed."""
        if self.closed:
            return
        self.closed = True
        self._stop_following()
        self._tell(MemoryChange(0, (), ()))

    def _tell(self, change: MemoryChange) -> None:
        with self._lock:
            for stream, loop in self._streams.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(stream.add, change)
