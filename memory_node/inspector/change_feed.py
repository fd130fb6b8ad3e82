"""Memory's changes as streams that cannot block each other, and the scene graph as it is shown, which follows them."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from memory_node.inspector.agent_memory import AgentMemory, Listener, MemoryChange
from memory_node.inspector.scene_rows import ObjectRow, scene_rows

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


# Places and relations come with the whole scene alone: after changes it is asked for again after so long, or after so
# many times what asking took, whichever is longer.
_WHOLE_AFTER_S = 5.0
_SHARE_OF_ASKING = 20.0
# Writing the whole scene as text is repeated after so many times what it took.
_SHARE_OF_WRITING = 4.0
# Changes that are kept for those who ask what is new.
_KEPT = 20_000
_PLACES = ("floors", "rooms", "areas", "relations")


class SceneMirror:
    """Rows of all objects with the version that last touched each; thread-safe.

    A robot that maps changes its scene ten times a second. Asking it for all objects each time would take its processor
    from the mapping. follow: see `MemoryViews`. Memory is never asked under the lock that its changes wait for.
    """

    def __init__(self, memory: AgentMemory, follow: Callable[[Listener], Callable[[], None]]) -> None:
        self._memory = memory
        self._asking, self._lock = threading.Lock(), threading.Lock()
        self._rows: dict[str, dict[str, Any]] = {}
        self._touched: OrderedDict[str, int] = OrderedDict()  # object -> version, the oldest first
        self._scene: dict[str, Any] = {}  # but for its objects
        self._version = self._begins = self._places_version = -1
        self._missed = True  # what is mirrored is not what memory holds
        self._changed = False  # places and relations may be others
        self._waiting: list[MemoryChange] | None = None  # what came while memory was asked
        self._ask_again_s = self._write_again_s = 0.0
        self._written = (b"", -1)
        self._stop_following = follow(self._on_change)

    def whole(self) -> bytes:
        """Return the whole scene as JSON."""
        self._refresh()
        with self._lock:
            body, version = self._written
            now = time.monotonic()
            if version == self._version or (body and now < self._write_again_s):
                return body
            version, objects = self._version, list(self._rows.values())
            value = {**self._scene, "version": version, "objects": objects}
        body = as_json(value)
        with self._lock:
            if version >= self._written[1]:
                self._written = (body, version)
                self._write_again_s = time.monotonic() + _SHARE_OF_WRITING * (time.monotonic() - now)
        return body

    def since(self, version: int) -> bytes:
        """Return what is new since a version as JSON: objects that changed, ids that went, places where they changed.

        Where too much has happened since it is the whole scene.
        """
        self._refresh()
        with self._lock:
            if self._begins <= version <= self._version:
                return as_json(self._news(version))
        return self.whole()

    def expect_change(self) -> None:
        """Ask memory for the whole scene the next time: something was edited here, and who did it wants to see it."""
        with self._lock:
            self._missed = True

    def close(self) -> None:
        """Follow memory no more."""
        self._stop_following()

    def _news(self, version: int) -> dict[str, Any]:
        changed, gone = [], []
        for object_id, touched in reversed(self._touched.items()):
            if touched <= version:
                break
            row = self._rows.get(object_id)
            if row is None:
                gone.append(object_id)
            else:
                changed.append(row)
        names = [name for name in self._scene if name not in _PLACES or self._places_version > version]
        head = {name: self._scene[name] for name in names}
        return {**head, "version": self._version, "since": version, "changed": changed, "gone": gone}

    def _refresh(self) -> None:
        """Ask memory for the whole scene where that is due; others are answered meanwhile, if they can be."""
        if not self._asking.acquire(blocking=self._missed):
            return
        try:
            with self._lock:
                if not (self._missed or (self._changed and time.monotonic() >= self._ask_again_s)):
                    return
                self._missed = self._changed = False
                self._waiting = []
            began = time.monotonic()
            try:
                self._install(scene_rows(self._memory.scene()), began)
            except BaseException:
                with self._lock:
                    self._missed, self._waiting = True, None
                raise
        finally:
            self._asking.release()

    def _install(self, told: dict[str, Any], began: float) -> None:
        objects, version = told.pop("objects"), told.pop("version")
        with self._lock:
            if self._version < 0:
                self._begins = version
            rows = {row["id"]: row for row in objects}
            for object_id in [key for key, row in rows.items() if self._rows.get(key) != row]:
                self._touch(object_id, version)
            for object_id in [key for key in self._rows if key not in rows]:
                self._touch(object_id, version)
            if any(told[name] != self._scene.get(name) for name in _PLACES):
                self._places_version = version
            self._rows, self._scene, self._version = rows, told, version
            self._written = (b"", -1)
            now = time.monotonic()
            self._ask_again_s = now + max(_WHOLE_AFTER_S, _SHARE_OF_ASKING * (now - began))
            waiting, self._waiting = self._waiting or [], None
            for change in waiting:
                self._apply(change)

    def _on_change(self, change: MemoryChange) -> None:
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(change)
            else:
                self._apply(change)

    def _apply(self, change: MemoryChange) -> None:
        if self._missed or change.version <= self._version:
            return
        if change.from_version != self._version:
            self._missed = True
            return
        for found in change.objects:
            self._rows[found.id] = ObjectRow.plain(found)
            self._touch(found.id, change.version)
        for object_id in change.gone:
            self._rows.pop(object_id, None)
            self._touch(object_id, change.version)
        self._version = change.version
        self._changed = True

    def _touch(self, object_id: str, version: int) -> None:
        self._touched[object_id] = version
        self._touched.move_to_end(object_id)
        if len(self._touched) > _KEPT:
            self._begins = self._touched.popitem(last=False)[1]


def as_json(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
