"""How fast REST finds in a large memory."""

from __future__ import annotations

import http.client
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inspected_process import inspected_by, stored_memory
from benchmarks.process_figures import processor_s
from memory_node.domain.errors import RobotMemoryError

_WARM_UP, _ASKED = 20, 300
# Classes and words: the first are looked up, the others are embedded and ranked.
_QUESTIONS = ({"text": "mug"}, {"object_class": "Bowl"}, {"text": "something to drink from"}, {"text": "a red apple"})


def find_row(objects: int, folder: Path, seed: int) -> dict[str, Any]:
    """Ask one question after the other over one connection; return the answers' times, and the processor time of one.

    Raises:
        RobotMemoryError: an answer is none.
    """
    database = stored_memory(folder / f"find_{objects}.db", objects, seed)
    with inspected_by("--database", str(database), "--read-only") as (port, process):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for turn in range(_WARM_UP):
            _ask(connection, turn)
        began = processor_s(process)
        times_ms = [_ask(connection, turn) for turn in range(_ASKED)]
        spent_s = processor_s(process) - began
    return {
        "objects": objects,
        "asked": _ASKED,
        "p50_ms": float(np.percentile(times_ms, 50)),
        "p99_ms": float(np.percentile(times_ms, 99)),
        "most_ms": max(times_ms),
        "cpu_mean_ms": 1e3 * spent_s / _ASKED,
        "load_1min": os.getloadavg()[0],
    }


def _ask(connection: http.client.HTTPConnection, turn: int) -> float:
    body = json.dumps(_QUESTIONS[turn % len(_QUESTIONS)])
    began = time.perf_counter()
    connection.request("POST", "/api/v1/find_objects", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    told = answer.read()
    took_ms = 1e3 * (time.perf_counter() - began)
    if answer.status != 200:
        raise RobotMemoryError(f"bench inspector: {answer.status}: {told[:200]!r}")
    return took_ms
