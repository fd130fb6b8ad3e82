"""Names that rooms get by themselves, the kind with a number, "bedroom 2" (a room of unknown kind is "room 2"), and
which rooms a person's words may mean while not every room has a name of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# Stands for the kind of a room while that is unknown.
NO_KIND = "room"


def kind_words(name: Sequence[str]) -> list[str]:
    """Return the words of a room's name, lower case, without its number."""
    return [word for word in name if not word.isdigit()]


def lacks_kind(name: Sequence[str]) -> bool:
    """Return whether a room's name, in words, lower case, is a number alone: "room 2"."""
    return kind_words(name) == [NO_KIND]


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
