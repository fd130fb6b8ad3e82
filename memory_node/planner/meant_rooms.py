"""Which rooms the words of an instruction may mean, while not every room has a name of its own."""

from __future__ import annotations

import re
from collections.abc import Collection

# What memory calls a room whose kind it does not know.
_NUMBERED = re.compile(r"room \d+")


def may_be_meant(room: str, wanted: str, rooms: Collection[str]) -> bool:
    """Return whether a room may be the one that is wanted: it is called so, or it has no name of its own and no other
    room is called so.

    room: a name, "" for an unknown one. rooms: the names of all rooms. Case does not count.
    """
    if wanted.lower() in map(str.lower, rooms):
        return room.lower() == wanted.lower()
    return not room or _NUMBERED.fullmatch(room) is not None
