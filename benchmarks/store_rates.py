"""Databases side by side: commits of a hundred objects, and loading a scene of a thousand."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.store_load import GROUP, make_object, rounds_of_updates
from memory_node.app.progress import shown
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store.config import StoreConfig
from memory_node.store.store import Store, open_store

_OBJECTS = 1_000
_ROUNDS = 20
_SITE = "rates"


def measure_rates(addresses: Sequence[str], folder: Path, seed: int) -> list[dict[str, Any]]:
    """Return for each database, by turns on one machine, the medians of its commits and loads.

    Beside them those of a SQLite file in `folder`.
    Returns: database, commits_of_100_per_s, load_scene_1000_ms, and both with `sqlite_` before their name.
    """
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix="robot_memory_")))
        turns = [
            _Turn(stack.enter_context(_open(address, data / str(number))), seed)
            for number, address in enumerate([str(data / "rates.db"), *addresses])
        ]
        for _ in shown(range(_ROUNDS), "rounds"):
            for turn in turns:
                turn.take()
        sqlite, *servers = [turn.medians() for turn in turns]
    beside = {f"sqlite_{name}": value for name, value in sqlite.items()}
    return [{"database": address, **own, **beside} for address, own in zip(addresses, servers)]


def _open(address: str, folder: Path) -> Store:
    return open_store(address, "bench", _SITE, StoreConfig(journal_path=f"{folder}.pending", data_dir=f"{folder}.data"))


class _Turn:
    """One database's part in a round: all its objects updated, a hundred a commit, then loaded."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        rng = np.random.default_rng(seed)
        objects = [make_object(rng, number, 384) for number in range(_OBJECTS)]
        store.append(SceneEvent(SceneEventKind.APPEARED, 1, one) for one in objects).wait(60.0)
        self._updates = rounds_of_updates(objects, 2)
        self._commits_s: list[float] = []
        self._loads_s: list[float] = []

    def take(self) -> None:
        """Take one turn."""
        for _ in range(_OBJECTS // GROUP):
            _, _, events = next(self._updates)
            started = time.monotonic()
            self._store.append(events).wait(60.0)
            self._commits_s.append(time.monotonic() - started)
        started = time.monotonic()
        self._store.load_scene()
        self._loads_s.append(time.monotonic() - started)

    def medians(self) -> dict[str, float]:
        """Return the medians so far."""
        return {
            "commits_of_100_per_s": 1.0 / statistics.median(self._commits_s),
            "load_scene_1000_ms": 1e3 * statistics.median(self._loads_s),
        }
