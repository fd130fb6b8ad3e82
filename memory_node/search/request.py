"""A query, read once for all memories: what it means in words, classes, states and places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import FindQuery
from memory_node.domain.states import ObjectState
from memory_node.search.class_scores import ClassFit
from memory_node.search.place_mention import PlaceMention


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
