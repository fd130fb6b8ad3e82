"""Which tasks a household model may learn from: a tenth of them is held out, always the same."""

from __future__ import annotations

import zlib

SPLITS = ("all", "train", "held-out")
_ONE_OF = 10


def is_in(split: str, task_id: str) -> bool:
    """Return whether a row of ALFRED belongs to a split.

    task_id: "TASK/TRIAL". All trials of a task, which is a goal in a floor plan, are on the same side.
    """
    if split == "all":
        return True
    held_out = zlib.crc32(task_id.partition("/")[0].encode()) % _ONE_OF == 0
    return held_out == (split == "held-out")
