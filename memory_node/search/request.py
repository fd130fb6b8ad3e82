"""A query, read once for all memories: what it means in words, classes, states and places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import FindQuery
from memory_node.domain.names import kind_words, lacks_kind
from memory_node.domain.states import ObjectState
from memory_node.search.class_scores import ClassFit
from memory_node.search.request_words import tokens

_UNKNOWN = 0.5
_IN_ITS_ROOM = 0.5


@dataclass(frozen=True, eq=False)
class PlaceMention:
    """words: of the place, singular; classes: by class number (n,), whether the place is a thing of that class."""

    words: frozenset[str]
    classes: NDArray[np.bool_]

    def is_room(self, name: str) -> bool:
        """Return whether the words name a room; the number of "bedroom 2" may be left out, that of "room 2" not."""
        named = tokens(name)
        wanted = named if lacks_kind(named) else kind_words(named)
        return bool(wanted) and self.words.issuperset(wanted)

    def holds(
        self, in_room: NDArray[np.bool_], room_known: NDArray[np.bool_], supports: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return how far things (n,) are at the place, in [0, 1]: half where the words name a thing in a room,
        "the kitchen drawer", and only the room is theirs.

        in_room: whether each one's room is the one named; room_known: whether its room is known; supports: number of
        the class that each is on or in, -1 where that is unknown.
        """
        on_it = (supports >= 0) & self.classes.take(np.maximum(supports, 0), mode="clip")
        unknown = ~room_known & (supports < 0)
        near = in_room * (_IN_ITS_ROOM if self.classes.any() else 1.0)
        return np.where(on_it, 1.0, np.where(unknown, _UNKNOWN, near))


@dataclass(frozen=True, eq=False)
class Request:
    """now_ns: as of when it is asked. vector: embedding of its words, to be compared with things' own words; fit: how
    they suit each class; None where it has no words. picture_vector: the same in the space of pictures.

    states: those that the words speak of. wanted_classes: by class number (n,), None for any class. place: None where
    the words name none.
    """

    query: FindQuery
    now_ns: int
    vector: NDArray[np.float32] | None = None
    fit: ClassFit | None = None
    picture_vector: NDArray[np.float32] | None = None
    states: tuple[ObjectState, ...] = ()
    wanted_classes: NDArray[np.bool_] | None = None
    place: PlaceMention | None = None
