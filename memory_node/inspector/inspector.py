"""What the routes work on: the memory, its views, the edits, and who asks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.access import Caller, Role
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.change_feed import ChangeFeed
from memory_node.inspector.edit_book import EditBook
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.inspector.scene_mirror import SceneMirror
from memory_node.inspector.verbs import Desk

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


class Inspector:
    """A memory that is looked into.

    kinds: the label space that names classes. images: whether crops are shown. may: the most that anybody may do.
    clock: stamps of edits on record. robot: carries out instructions; None: nobody may have it do that here.
    """

    def __init__(
        self,
        memory: AgentMemory,
        views: MemoryViews,
        kinds: ObjectCatalogue,
        source: str,
        images: bool = True,
        clock: Clock = system_clock,
        robot: RobotTasks | None = None,
    ) -> None:
        self.memory, self.views, self.kinds, self.source, self.images = memory, views, kinds, source, images
        self.feed = ChangeFeed(views.follow)
        self.hits = HitHistory(views, clock)
        self.scene = SceneMirror(memory, views.follow)
        self.book = EditBook(clock, self.scene.expect_change)
        self.desk = Desk(memory, views, kinds, clock, self.book, robot)

    def close(self) -> None:
        """Carry out what waits and follow memory no more."""
        self.scene.close()
        self.feed.close()
        self.hits.close()
        self.book.close()


def inspector_of(request: Request) -> Inspector:
    """Return what this application looks into."""
    found: Inspector = request.app.state.inspector
    return found


def needs(role: Role) -> Callable[[Request], Caller]:
    """Return what gives the caller, and refuses one without the role."""

    def caller(request: Request) -> Caller:
        found: Caller = request.state.caller
        if not found.may(role):
            raise HTTPException(403, f"this needs the role {role}; {found.name} has {found.role}")
        return found

    return caller


Here = Annotated[Inspector, Depends(inspector_of)]
Reader = Annotated[Caller, Depends(needs("read"))]
Editor = Annotated[Caller, Depends(needs("edit"))]
NEEDS = {"read": Reader, "edit": Editor, "forget": Annotated[Caller, Depends(needs("forget"))]}
