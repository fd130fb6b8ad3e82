"""What the routes work on: the memory, its views, the edits, and who asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, system_clock
from memory_node.inspector.access import Caller, Role
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.change_feed import ChangeFeed
from memory_node.inspector.edit_book import EditBook
from memory_node.inspector.hit_history import HitHistory
from memory_node.inspector.robot_tasks import RobotTasks
from memory_node.inspector.scene_mirror import SceneMirror
from memory_node.inspector.verbs import Desk


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
