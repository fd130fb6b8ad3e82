"""`memory-node bench store`: kills a writer under load, and counts what was lost; and other loads of the store."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process_figures import figures_of
from benchmarks.rows import emit
from benchmarks.store_fleet import measure_fleets
from benchmarks.store_load import fill, make_object, make_step, object_id
from memory_node.app.progress import progress_bar, shown
from memory_node.domain.errors import StoreError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind
from memory_node.domain.step import EpisodeSummary
from memory_node.store.config import StoreConfig
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.store import open_store

_SOAKED_OBJECTS = 2_000
_SECOND_NS = 1_000_000_000


def soak(path: Path, hours: float, seed: int) -> dict[str, Any]:
    """Write `hours` of a robot's day as fast as possible: each second five objects updated and one thing moved every
    minute; a step every 10 s; an episode every 10 minutes. Memory counts from the end of the first tenth on.
    """
    rng = np.random.default_rng(seed)
    store = open_store(path, "bench", "bench")
    objects = [make_object(rng, number, 384) for number in range(_SOAKED_OBJECTS)]
    store.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in objects).wait(60.0)
    seconds = int(hours * 3600)
    started, base_mb, peak_mb, updates = time.monotonic(), 0.0, 0.0, 0
    for second in shown(range(1, seconds + 1), "simulated seconds"):
        now_ns = second * _SECOND_NS
        events = []
        for number in rng.integers(0, _SOAKED_OBJECTS, 5):
            seen = objects[number]
            objects[number] = seen.changed(times_seen=seen.times_seen + 1, last_seen_ns=now_ns)
            events.append(SceneEvent(SceneEventKind.UPDATED, now_ns, objects[number]))
        if second % 60 == 0:
            events.append(_move(objects, int(rng.integers(_SOAKED_OBJECTS)), now_ns, rng))
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


_OBJECTS, _STEPS = 20_000, 1_000_000


def measure_forgetting(path: Path, seed: int) -> dict[str, Any]:
    """Fill a store, forget an object that every hundredth step was about, and return how long that took.

    Returns: objects, steps, forgotten (rows that went), forget_s, cpu_s of this process, verified (nothing is left).
    """
    with open_store(path, "bench", "bench") as store:
        fill(store, _OBJECTS, _STEPS, seed)
        started, started_cpu = time.monotonic(), time.process_time()
        report = store.forget(ForgetRequest(object_ids=(object_id(1),)))
        return {
            "objects": _OBJECTS,
            "steps": _STEPS,
            "forgotten": sum(report.counts.values()),
            "forget_s": time.monotonic() - started,
            "cpu_s": time.process_time() - started_cpu,
            "verified": report.verified,
        }


_START_LIMIT_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--kills", type=int, default=20, help="how often the writer is killed (default 20)")
    parser.add_argument("--objects", type=int, default=5_000, help="objects that are updated (default 5000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the throughput run (default 10)")
    parser.add_argument(
        "--start-up", action="store_true", help="measure instead a start that reads 100,000 objects and 1,000,000 steps"
    )
    parser.add_argument(
        "--simulated-hours", type=float, default=0.0, help="measure instead memory over this much simulated operation"
    )
    parser.add_argument(
        "--fleet", nargs="+", metavar="URL", help="measure instead a fleet on each of these empty PostgreSQL databases"
    )
    parser.add_argument(
        "--forget", action="store_true", help="measure instead how long an object is forgotten among a million steps"
    )
    parser.add_argument("--robots", type=int, default=20, help="robots of the fleet (default 20)")


def run(args: argparse.Namespace) -> int:
    """Measure; exit status 1 when something acknowledged was lost."""
    with tempfile.TemporaryDirectory(prefix="robot_memory_") as made:
        folder = Path(made)
        if args.start_up:
            emit([measure_start(folder / "start.db", 100_000, 1_000_000, args.seed)], args.json)
            return 0
        if args.fleet:
            rows = measure_fleets(args.fleet, args.robots, args.seconds, folder, args.seed)
            emit(rows, args.json)
            return 0
        if args.simulated_hours:
            emit([soak(folder / "soak.db", args.simulated_hours, args.seed)], args.json)
            return 0
        if args.forget:
            row = measure_forgetting(folder / "forget.db", args.seed)
            emit([row], args.json)
            return 0 if row["verified"] else 1
        rate = measure_rate(folder / "rate.db", args.objects, args.seconds, args.seed)
        toll = kill_repeatedly(folder / "kill.db", args.kills, args.objects, args.seed)
    counts = {"kills": toll.kills, "acknowledged": toll.acknowledged, "lost": toll.lost}
    median_s = statistics.median(toll.restart_s) if toll.restart_s else None
    emit([{**counts, "restart_p50_s": median_s, "updates_per_s": rate["updates_per_s"]}], args.json)
    return 1 if toll.lost else 0


def _worker(work: str, path: Path, *rest: object, log: Path | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.store_load", str(os.getpid()), work, str(path), *map(str, rest)]
    # In a session of its own: Ctrl-C is for this process, which ends the other.
    if log is None:
        return subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    with open(log, "wb") as out:
        return subprocess.Popen(command, stdout=out, start_new_session=True)


def _figures(work: str, path: Path, *rest: object) -> dict[str, Any]:
    with _worker(work, path, *rest) as process:
        try:
            output, _ = process.communicate(timeout=600.0)
        finally:
            process.kill()
    if process.returncode:
        raise StoreError(f"the benchmark's {work} process ended with status {process.returncode}")
    return json.loads(output.splitlines()[-1])


def measure_rate(path: Path, objects: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return the figures of a writer at full rate: updates_per_s, commit_p50_ms, commits."""
    return _figures("rate", path, seed, objects, seconds)


def measure_start(path: Path, objects: int, steps: int, seed: int) -> dict[str, Any]:
    """Fill a store and return what a start needs to read all of it: objects, steps, start_s."""
    with open_store(path, "bench", "bench") as store:
        fill(store, objects, steps, seed)
    return _figures("read", path)


@dataclass
class Toll:
    """What came of the kills: facts that were acknowledged, those of them that are missing, restarts' seconds."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    restart_s: list[float] = field(default_factory=list)
    # The last acknowledged counter of each object, and the acknowledged steps.
    counters: dict[int, int] = field(default_factory=dict)
    steps: set[tuple[int, int]] = field(default_factory=set)

    def note(self, log: Path) -> None:
        """Take over what a killed writer reported; a torn last line was not reported."""
        for line in log.read_bytes().split(b"\n")[:-1]:
            said = json.loads(line)
            if "counter" in said:
                numbers = range(said["start"], said["start"] + said["count"])
                self.counters.update(dict.fromkeys(numbers, said["counter"]))
                self.steps.add((said["episode"], said["index"]))
                self.acknowledged += len(numbers) + 1


def kill_repeatedly(path: Path, kills: int, objects: int, seed: int) -> Toll:
    """Kill (-9) a writer at random moments and look after each restart whether all that it acknowledged is there.

    Before the kill this process opens the file and closes it, as a person's `sqlite3` does. Every fourth time the
    database is locked, so that the journal holds what was acknowledged.
    """
    rng = random.Random(seed)
    toll = Toll()
    with progress_bar() as progress:
        for _ in progress.track(range(kills), description="kills"):
            _run_and_kill(path, objects, rng, toll)
            toll.kills += 1
            if toll.kills % 10 == 0 or toll.kills == kills:
                toll.lost += _count_missing(path, toll)
    return toll


def _run_and_kill(path: Path, objects: int, rng: random.Random, toll: Toll) -> None:
    log = path.with_suffix(".acknowledged")
    spawned = time.monotonic()
    process = _worker("write", path, rng.randrange(2**31), objects, log=log)
    try:
        if rng.random() < 0.1:
            # In the middle of a start, too.
            time.sleep(rng.uniform(0.0, 1.0))
        else:
            _await_ready(process, log)
            toll.restart_s.append(time.monotonic() - spawned)
            time.sleep(rng.uniform(0.0, 0.3))
            _visit(path)
            time.sleep(rng.uniform(0.0, 0.2))
        with _locked(path) if rng.random() < 0.25 else contextlib.nullcontext():
            time.sleep(rng.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            process.wait(30.0)
    finally:
        process.kill()
        process.wait(30.0)
    toll.note(log)


def _await_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_LIMIT_S
    while not log.read_bytes():
        if process.poll() is not None:
            raise StoreError(f"the writer did not start again: status {process.returncode}")
        if time.monotonic() > deadline:
            raise StoreError(f"the writer did not start again within {_START_LIMIT_S:g} s")
        time.sleep(0.002)


def _visit(path: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(path, timeout=5.0)) as visitor,
        contextlib.suppress(sqlite3.OperationalError),
    ):
        visitor.execute("SELECT count(*) FROM objects").fetchone()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    connection = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


def _count_missing(path: Path, toll: Toll) -> int:
    """Open the store as a restart does and count acknowledged facts that it does not hold."""
    with open_store(path, "bench", "bench", StoreConfig()) as store:
        present = {o.id: o.times_seen for o in store.load_scene().objects}
        steps = {(int(step.episode_id[-12:]), step.index) for step in store.steps()}
    missing = sum(present.get(object_id(number), 0) < counter for number, counter in toll.counters.items())
    return missing + len(toll.steps - steps)
