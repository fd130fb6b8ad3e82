"""A pass of an optimizer over attempts that were recorded: what its bank comes to, and what a look into it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.alfworld.deeds import attempt_of_game
from benchmarks.averages import median_of, share_of
from benchmarks.stream.outcomes import operation_of
from memory_node.lessons.optimizer.curator import Curator


def row_of_attempts(name: str, rows: Sequence[Mapping[str, Any]], curator: Curator) -> dict[str, Any]:
    """Return the row of an optimizer that reads attempts in their order.

    rows: transcripts of games (`read_transcripts`). numbered: entries with a digit in any of their wordings. lesson_ms:
    processor time of one lesson. retrieval_ms: time for the nearest entries of a text that is encoded already, measured
    with the whole bank for every task.
    """
    lessons_ms, operations, largest = [], [], 0
    for number, row in enumerate(rows):
        attempt = attempt_of_game(str(number), row["task"], row["text"], row["turns"], row["won"], number)
        began = time.process_time()
        operations.append(operation_of(curator.learn(attempt)))
        lessons_ms.append(1e3 * (time.process_time() - began))
        largest = max(largest, len(curator.bank))
    retrievals_ms = [_retrieval_ms(curator, row["task"]) for row in rows]
    entries = tuple(curator.bank)
    return {
        "optimizer": name,
        "attempts": len(rows),
        "won": share_of(sum(row["won"] for row in rows), len(rows)),
        "bank_size": len(entries),
        "bank_largest": largest,
        "add_share": share_of(operations.count("ADD"), len(rows)),
        "update_share": share_of(operations.count("UPDATE"), len(rows)),
        **{key.removeprefix("lessons."): n for key, n in curator.figures().items() if key != "lessons.kept"},
        "numbered": sum(any(map(str.isdigit, one.text)) for entry in entries for one in entry.wordings),
        "lesson_ms_p50": median_of(lessons_ms, 2),
        "retrieval_ms_p50": median_of(retrievals_ms),
        "retrieval_ms_p99": round(float(np.percentile(retrievals_ms, 99)), 4) if retrievals_ms else None,
    }


def _retrieval_ms(curator: Curator, task: str) -> float:
    vector = curator.bank.encode(task)
    began = time.perf_counter()
    curator.bank.nearest(vector)
    return 1e3 * (time.perf_counter() - began)
