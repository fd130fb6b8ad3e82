"""`bench store --forget`: how long it takes to forget one object of a large memory."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.store_load import fill, object_id
from memory_node.store import ForgetRequest, open_store

_OBJECTS = 20_000


def measure_forgetting(path: Path, steps: int, seed: int) -> dict[str, Any]:
    """Fill a store, forget an object that every hundredth step was about, and return how long that took.

    Returns: objects, steps, forgotten (rows that went), forget_s, cpu_s of this process, verified (nothing is left).
    """
    with open_store(path, "bench", "bench") as store:
        fill(store, _OBJECTS, steps, seed)
        started, started_cpu = time.monotonic(), time.process_time()
        report = store.forget(ForgetRequest(object_ids=(object_id(1),)))
        return {
            "objects": _OBJECTS,
            "steps": steps,
            "forgotten": sum(report.counts.values()),
            "forget_s": time.monotonic() - started,
            "cpu_s": time.process_time() - started_cpu,
            "verified": report.verified,
        }
