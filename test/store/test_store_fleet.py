"""Several robots on one PostgreSQL, and connections that are cut: no fact is lost, and all believe the same."""

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from benchmarks import store_fleet
from benchmarks.store_fleet import measure_fleets
from memory_node.domain.scene import Area, SceneEvent, SceneEventKind
from memory_node.store.location import parse_url


class CuttableLink:
    """A TCP proxy on the loopback interface that can be cut like a radio link."""

    def __init__(self, port):
        self._target = port
        self._up = True
        self._sockets = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            if not self._up:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pump(source, sink):
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self._up = False
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def mend(self):
        self._up = True

    def close(self):
        self.cut()
        self._server.close()


class RobotProcess:
    def __init__(self, url, robot_id, folder, shared_id):
        script = Path(__file__).with_name("fleet_robot.py")
        command = [sys.executable, str(script), url, robot_id, str(folder), shared_id]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()


def test_three_robots_with_cut_links_lose_nothing_and_agree(open_at, make_object, postgres, tmp_path):
    url = postgres.create_database()
    watcher = open_at(url, "watcher")
    shared = make_object(times_seen=0)
    watcher.append([SceneEvent(SceneEventKind.APPEARED, 1, shared)]).wait()
    links = [CuttableLink(postgres.port) for _ in range(3)]
    robots = [
        RobotProcess(url.replace(f":{postgres.port}/", f":{link.port}/"), f"robot{n}", tmp_path, shared.id)
        for n, link in enumerate(links)
    ]
    try:
        assert all(robot.hear()["ready"] for robot in robots)
        time.sleep(0.7)
        links[1].cut()
        terminate_backends(url)
        time.sleep(1.0)
        links[1].mend()
        links[2].cut()
        time.sleep(0.3)
        links[2].mend()
        time.sleep(0.5)
        for robot in robots:
            robot.tell("stop")
        ends = [robot.hear() for robot in robots]
        total = sum(end["seen"] for end in ends)
        views = wait_for_agreement(robots, total)
        for robot in robots:
            robot.tell("end")
            assert robot.process.wait(60) == 0
    finally:
        for robot in robots:
            robot.process.kill()
            robot.process.wait(60)
        for link in links:
            link.close()
    assert ends[1]["outages"] >= 1
    discovered = {name.split("-")[0] for name in views[0]["objects"]}
    assert {"robot0", "robot1", "robot2"} <= discovered
    stored = {o.id: o for o in watcher.load_scene().objects}
    assert stored[shared.id].times_seen == total
    assert sorted(stored) == views[0]["objects"]


def test_a_fleet_is_measured_on_an_empty_database(postgres, tmp_path, monkeypatch):
    monkeypatch.setattr(store_fleet, "_ROUNDS", 1)
    url = postgres.create_database(empty=True, spread=False)
    (row,) = measure_fleets([url], robots=2, seconds=0.4, folder=tmp_path, seed=0)
    assert row["nodes"] == (1 + len(postgres.workers) if postgres.has_citus else 1)
    assert row["not_counted"] == []
    for name in ("commits_of_100_per_s", "sqlite_load_scene_1000_ms", "bytes_a_step", "wal_mb_a_robot_hour"):
        assert row[name] > 0, name
    assert row["commits_per_s"] > 0


def terminate_backends(url):
    engine = sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    engine.dispose()


def wait_for_agreement(robots, total):
    """Return what the robots believe once they all believe the same, which must contain every sighting."""
    deadline = time.monotonic() + 60.0
    while True:
        for robot in robots:
            robot.tell("show")
        views = [robot.hear() for robot in robots]
        if all(view == views[0] for view in views) and views[0]["times_seen"] == total:
            return views
        assert time.monotonic() < deadline, f"of {total} sightings arrived {[view['times_seen'] for view in views]}"
        time.sleep(0.1)


def test_change_of_another_robot_arrives(open_at, make_object, store_url, tmp_path, next_change):
    here = open_at(store_url, "here")
    there = open_at(store_url, "there", journal_path=str(tmp_path / "there.pending"))
    here.load_scene()
    there.load_scene()
    mug = make_object()
    there.put_map([Area("a1", "sink", (1.0, 2.0))])
    there.append([SceneEvent(SceneEventKind.APPEARED, 1, mug)]).wait()
    change = None
    while change is None or not change.objects:
        change = next_change(here)
    assert [o.id for o in change.objects] == [mug.id]
    assert [a.id for a in here.load_scene().areas] == ["a1"]


def test_robot_alone_is_not_told_of_its_own_facts(open_at, make_object, store_url):
    store = open_at(store_url, poll_interval_s=0.05)
    store.load_scene()
    for _ in range(5):
        store.append([SceneEvent(SceneEventKind.APPEARED, 1, make_object())]).wait()
    time.sleep(0.3)
    assert store.poll_changes() is None
