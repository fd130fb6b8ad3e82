"""Which rooms the words of an instruction may mean, while not every room has a name of its own."""

from __future__ import annotations

from collections.abc import Collection

from memory_node.domain.room_names import kind_words, lacks_kind


def is_called(room: str, wanted: str) -> bool:
    """Return whether a room goes by a name: its own, or that of its kind, as each of two bedrooms is "the bedroom"."""
    words = room.lower().split()
    return wanted.lower().split() in (words, kind_words(words))


def may_be_meant(room: str, wanted: str, rooms: Collection[str]) -> bool:
    """Return whether a room may be the one that is wanted: it is called so, or it has no kind of its own and no other
    room is called so.

    room: a name, "" for an unknown one. rooms: the names of all rooms. Case does not count.
    """
    if any(is_called(one, wanted) for one in rooms):
        return is_called(room, wanted)
    return not room or lacks_kind(room.lower().split())
