"""Which rooms the words of an instruction may mean, while not every room has a name of its own."""

from __future__ import annotations

from collections.abc import Collection

from memory_node.domain.room_names import lacks_kind


def may_be_meant(room: str, wanted: str, rooms: Collection[str]) -> bool:
    """Return whether a room may be the one that is wanted: it is called so, or it has no name of its own and no other
    room is called so.

    room: a name, "" for an unknown one. rooms: the names of all rooms. Case does not count.
    """
    if wanted.lower() in map(str.lower, rooms):
        return room.lower() == wanted.lower()
    return not room or lacks_kind(room.lower().split())
