"""Which cases of a benchmark are played: those of some ids, and of these a sample that a seed draws."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from memory_node.domain.errors import InvalidValueError

Case = TypeVar("Case")


def chosen(cases: Sequence[Case], ids: Collection[str], id_of: Callable[[Case], str]) -> Sequence[Case]:
    """Return the cases of some ids in their order; no ids: all.

    Raises:
        InvalidValueError: there is no case of an id.
    """
    if unknown := set(ids) - {id_of(case) for case in cases}:
        raise InvalidValueError(f"--only: there is no {', '.join(sorted(unknown))}")
    return [case for case in cases if not ids or id_of(case) in ids]


def sample(cases: Sequence[Case], limit: int, seed: int) -> Sequence[Case]:
    """Return some of the cases in order; limit 0: all."""
    if not limit or limit >= len(cases):
        return cases
    return [cases[index] for index in sorted(random.Random(seed).sample(range(len(cases)), limit))]
