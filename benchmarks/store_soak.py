"""A long operation in short: the load of a robot's day on the store, and how much memory it takes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process_figures import figures_of
from benchmarks.store_load import make_object, make_step
from memory_node.app.progress import shown
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind
from memory_node.domain.step import EpisodeSummary
from memory_node.store.store import open_store

_OBJECTS = 2_000
_SECOND_NS = 1_000_000_000


def soak(path: Path, hours: float, seed: int) -> dict[str, Any]:
    """Write `hours` of a robot's day as fast as possible: each second five objects updated and one thing moved every
    minute; a step every 10 s; an episode every 10 minutes. Memory counts from the end of the first tenth on.
    """
    rng = np.random.default_rng(seed)
    store = open_store(path, "bench", "bench")
    objects = [make_object(rng, number, 384) for number in range(_OBJECTS)]
    store.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in objects).wait(60.0)
    seconds = int(hours * 3600)
    started, base_mb, peak_mb, updates = time.monotonic(), 0.0, 0.0, 0
    for second in shown(range(1, seconds + 1), "simulated seconds"):
        now_ns = second * _SECOND_NS
        events = []
        for number in rng.integers(0, _OBJECTS, 5):
            seen = objects[number]
            objects[number] = seen.changed(times_seen=seen.times_seen + 1, last_seen_ns=now_ns)
            events.append(SceneEvent(SceneEventKind.UPDATED, now_ns, objects[number]))
        if second % 60 == 0:
            events.append(_move(objects, int(rng.integers(_OBJECTS)), now_ns, rng))
        store.append(events)
        updates += len(events)
        if second % 10 == 0:
            store.append([make_step(second // 600, second % 600 // 10)])
        if second % 600 == 0:
            store.append([EpisodeSummary(f"e{second // 600}", "bring the mug", "pick", now_ns)]).wait(60.0)
            peak_mb = max(peak_mb, figures_of(os.getpid()).resident_mb)
        while store.diagnostics().pending > 2_000:
            time.sleep(0.002)
        if second == seconds // 10:
            store.flush(60.0)
            base_mb = figures_of(os.getpid()).resident_mb
    store.flush(60.0)
    end_mb = figures_of(os.getpid()).resident_mb
    store.close()
    return {
        "simulated_h": hours,
        "updates": updates,
        "wall_s": time.monotonic() - started,
        "rss_after_tenth_mb": base_mb,
        "rss_peak_mb": max(peak_mb, end_mb),
        "rss_end_mb": end_mb,
        "growth": end_mb / base_mb - 1.0,
    }


def _move(objects: list, number: int, now_ns: int, rng: np.random.Generator) -> SceneEvent:
    moved = objects[number]
    place = Place(moved.last_seen_ns, now_ns, moved.box, moved.area_id, moved.support_id)
    box = OrientedBox(rng.uniform(-20, 20, 3), moved.box.size, moved.box.yaw_rad)
    objects[number] = moved.changed(box=box, history=(*moved.history, place)[-20:], last_seen_ns=now_ns)
    return SceneEvent(SceneEventKind.MOVED, now_ns, objects[number])
