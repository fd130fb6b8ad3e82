"""The scene as it was at an earlier time, by the places that objects keep; and the moments at which it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.scene import Place, Relation, RelationKind, SceneObject
from memory_node.domain.states import StateBelief


def as_of(objects: Iterable[SceneObject], stamp_ns: int) -> Iterator[SceneObject]:
    """Yield the objects that were believed present at a stamp, where they were then.

    objects: removed ones included. A place of the history holds until the next one begins; the last place of a removed
    object holds until it was last seen there. States are those whose last confirmation is not later. Class, size,
    uncertainty and counts are of now: nothing keeps older ones. `inside` is kept of the present place alone.
    """
    for found in objects:
        if found.first_seen_ns > stamp_ns:
            continue
        then = found.changed(
            states=states_as_of(found.states, stamp_ns),
            last_missed_ns=found.last_missed_ns if found.last_missed_ns <= stamp_ns else 0,
        )
        if not found.removed and found.place_since_ns <= stamp_ns:
            yield then.changed(last_seen_ns=min(found.last_seen_ns, stamp_ns))
            continue
        place = place_at(found.history, found.removed, stamp_ns)
        if place is not None:
            yield then.changed(
                box=place.box,
                area_id=place.area_id,
                support_id=place.support_id,
                inside=False,
                removed=False,
                last_seen_ns=min(place.until_ns, stamp_ns),
            )


def states_as_of(states: Iterable[StateBelief], stamp_ns: int) -> tuple[StateBelief, ...]:
    """Return the beliefs whose last confirmation is not later than a stamp."""
    return tuple(belief for belief in states if belief.confirmed_ns <= stamp_ns)


def relations_as_of(objects: Iterable[SceneObject]) -> list[Relation]:
    """Return what each of the objects of one moment stood on or in, and the areas that held them."""
    there = {found.id: found for found in objects}
    contained = [Relation(one.area_id, RelationKind.CONTAINS, one.id) for one in there.values() if one.area_id]
    held = [one for one in there.values() if one.support_id in there]
    return contained + [
        Relation(one.id, RelationKind.IN if one.inside else RelationKind.ON, one.support_id) for one in held
    ]


def moments_of(objects: Iterable[SceneObject], past: Iterable[Place] = ()) -> NDArray[np.int64]:
    """Return the stamps (n,) at which something changed, in order.

    past: the objects' earlier places; each was left by a move. That a thing was seen last is a moment, too.
    """
    found = [stamp_ns for place in past for stamp_ns in (place.since_ns, place.until_ns)]
    for one in objects:
        found.append(one.first_seen_ns)
        if one.removed or one.movable:
            found.append(one.last_seen_ns)
        found += [belief.confirmed_ns for belief in one.states if belief.confirmed_ns > 0]
    return np.unique(np.array(found, np.int64))


def place_at(history: tuple[Place, ...], removed: bool, stamp_ns: int) -> Place | None:
    """Return the earlier place that held at a stamp, None where the object was nowhere then; see `as_of`."""
    begun = [place for place in history if place.since_ns <= stamp_ns]
    if not begun or (removed and begun[-1] is history[-1] and stamp_ns > begun[-1].until_ns):
        return None
    return begun[-1]
