"""Passes changes of the scene graph on: to the short-term memory, the store and listeners."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from memory_node.domain.scene import SceneEvent
from memory_node.intake.short_term_mirror import ShortTermMirror
from memory_node.scene_graph.graph import SceneGraph
from memory_node.store.records import Document, Recordable
from memory_node.store.store import Store
from memory_node.store.write_backlog import Ticket
from memory_node.world.state import THING_NAMES

Listener = Callable[[tuple[SceneEvent, ...], int, int], None]


@dataclass
class Change:
    """What one call changes in the graph; ticket: of the store, None where nothing is to be kept."""

    events: list[SceneEvent] = field(default_factory=list)
    ticket: Ticket | None = None

    def wait(self) -> None:
        """Return once the change is durable.

        Raises:
            StoreError: it could not be made durable; memory holds it all the same.
        """
        if self.ticket is not None:
            self.ticket.wait()


class GraphChanges:
    """The one way to change the scene graph of a memory.

    lock: guards the graph; a change holds it from beginning to end, and readers take it for as long as they read.
    store: None keeps nothing. gathered: lets the index of the short-term memory apply a whole change at once.
    """

    def __init__(
        self,
        scene: SceneGraph,
        mirror: ShortTermMirror,
        store: Store | None,
        gathered: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.lock = threading.RLock()
        self._scene = scene
        self._mirror = mirror
        self._store = store
        self._gathered = gathered
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(events, from_version, to_version)` after each change, in order; what is returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @contextlib.contextmanager
    def begin(self, durable: bool = True) -> Iterator[Change]:
        """Let the caller change the graph and add the events to the change; they are passed on when it is done.

        durable: False for a change that the store holds already, or is told of in another way.

        Raises:
            StoreBacklogError: the store has no room for it; the graph has changed all the same.
        """
        with self.lock, self._gathered():
            change, before = Change(), self._scene.version
            yield change
            if durable:
                renamed = self._scene.take_renamed_rooms()
                if renamed:
                    self._mirror.refresh_places()
                facts: list[Recordable] = [*change.events, *renamed, *self._names_given()]
                change.ticket = self._store.append(facts) if self._store is not None and facts else None
            if change.events or self._scene.version != before:
                for listener in self._listeners:
                    listener(tuple(change.events), before, self._scene.version)

    def _names_given(self) -> list[Document]:
        """Return the last numbers of names, so that none is given again after what has it is forgotten."""
        given = self._scene.state.table.names.take_given()
        return [Document(THING_NAMES, word, {"last": last}, self._scene.state.now_ns) for word, last in given.items()]

    def keep_map(self) -> None:
        """Make floors, rooms, areas and relations durable as they are now."""
        if self._store is not None:
            with self.lock:
                scene = self._scene.snapshot()
            self._store.put_map(scene.areas, scene.rooms, scene.floors, scene.relations)
