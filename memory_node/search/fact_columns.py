"""The facts about remembered things that a ranking needs besides their class, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.states import ObjectState

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_BIT_OF = {state: 1 << index for index, state in enumerate(ObjectState)}


def state_bits(*states: ObjectState) -> int:
    """Return a set of states as bits."""
    return sum(_BIT_OF[state] for state in set(states))


def bits_of_class(class_name: str) -> int:
    """Return the states that the name of a class tells, as bits: BreadSliced is sliced."""
    return state_bits(ObjectState.SLICED) if "Sliced" in class_name else 0


@dataclass(frozen=True, eq=False)
class Facts:
    """Things (n,) of one memory.

    class_probability and existence in [0, 1]; age_s: seconds since each was last seen or used, negative for a stamp
    ahead of the clock; position (n, 3) in map, m; states: those believed, as bits, where the request speaks of any;
    used_s (n,): seconds since the robot last did something with each, infinite for what it has only seen; None: not
    known. at_place (n,): how far each is where the request says, in [0, 1], 0.5 where that is not known; None: the
    request names no place.
    """

    class_probability: Floats
    existence: Floats
    age_s: Floats
    position: Floats
    states: NDArray[np.int64]
    used_s: Floats | None = None
    at_place: Floats | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Things that a request's filters let through: rows (n,) of their memory, class numbers (n,), and the cosine (n,)
    of each one's own words with the request; None where a thing has no words but its class's."""

    rows: Rows
    class_numbers: NDArray[np.int32]
    own_cosines: Floats | None = None


def by_class(values: NDArray[Any], numbers: NDArray[np.int32]) -> NDArray[Any]:
    """Return the values (n,) of classes by their numbers (n,)."""
    # A class that was met for the first time since the request was read has no value yet: it is taken for the last one.
    return values.take(numbers, mode="clip") if len(values) else np.zeros(len(numbers), dtype=values.dtype)
