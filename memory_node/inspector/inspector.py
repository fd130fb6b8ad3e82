"""REST: what the routes work on, what the page shows beside answers, and the stream of changes."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector import requests as asks
from memory_node.inspector import scene_rows as rows
from memory_node.inspector.access import Caller, Role
from memory_node.inspector.agent_memory import AgentMemory, MemoryViews
from memory_node.inspector.answers import At, EditRecord, Row, Stamp, Statement, nanoseconds, seconds, several
from memory_node.inspector.change_feed import ChangeFeed, SceneMirror, as_json
from memory_node.inspector.deeds import Desk, EditBook
from memory_node.inspector.deeds import undo as undo_edit
from memory_node.inspector.episode_rows import EpisodeDetail, EpisodeList, episode_value, episodes_value
from memory_node.inspector.robot_tasks import RobotTasks

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


router = APIRouter(tags=["views"])
_MOST_STREAMS = 100
# Statements that are looked through for those of an earlier time.
_LOOKED_AT = 1000
# A stream says so often that it lives, and tells at most so often what changed.
_BEAT_S, _REST_S = 10.0, 0.2
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
ObjectId = Annotated[str, Path(min_length=1, max_length=200)]


class About(BaseModel):
    """Which memory this is, and what the caller may do."""

    source: str
    images: bool = Field(description="pictures are shown")
    name: str = Field(description="the caller's")
    role: Literal["read", "edit", "forget"]
    now_s: float = Field(description="now on memory's time line")


class CachedRow(Row):
    """A unit of the short-term memory."""

    id: Annotated[str, At("unit.object_id")]
    object_class: Annotated[str, At("unit.object_class")] = Field(alias="class")
    used_s: Annotated[Stamp, At("unit.stamp_ns")]
    by: Annotated[str, At("unit.source")]
    segment: str
    pinned: bool


class Cache(BaseModel):
    """The short-term memory, what its policy would evict next first."""

    figures: dict[str, float | str]
    units: Annotated[list[CachedRow], several(CachedRow)]
    hits: list[list[float]] = Field(description="[stamp in seconds, hit ratio], the newest last")


class Empty(asks.Request):
    """Nothing is asked; the empty body tells it from what a page of another site can send."""


@router.get("/about")
def about(here: Here, caller: Reader) -> About:
    """Say which memory this is and what the caller may do."""
    now_s = seconds(here.desk.clock())
    return About(source=here.source, images=here.images, name=caller.name, role=caller.role, now_s=now_s)


@router.get("/scene_graph", responses={200: {"model": rows.SceneGraph}, 304: {"description": "as in If-None-Match"}})
def scene_graph(
    request: Request, here: Here, _: Reader, as_of_s: asks.Seconds = 0.0, since: int | None = None
) -> Response:
    """Return floors, rooms, areas, objects and relations, now or as of a stamp (srv/GetSceneGraph).

    since: a version that was told before; then only what has changed since is told, as `changed` and `gone`, where
    that is known.
    """
    if as_of_s:
        body = as_json(rows.scene_rows(here.memory.scene(as_of_ns=nanoseconds(as_of_s))))
    else:
        body = here.scene.whole() if since is None else here.scene.since(since)
    etag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if etag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get("/objects")
def objects(
    here: Here, _: Reader, offset: Offset = 0, limit: Limit = 100, as_of_s: asks.Seconds = 0.0
) -> rows.ObjectPage:
    """Return a page of the objects that are there, or were as of a stamp, in order of birth."""
    scene = here.memory.scene(as_of_ns=nanoseconds(as_of_s))
    shown = [rows.ObjectRow.of(one) for one in scene.objects[offset : offset + limit]]
    return rows.ObjectPage(version=scene.version, total=len(scene.objects), offset=offset, objects=shown)


@router.get("/timeline", response_model=rows.Timeline)
def when(here: Here, _: Reader) -> dict[str, Any]:
    """Say from when to when there is something to see, and when something changed."""
    return rows.timeline(here.memory.scene(removed=True).objects, here.views.places(""))


@router.get("/changes")
def changes(here: Here, _: Reader, from_s: asks.Seconds, until_s: asks.Seconds = 0.0) -> rows.SceneChanges:
    """Return what came, went and moved between two moments; until_s 0: now."""
    before = here.memory.scene(as_of_ns=max(nanoseconds(from_s), 1)).objects
    after = here.memory.scene(as_of_ns=nanoseconds(until_s)).objects
    return rows.what_changed(before, after)


@router.get("/objects/{object_id}")
def one_object(object_id: ObjectId, here: Here, _: Reader, as_of_s: asks.Seconds = 0.0) -> rows.ObjectCard:
    """Return all that is known of an object, with the edits that people made to it here.

    as_of_s: its place, states and earlier places as of a stamp, those that it had left by then; class, size,
    uncertainty and counts are always of now.
    """
    as_of_ns = nanoseconds(as_of_s)
    scene = here.memory.scene_of_one(object_id, as_of_ns)
    if not scene.objects:
        then = " at that time" if as_of_ns else ""
        raise HTTPException(404, f"no object {object_id!r} is in the scene graph{then}")
    found = scene.objects[0]
    made = [edit for edit in here.book.newest(1000) if found.id in edit.ids]
    made = [edit for edit in made if not as_of_ns or edit.stamp_ns <= as_of_ns]
    now_ns = as_of_ns or here.desk.clock()
    left = [place for place in here.views.places(found.id) if place.until_ns <= now_ns]
    return rows.ObjectCard.of(found, history=left, now_s=now_ns, edits=made)


@router.get("/objects/{object_id}/crop", response_class=Response)
def crop(object_id: ObjectId, here: Here, _: Reader) -> Response:
    """Return the best view of an object as JPEG."""
    jpeg = here.views.crop_jpeg(object_id) if here.images else None
    if jpeg is None:
        raise HTTPException(404, "there is no picture of it" if here.images else "pictures are not shown (--no-images)")
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=60"})


@router.get("/cache")
def cache(here: Here, _: Reader) -> Cache:
    """Return the short-term memory, what its policy would evict next first, its statistics and hit ratios."""
    view = here.views.cache()
    if view is None:
        raise HTTPException(503, "the memory node has not told its short-term memory yet")
    hits = [[seconds(stamp_ns), round(ratio, 4)] for stamp_ns, ratio in here.hits.samples()]
    return Cache(figures=view.figures, units=list(map(CachedRow.of, view.units)), hits=hits)


@router.get("/episodes")
def episodes(here: Here, _: Reader, newest: asks.Count = 50, as_of_s: asks.Seconds = 0.0) -> EpisodeList:
    """List the newest episodes, and the running one's last steps in words; as_of_s: those that had begun by a stamp."""
    return episodes_value(here.views, newest, nanoseconds(as_of_s))


@router.get("/episodes/{episode_id}")
def episode(episode_id: ObjectId, here: Here, _: Reader) -> EpisodeDetail:
    """Return an episode's steps with memory's warnings, guidance by step, prompts, lessons used and taught."""
    found = here.views.episode(episode_id)
    if not found:
        raise HTTPException(404, f"nothing of an episode {episode_id!r} is told")
    return episode_value(here.views, here.kinds, episode_id, found)


@router.get("/knowledge")
def knowledge(
    here: Here, _: Reader, concept: asks.Name = "", k: asks.Count = 20, as_of_s: asks.Seconds = 0.0
) -> list[Statement]:
    """Return the statements that say most of a concept, of none those that people told last; as_of_s: of those that
    were shown or said by a stamp."""
    then_ns, most = nanoseconds(as_of_s), k or 20
    told = here.views.statements(concept.strip(), _LOOKED_AT if then_ns else most)
    return [Statement.of(one) for one in told if not then_ns or one.stamp_ns <= then_ns][:most]


@router.get("/scene_text")
def scene_text(here: Here, _: Reader, token_budget: asks.Tokens = 2000) -> str:
    """Describe the whole home in words within a budget (srv/GetSceneGraph)."""
    return here.memory.scene_text(token_budget)


@router.get("/edits")
def edits(here: Here, _: Reader, newest: asks.Count = 50) -> list[EditRecord]:
    """List the newest edits that were made here, with who made them."""
    return list(map(EditRecord.of, here.book.newest(newest)))


@router.post("/edits/{edit_id}/undo")
def undo(edit_id: ObjectId, _: Empty, here: Here, caller: Editor) -> EditRecord:
    """Take back one edit, as the verb `undo` does."""
    return undo_edit(here.desk.of(caller.name), asks.Undo(edit_id=edit_id))


@router.get("/path")
def path(here: Here, _: Reader, as_of_s: asks.Seconds = 0.0) -> list[list[float]]:
    """Return where the robot has been, now or as of a stamp: (x, y) in map, metres, the newest last."""
    then_ns = nanoseconds(as_of_s)
    return [
        [round(x, 2), round(y, 2)] for stamp_ns, x, y in here.views.robot_path() if not then_ns or stamp_ns <= then_ns
    ]


@router.get("/events", response_class=StreamingResponse)
async def events(request: Request, here: Here, _: Reader) -> StreamingResponse:
    """Stream changes of the scene graph as server-sent events: `change` with the ids that changed and went."""
    if len(here.feed) >= _MOST_STREAMS:
        raise HTTPException(503, f"{_MOST_STREAMS} streams are open already")
    return StreamingResponse(
        _events(request, here), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(request: Request, here: Inspector) -> AsyncIterator[bytes]:
    stream = here.feed.subscribe()
    try:
        yield b"retry: 2000\n\n"
        while not await request.is_disconnected():
            change = await stream.next(_BEAT_S)
            if here.feed.closed:
                return
            if change is None:
                yield b": alive\n\n"
                continue
            yield (
                b"id: %d\nevent: change\ndata: " % change.version
                + as_json({"version": change.version, "changed": change.changed, "gone": change.gone})
                + b"\n\n"
            )
            await asyncio.sleep(_REST_S)
    finally:
        here.feed.leave(stream)
