"""`bench store --server-stops N`: a PostgreSQL server goes and comes back under load; what was acknowledged stays."""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.postgres_server import PostgresServer, postgres_server
from benchmarks.store_load import make_object, make_step, object_id
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import StoreError
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store import Store, StoreConfig, open_store

_RECOVERY_LIMIT_S = 30.0
_GROUP = 50


@dataclass
class _Writer:
    """Writes until it is told to end. counters: what was acknowledged last of each object; steps: of these, too."""

    store: Store
    objects: int
    seed: int
    ending: threading.Event = field(default_factory=threading.Event)
    counters: dict[int, int] = field(default_factory=dict)
    steps: int = 0
    acknowledged: int = 0
    refused: int = 0

    def run(self) -> None:
        rng = np.random.default_rng(self.seed)
        things = [make_object(rng, number) for number in range(self.objects)]
        counter = 1
        while not self.ending.is_set():
            for start in range(0, self.objects, _GROUP):
                numbers = range(start, min(start + _GROUP, self.objects))
                seen = (things[n].changed(times_seen=counter, last_seen_ns=counter) for n in numbers)
                events = [SceneEvent(SceneEventKind.UPDATED, counter, thing) for thing in seen]
                try:
                    self.store.append([*events, make_step(1, self.steps)]).wait(_RECOVERY_LIMIT_S)
                except StoreError:
                    self.refused += 1
                    continue
                self.counters.update(dict.fromkeys(numbers, counter))
                self.steps += 1
                self.acknowledged += len(events) + 1
            counter += 1


def measure_outages(stops: int, objects: int, seed: int) -> dict[str, Any]:
    """Stop a server of this run at random moments, start it again, and count what is missing at the end.

    Returns: stops, acknowledged, lost, refused (groups that were never acknowledged), recovery_p50_s (server up to
    store ok) and updates_per_s.

    Raises:
        ResourceMissingError: PostgreSQL is not installed.
        StoreError: the store did not recover.
    """
    with postgres_server() as server, tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
        url = server.create_database()
        config = StoreConfig(journal_path=str(Path(folder) / "pending"), data_dir=folder, retry_interval_s=0.2)
        with open_store(url, "bench", "bench", config) as store:
            writer = _Writer(store, objects, seed)
            thread = threading.Thread(target=writer.run, name="load", daemon=True)
            started = time.monotonic()
            thread.start()
            try:
                recoveries = _stop_and_start(server, store, stops, random.Random(seed))
            finally:
                writer.ending.set()
                thread.join(60.0)
            elapsed_s = time.monotonic() - started
        with open_store(url, "bench", "bench", config) as store:
            lost = _missing(store, writer)
    return {
        "stops": stops,
        "acknowledged": writer.acknowledged,
        "lost": lost,
        "refused": writer.refused,
        "recovery_p50_s": statistics.median(recoveries) if recoveries else None,
        "updates_per_s": writer.acknowledged / elapsed_s,
    }


def _stop_and_start(server: PostgresServer, store: Store, stops: int, rng: random.Random) -> list[float]:
    recoveries: list[float] = []
    with progress_bar() as progress:
        for _ in progress.track(range(stops), description="stops"):
            time.sleep(rng.uniform(0.2, 2.0))
            server.stop()
            time.sleep(rng.uniform(0.0, 1.0))
            server.start()
            up = time.monotonic()
            _await_recovery(store)
            recoveries.append(time.monotonic() - up)
    return recoveries


def _await_recovery(store: Store) -> None:
    deadline = time.monotonic() + _RECOVERY_LIMIT_S
    while store.diagnostics().state != "ok":
        if time.monotonic() > deadline:
            raise StoreError(f"the store did not go on within {_RECOVERY_LIMIT_S:g} s of the server's start")
        time.sleep(0.02)


def _missing(store: Store, writer: _Writer) -> int:
    present = {thing.id: thing.times_seen for thing in store.load_scene().objects}
    missing = sum(present.get(object_id(number), 0) < counter for number, counter in writer.counters.items())
    return missing + len(set(range(writer.steps)) - {step.index for step in store.steps()})
