"""How what memory says of things on and in others compares with a home."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from memory_node.domain.scene import RelationKind, SceneObject, SceneSnapshot
from memory_node.sim.thing import Thing
from memory_node.sim.world import World

_SEEN_FRAMES = 3
_NEAR_M = 0.10
_FAR = 1e3


@dataclass(frozen=True)
class RelationScore:
    """right, wrong: of what memory tells; missed: of what it should tell. In words, the thing first."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of what memory tells that is so."""
        told = len(self.right) + len(self.wrong)
        return len(self.right) / told if told else 1.0

    @property
    def recall(self) -> float:
        """Share of what is so that memory tells."""
        true = len(self.right) + len(self.missed)
        return len(self.right) / true if true else 1.0


def score_relations(scene: SceneSnapshot, world: World, seen: Mapping[str, int]) -> RelationScore:
    """Compare the on and in edges of what memory believes in with what the home says that things are on and in.

    An edge of a thing that is not there, or to one, is wrong, and so is "on" for "in". The home does not say what its
    furniture is fixed to (a basin to its sink); such edges are not counted, unless it does. Recall is over the things
    that were detected in at least three frames.
    """
    objects = {found.id: found for found in scene.objects if found.existence >= 0.5}
    thing_of = _matched(list(world), list(objects.values()))
    right, wrong, found_ids = [], [], set()
    edges = {edge.source_id: edge for edge in scene.relations if edge.kind in (RelationKind.ON, RelationKind.IN)}
    for edge in edges.values():
        if edge.source_id not in objects or edge.target_id not in objects:
            continue
        thing, support = thing_of.get(edge.source_id), thing_of.get(edge.target_id)
        text = f"{objects[edge.source_id].class_name} {edge.kind} {objects[edge.target_id].class_name}"
        if thing is not None and support is not None and _holds(thing, support, edge.kind):
            right.append(text)
            found_ids.add(thing.id)
        elif not _is_left_open(thing, support):
            wrong.append(text)
    return RelationScore(tuple(right), tuple(wrong), tuple(_missed(world, seen, found_ids)))


def _missed(world: World, seen: Mapping[str, int], found_ids: Collection[str]) -> Iterator[str]:
    """Yield what memory should tell besides: what things stand on or in that were seen often enough."""
    for thing in world:
        if thing.parent_id in world and thing.id not in found_ids and seen.get(thing.id, 0) >= _SEEN_FRAMES:
            yield f"{thing.class_name} {'in' if thing.inside else 'on'} {world[thing.parent_id].class_name}"


def _holds(thing: Thing, support: Thing, kind: RelationKind) -> bool:
    return thing.parent_id == support.id and thing.inside == (kind is RelationKind.IN)


def _is_left_open(thing: Thing | None, support: Thing | None) -> bool:
    """Return whether the home does not say what a piece of furniture is fixed to."""
    return thing is not None and support is not None and thing.fixed and support.fixed and not thing.parent_id


def _matched(things: list[Thing], objects: list[SceneObject]) -> dict[str, Thing]:
    """Return the things of memory's objects by their ids, one to one: of the same class, nearest overall, at most 10 cm
    or half the thing's diagonal away."""
    if not things or not objects:
        return {}
    at, there = np.array([t.box.center for t in things]), np.array([f.box.center for f in objects])
    cost = np.linalg.norm(at[:, None] - there[None], axis=2)
    reach = np.array([max(_NEAR_M, 0.5 * float(np.linalg.norm(thing.box.size))) for thing in things])
    alike = np.array([[thing.class_name == found.class_name for found in objects] for thing in things])
    cost = np.where(alike & (cost <= reach[:, None]), cost, _FAR)
    return {objects[j].id: things[i] for i, j in zip(*linear_sum_assignment(cost)) if cost[i, j] < _FAR}
