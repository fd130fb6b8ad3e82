"""The world state that long-term memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import ObjectReference
from memory_node.domain.states import ObjectState, believed
from memory_node.world.state import Thing, WorldState

# What was heated or cooled so long ago has the warmth of the room again.
_FADES_NS = 1800 * 10**9
_FADING = frozenset({ObjectState.HEATED, ObjectState.COLD})
# What was handed over lies in the person's box, or so far beside it (m): both are seen with errors.
_LAP_M = 0.1


def remembered(
    scene: SceneSnapshot, kinds: ObjectCatalogue, held_id: str = "", names: Mapping[str, str] | None = None
) -> WorldState:
    """Return what a scene graph holds to be there, under the things' names (their ids where they have none).

    held_id: memory's id of what the hand holds, "" for nothing. names: other names, by id. The robot stands at nothing
    known.
    """
    there = scene.believed
    keys = names if names is not None else {found.id: found.name or found.id for found in there}
    laps = dict(_laps(there, kinds))
    things = []
    for found in there:
        support, inside = _support(found, scene, keys)
        support = support or laps.get(found.id, "")
        kind, (x, y, z) = kinds.get(found.class_name), (float(value) for value in found.box.center)
        object_class = kind.name if kind is not None else found.class_name
        things.append(
            Thing(
                keys[found.id],
                object_class,
                # What is in the hand is no longer where memory saw it; its class names it.
                str(ObjectReference.at(object_class, (x, y, z))) if found.id != held_id else object_class,
                memory_id=found.id,
                container=keys.get(support, "") if found.id != held_id else "",
                inside=inside if support else None,
                states=frozenset(believed(found.states))
                - _faded(found, scene.stamp_ns)
                - _impossible(object_class, kinds),
                position=(x, y, z),
                room=scene.room_of(found),
                existence=found.existence,
                description=found.description,
            )
        )
    return WorldState.of_things(kinds, things, keys.get(held_id, ""))


def _support(found: SceneObject, scene: SceneSnapshot, keys: Mapping[str, str]) -> tuple[str, bool]:
    """Return what a thing is on or in, "" for nothing known, and whether in it; where that was met elsewhere since,
    what it was on or in."""
    stood, passed = found, {found.id}
    while stood.support_id not in keys:
        support = scene.by_id.get(stood.support_id)
        if support is None or support.id in passed:  # two may be told to lie on each other
            return "", found.inside
        passed.add(support.id)
        stood = support
    return stood.support_id, stood.inside


def _faded(found: SceneObject, now_ns: int) -> frozenset[ObjectState]:
    """Return the states that a thing has lost by itself since they were told."""
    return frozenset(
        one.state for one in found.states if one.state in _FADING and now_ns - one.confirmed_ns > _FADES_NS
    )


def _impossible(object_class: str, kinds: ObjectCatalogue) -> frozenset[ObjectState]:
    """Return states that a thing of a class is never in: a bowl with slices in it is not sliced."""
    kind = kinds.get(object_class)
    may_be_cut = kind is None or kind.can(Property.SLICEABLE) or kinds.whole(object_class) != object_class
    return frozenset() if may_be_cut else frozenset({ObjectState.SLICED})


def _laps(there: Sequence[SceneObject], kinds: ObjectCatalogue) -> Iterator[tuple[str, str]]:
    """Yield (id, id of the person in whose box it lies) of things that are in or on nothing known: a camera takes no
    lap for a support."""
    people = [found for found in there if found.class_name == kinds.recipient]
    for found in there if people else ():
        center = found.box.center[None]
        near = (one for one in people if one.box.contains(center, _LAP_M).all() and one.id != found.id)
        person = None if found.support_id else next(near, None)
        if person is not None:
            yield found.id, person.id
