"""What the graph would have said at an earlier time: "where was it last week?"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_node.domain.scene import SceneObject


def as_of(objects: Iterable[tuple[SceneObject, int]], stamp_ns: int) -> Iterator[SceneObject]:
    """Yield the objects that were believed present at a stamp, where they were then.

    objects: each with the stamp at which it came to its present place, removed ones included. A place of the history
    holds until the next one begins; the last place of a removed object holds until it was last seen there.
    """
    for found, place_since_ns in objects:
        if found.first_seen_ns > stamp_ns:
            continue
        if not found.removed and place_since_ns <= stamp_ns:
            yield found.changed(last_seen_ns=min(found.last_seen_ns, stamp_ns))
            continue
        begun = [place for place in found.history if place.since_ns <= stamp_ns]
        if not begun or (found.removed and begun[-1] is found.history[-1] and stamp_ns > begun[-1].until_ns):
            continue
        yield found.changed(
            box=begun[-1].box,
            area_id=begun[-1].area_id,
            support_id=begun[-1].support_id,
            removed=False,
            last_seen_ns=min(begun[-1].until_ns, stamp_ns),
        )
