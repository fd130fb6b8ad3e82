"""The orders in which a benchmark's tasks are carried out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Task = TypeVar("Task")


def shuffled(tasks: Sequence[Task], seed: int, order: int) -> list[Task]:
    """Return the tasks in the order of this number; every row of a benchmark has the same orders."""
    listed = list(tasks)
    random.Random(f"{seed} {order}").shuffle(listed)
    return listed
