"""A fleet in one process: robots of several sites that write to one PostgreSQL and hear of each other."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks.store_load import GROUP, make_object, make_step, rounds_of_updates
from memory_node.app.progress import shown
from memory_node.domain.ids import new_id
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.store.config import StoreConfig
from memory_node.store.distribute import distribute, has_citus
from memory_node.store.engine import open_engine
from memory_node.store.location import parse_url
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


_ROBOTS_A_SITE = 5
_OBJECTS_A_ROBOT = 100
_UPDATES_A_SECOND = 5
_SECONDS_A_STEP = 10
_MEASURED_STEPS = 5_000
_WAL_BYTES = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
_PIDS = "SELECT string_agg(pid::text, ',') FROM pg_stat_activity"


@dataclass
class _Robot:
    store: Store
    objects: list[SceneObject]
    episode: int
    delays_s: list[float] = field(default_factory=list)
    updates: int = 0

    def see(self, rng: np.random.Generator) -> None:
        """Update one object that it sees."""
        number = int(rng.integers(len(self.objects)))
        seen = self.objects[number]
        self.objects[number] = seen.changed(times_seen=seen.times_seen + 1, last_seen_ns=time.time_ns())
        self.store.append([SceneEvent(SceneEventKind.UPDATED, 1, self.objects[number])])
        self.updates += 1

    def hear(self) -> None:
        """Take over what others saw, and note how long it travelled."""
        change = self.store.poll_changes()
        if change is not None:
            now_ns = time.time_ns()
            self.delays_s += [(now_ns - o.last_seen_ns) * 1e-9 for o in change.objects if o.last_seen_ns > 1]


def measure_fleets(urls: Sequence[str], robots: int, seconds: float, folder: Path, seed: int) -> list[dict[str, Any]]:
    """Return for each empty database what `measure_rates` finds beside SQLite, and then `measure_fleet`.

    The tables of one with Citus are distributed first.
    """
    for url in urls:
        engine = open_engine(parse_url(url))
        if _is_spread(engine):
            distribute(engine)
        engine.dispose()
    rates = measure_rates(urls, folder, seed)
    return [{**rate, **measure_fleet(url, robots, seconds, seed)} for url, rate in zip(urls, rates)]


def measure_fleet(url: str, robots: int, seconds: float, seed: int) -> dict[str, Any]:
    """Return rates, delays and the cost of a robot: the server's and the client's CPU, and what it writes.

    Each robot updates five objects a second, every one in a commit of its own, and takes a step every ten seconds;
    one robot of each site takes over what the others see. The server's CPU is None when a node runs elsewhere.
    """
    rng = np.random.default_rng(seed)
    engine = open_engine(parse_url(url))
    with tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
        fleet = [_open_robot(url, number, Path(folder), rng) for number in range(robots)]
        for robot in fleet:
            robot.store.load_scene()
        before = _Toll.now(engine, fleet)
        elapsed_s = _operate(fleet, seconds, rng)
        for robot in fleet:
            robot.store.flush(30.0)
        taken = _Toll.now(engine, fleet).since(before)
        diagnostics = [robot.store.diagnostics() for robot in fleet]
        bytes_a_step = _measure_step(engine, fleet[0])
        for robot in fleet:
            robot.store.close()
    engine.dispose()
    delays_s = sorted(delay for robot in fleet for delay in robot.delays_s)
    percent_a_robot = 100.0 / elapsed_s / robots
    return {
        "robots": robots,
        "sites": -(-robots // _ROBOTS_A_SITE),
        "updates_per_s": sum(robot.updates for robot in fleet) / elapsed_s,
        "commits_per_s": taken.commits / elapsed_s,
        "commit_p50_ms": statistics.median(d.commit_p50_ms for d in diagnostics),
        "commit_max_ms": max(d.commit_max_ms for d in diagnostics),
        "outages": sum(d.outages for d in diagnostics),
        "arrival_p50_s": delays_s[len(delays_s) // 2] if delays_s else None,
        "arrival_p99_s": delays_s[int(len(delays_s) * 0.99)] if delays_s else None,
        "server_cpu_percent_a_robot": None if taken.server_s is None else taken.server_s * percent_a_robot,
        "client_cpu_percent_a_robot": taken.client_s * percent_a_robot,
        "wal_mb_a_robot_hour": None if taken.wal_bytes is None else taken.wal_bytes / robots / elapsed_s * 3600.0 / 1e6,
        "bytes_a_step": bytes_a_step,
        "nodes": taken.nodes,
        "not_counted": [*taken.not_counted],
    }


@dataclass(frozen=True)
class _Toll:
    """What a fleet has cost so far, on all nodes of the server; None for what cannot be counted on each of them.

    server_s: CPU seconds of the server's processes. not_counted: what is None, and why.
    """

    commits: int
    client_s: float
    nodes: int
    wal_bytes: int | None
    server_s: float | None
    not_counted: tuple[str, ...]

    @classmethod
    def now(cls, engine: sa.Engine, fleet: Sequence[_Robot]) -> _Toll:
        commits = sum(robot.store.diagnostics().commits for robot in fleet)
        logs, pids = _on_each_node(engine, _WAL_BYTES), _on_each_node(engine, _PIDS)
        refused = [f"write-ahead log: {why}" for ok, why in logs if not ok]
        wal_bytes = None if refused else sum(int(float(found)) for _, found in logs)
        each = [_cpu_s(found.split(",")) if ok else None for ok, found in pids]
        here = [seconds for seconds in each if seconds is not None]
        server_s = sum(here) if len(here) == len(each) else None
        if server_s is None:
            refused.append("server CPU: not all of its processes run on this machine")
        return cls(commits, time.process_time(), len(logs), wal_bytes, server_s, tuple(refused))

    def since(self, before: _Toll) -> _Toll:
        """Return what came on top of an earlier toll."""
        wal_bytes = server_s = None
        if self.wal_bytes is not None and before.wal_bytes is not None:
            wal_bytes = self.wal_bytes - before.wal_bytes
        if self.server_s is not None and before.server_s is not None:
            server_s = self.server_s - before.server_s
        commits, client_s = self.commits - before.commits, self.client_s - before.client_s
        return _Toll(commits, client_s, self.nodes, wal_bytes, server_s, self.not_counted)


def _open_robot(url: str, number: int, folder: Path, rng: np.random.Generator) -> _Robot:
    config = StoreConfig(
        journal_path=str(folder / f"{number}.pending"), data_dir=str(folder / str(number)), journal_mib=0.25
    )
    store = open_store(url, f"robot{number}", f"site{number // _ROBOTS_A_SITE}", config)
    made = (make_object(rng, n, 384) for n in range(_OBJECTS_A_ROBOT))
    objects = [scene_object.changed(id=new_id()) for scene_object in made]
    store.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in objects).wait(60.0)
    return _Robot(store, objects, number)


def _operate(fleet: list[_Robot], seconds: float, rng: np.random.Generator) -> float:
    """Run the fleet in real time, its robots evenly apart; return the seconds that it took."""
    started = time.monotonic()
    turns = int(seconds * _UPDATES_A_SECOND)
    for turn in shown(range(turns), "turns"):
        for number, robot in enumerate(fleet):
            due = started + (turn + number / len(fleet)) / _UPDATES_A_SECOND
            time.sleep(max(0.0, due - time.monotonic()))
            robot.see(rng)
            if turn % (_UPDATES_A_SECOND * _SECONDS_A_STEP) == 0:
                robot.store.append([make_step(robot.episode, turn)])
            if number % _ROBOTS_A_SITE == 0:
                robot.hear()
    return time.monotonic() - started


def _is_spread(engine: sa.Engine) -> bool:
    with engine.connect() as connection:
        return has_citus(connection)


def _on_each_node(engine: sa.Engine, command: str) -> list[tuple[bool, str]]:
    """Return whether a query went and its one value, or why it did not, for each node of Citus, or the one server."""
    with engine.connect() as connection:
        if not has_citus(connection):
            return [(True, str(connection.execute(sa.text(command)).scalar_one()))]
        asked = sa.text("SELECT success, result FROM run_command_on_all_nodes(:command)")
        return [(row.success, row.result) for row in connection.execute(asked, {"command": command})]


def _measure_step(engine: sa.Engine, robot: _Robot) -> float:
    """Return how many bytes a step takes with its indexes: objects are updated in place, steps accumulate."""
    total = "citus_total_relation_size" if _is_spread(engine) else "pg_total_relation_size"
    size = sa.text(f"SELECT {total}('steps')")
    with engine.connect() as connection:
        before = connection.execute(size).scalar_one()
    for episode in range(_MEASURED_STEPS // 100):
        robot.store.append(make_step(1_000_000 + episode, index) for index in range(100)).wait(60.0)
    with engine.connect() as connection:
        return (connection.execute(size).scalar_one() - before) / _MEASURED_STEPS


def _cpu_s(pids: Sequence[str]) -> float | None:
    """Return the CPU seconds of the server with these processes, ended ones included; None for one elsewhere."""
    parents = [fields_[1] for pid in pids if (fields_ := _stat(pid))]
    if not parents:
        return None
    first = parents[0]
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    # User and system time; of the process that starts the others also that of those that have ended.
    ticks = sum(map(int, _stat(first)[11:15]))
    ticks += sum(int(ticks) for pid in children for ticks in _stat(pid)[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: str) -> list[str]:
    """Return what /proc says of a process of PostgreSQL here, from its state on; nothing where it is none."""
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return rest.split() if name.endswith("(postgres") else []
