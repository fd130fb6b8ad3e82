"""How `bench scene` compares what memory believes with what is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.scene_site import CAMERA, Site, Thing, View
from memory_node.domain.scene import SceneObject
from memory_node.scene_graph.graph import SceneGraph
from memory_node.sim.thing import Thing as HomeThing

_SEEN_FRAMES = 3
_LOOKED_FRAMES = 3
_NEAR_M = 0.10
FAR_M = 1e3
KNOWN = "known-"


@dataclass(eq=False)
class Sightings:
    """What was in clear view how often, and what memory said of the moved things when they had been twice.

    In clear view: in the detector's range, and at least half of it neither hidden nor beyond the image's border.
    """

    min_pixels: int
    max_range_m: float
    seen: Counter[int] = field(default_factory=Counter)
    seen_since: Counter[int] = field(default_factory=Counter)
    looked: Counter[int] = field(default_factory=Counter)
    old_place: dict[int, Thing] = field(default_factory=dict)
    old_id: dict[int, str] = field(default_factory=dict)
    moved: dict[int, bool] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)
    _changed: bool = False

    def before_change(self, site: Site, graph: SceneGraph, rooms: list[int]) -> None:
        """Note which memory belongs to which thing of the rooms driven through."""
        things = [thing for room in rooms for thing in site.in_room(room)]
        for thing, found in match(things, memories(graph)):
            self.old_id[thing.number] = found.id
        self.old_place = {t.number: Thing(t.number, t.class_name, t.box, t.room) for t in things}

    def after_change(self, moved: list[Thing], removed: list[Thing]) -> None:
        """Note what was moved and what was taken away."""
        self._changed = True
        # Only what memory knew can be found again or noticed to be gone.
        self.moved = {thing.number: False for thing in moved if thing.number in self.old_id}
        self.removed = [thing.number for thing in removed if thing.number in self.old_id]
        for thing in moved:
            self.seen[thing.number] = 0

    def unchecked(self) -> set[str]:
        """Return the memories of things that left places which were not clearly looked at since."""
        return {self.old_id[n] for n in (*self.removed, *self.moved) if self.looked[n] < _LOOKED_FRAMES}

    def note(self, view: View, site: Site, graph: SceneGraph) -> None:
        """Count what this view showed; ask memory for moved things that were in view for the second time."""
        sizes = np.bincount(view.number[view.number >= 0], minlength=1)
        for number in np.flatnonzero(sizes >= self.min_pixels).tolist():
            if not self._in_clear_view(site.things[number], int(sizes[number]), view):
                continue
            self.seen[number] += 1
            if number in self.moved:
                self.seen_since[number] += 1
                if self.seen_since[number] == 2:
                    self._ask(number, site, graph)
        if self._changed:
            for number in (*self.removed, *self.moved):
                self.looked[number] += self._place_in_view(self.old_place[number], view)

    def _in_clear_view(self, thing: Thing, pixels: int, view: View) -> bool:
        """Return whether a thing is near enough and at least half of its outline's area shows."""
        local = view.map_T_camera.inverse().apply(thing.box.corners())
        if local[:, 2].min() < 0.1 or float(np.linalg.norm(local.mean(axis=0))) > self.max_range_m:
            return False
        outline = local[:, :2] / local[:, 2:] * [CAMERA.fx, CAMERA.fy]
        return pixels >= 0.5 * cv2.contourArea(cv2.convexHull(outline.astype(np.float32)))

    def _ask(self, number: int, site: Site, graph: SceneGraph) -> None:
        thing = site.things[number]
        near = [f for f in graph.objects_near(thing.box.center, 0.5) if f.existence >= 0.5]
        self.moved[number] = any(is_match(thing, found) for found in near)

    def _place_in_view(self, place: Thing, view: View) -> bool:
        """Return whether a place is in view from near enough, nothing before it."""
        local = view.map_T_camera.inverse().apply(place.box.center)
        if not local[2] > 0.3 or float(np.linalg.norm(local)) > self.max_range_m:
            return False
        u = int(CAMERA.fx * local[0] / local[2] + CAMERA.cx + 0.5)
        v = int(CAMERA.fy * local[1] / local[2] + CAMERA.cy + 0.5)
        if not (20 <= u < CAMERA.width - 20 and 20 <= v < CAMERA.height - 20):
            return False
        return bool(view.depth_m[v, u] > local[2] - 0.5 * float(np.linalg.norm(place.box.size)))


# A true thing, of a site or of a home.
Placed = TypeVar("Placed", Thing, HomeThing)


def is_match(thing: Placed, found: SceneObject) -> bool:
    """Return whether a memory may be of a thing: its class, and its centre within 10 cm or in its bounding sphere."""
    limit = max(_NEAR_M, 0.5 * float(np.linalg.norm(thing.box.size)))
    return found.class_name == thing.class_name and float(np.linalg.norm(found.box.center - thing.box.center)) <= limit


def match(
    things: Sequence[Placed], found: Sequence[SceneObject], within_m: float = 1.0
) -> list[tuple[Placed, SceneObject]]:
    """Return one-to-one pairs of things and memories, nearest overall, none further apart than `within_m`."""
    if not things or not found:
        return []
    at, there = np.array([t.box.center for t in things]), np.array([f.box.center for f in found])
    apart_m = np.linalg.norm(at[:, None] - there[None], axis=2)
    cost = np.full(apart_m.shape, FAR_M)
    for i, j in zip(*np.nonzero(apart_m < within_m)):
        if is_match(things[i], found[j]):
            cost[i, j] = apart_m[i, j]
    return [(things[i], found[j]) for i, j in zip(*linear_sum_assignment(cost)) if cost[i, j] < FAR_M]


def memories(graph: SceneGraph) -> list[SceneObject]:
    """Return what memory believes in and was not told beforehand."""
    rows = graph.state.active_rows().tolist()
    own = [row for row in rows if not graph.state.table.record(row).id.startswith(KNOWN)]
    return [graph.state.object_at(row) for row in own if graph.state.existence(row) >= 0.5]


def score_scene(graph: SceneGraph, site: Site, rooms: list[int], sightings: Sightings) -> dict[str, float]:
    """Return precision, recall, duplicates, mean position error, moved_found and removed_found over the rooms driven
    through.

    A false memory of a thing that left a place which was not clearly looked at since does not count against
    precision: nothing could tell. Recall is over the things that were in clear view in at least three frames;
    duplicates are second memories of one thing.
    """
    things = [thing for room in rooms for thing in site.in_room(room)]
    found = memories(graph)
    pairs = match(things, found)
    seen = {thing.number for thing in things if sightings.seen[thing.number] >= _SEEN_FRAMES}
    matched = {thing.number for thing, _ in pairs}
    paired = {f.id for _, f in pairs}
    extra = [f for f in found if f.id not in paired | sightings.unchecked()]
    second = [f for f in extra if any(is_match(thing, f) for thing in things)]
    errors = [float(np.linalg.norm(thing.box.center - f.box.center)) for thing, f in pairs]
    return {
        "precision": _share(len(pairs), len(pairs) + len(extra)),
        "recall": _share(len(seen & matched), len(seen)),
        "duplicates": _share(len(second), len(found), empty=0.0),
        "position_error_mean_m": float(np.mean(errors)) if errors else float("nan"),
        **_score_changes(graph, sightings, {f.id for f in extra}),
    }


def _score_changes(graph: SceneGraph, sightings: Sightings, wrong: set[str]) -> dict[str, float]:
    """Return the shares of the moved things that were found and of the removed ones that were noticed.

    wrong: ids of memories of nothing.
    """
    asked = [n for n in sightings.moved if sightings.seen_since[n] >= 2]
    looked = [n for n in sightings.removed if sightings.looked[n] >= _LOOKED_FRAMES]
    # A like thing that was put beside a removed one may carry on its id: then memory believes in what is there.
    believed = {n for n in looked if _believed(graph, sightings.old_id[n], sightings.old_place[n])}
    gone = [n for n in looked if n not in believed or sightings.old_id[n] not in wrong]
    return {
        "moved_found": _share(sum(sightings.moved[n] for n in asked), len(asked)),
        "removed_found": _share(len(gone), len(looked)),
    }


def wrongly_removed(graph: SceneGraph, site: Site, rooms: list[int], sightings: Sightings) -> float:
    """Return the share of the things known before the change that stayed and are believed gone, whatever hid them."""
    there = {thing.number for thing, _ in match([t for room in rooms for t in site.in_room(room)], memories(graph))}
    stayed = {n for n, place in sightings.old_place.items() if n in site.things and site.things[n].box is place.box}
    removed = {found.id for found in graph.snapshot(removed=True).objects if found.removed}
    gone = [n for n in stayed - there if sightings.old_id.get(n, "") in removed]
    return _share(len(gone), len(sightings.old_id), 0.0)


def _believed(graph: SceneGraph, object_id: str, place: Thing) -> bool:
    """Return whether memory still believes an object to be at a place."""
    near = graph.objects_near(place.box.center, 0.3)
    return any(f.id == object_id and f.existence >= 0.5 and is_match(place, f) for f in near)


def _share(part: int, whole: int, empty: float = 1.0) -> float:
    return part / whole if whole else empty
