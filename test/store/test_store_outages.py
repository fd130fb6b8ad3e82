"""A database that is locked, full, read-only or away: memory goes on, in order, and nothing is dropped in silence."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from looked_into import ids_of, seen, until

from memory_node.store.errors import StoreBacklogError, StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.location import parse_url
from memory_node.store.writer import LogWriter


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of memory.db on demand."""
    connection = sqlite3.connect(tmp_path / "memory.db", isolation_level=None, timeout=60, check_same_thread=False)
    yield connection
    connection.close()


@pytest.fixture
def on_begin() -> Iterator[Callable[[Callable[[], str]], None]]:
    """Run a statement at the beginning of each transaction; set before the store's threads begin theirs."""
    listeners: list[Callable[[sa.Connection], None]] = []

    def listen(statement: Callable[[], str]) -> None:
        def run(connection: sa.Connection) -> None:
            connection.exec_driver_sql(statement())

        sa.event.listen(sa.engine.Engine, "begin", run)
        listeners.append(run)

    yield listen
    for run in listeners:
        sa.event.remove(sa.engine.Engine, "begin", run)


def test_locked_database_sends_facts_to_the_journal_and_back(open_at, make_object, tmp_path, locked):
    store = open_at(str(tmp_path / "memory.db"))
    mug = make_object()
    locked.execute("BEGIN IMMEDIATE")
    for times_seen in range(1, 6):
        store.append([seen(mug.changed(times_seen=times_seen))]).wait()
    trouble = store.diagnostics()
    assert "locked" in trouble.state
    assert trouble.journal_batches > 0
    assert store.load_scene().objects == ()
    locked.execute("COMMIT")
    until(lambda: store.diagnostics().state == "ok")
    assert [o.times_seen for o in store.load_scene().objects] == [5]
    assert store.diagnostics().journal_used_bytes == 0
    assert store.diagnostics().outages == 1


def test_full_database_is_named_and_survived(open_at, make_object, tmp_path, on_begin):
    limit = {"pages": 80}
    on_begin(lambda: f"PRAGMA max_page_count = {limit['pages']}")
    store = open_at(str(tmp_path / "memory.db"))
    large = [make_object(crop_jpeg=os.urandom(30_000)) for _ in range(10)]
    store.append([seen(o) for o in large]).wait()
    assert "full" in store.diagnostics().state
    limit["pages"] = 100_000
    until(lambda: store.diagnostics().state == "ok")
    assert {o.id: o.crop_jpeg for o in store.load_scene().objects} == {o.id: o.crop_jpeg for o in large}


def test_read_only_disk_keeps_facts_in_memory_until_it_writes_again(
    open_at, make_object, tmp_path, monkeypatch, on_begin
):
    read_only = {"on": False}
    on_begin(lambda: f"PRAGMA query_only = {int(read_only['on'])}")
    store = open_at(str(tmp_path / "memory.db"))
    read_only["on"] = True
    write = Journal._write

    def refuse(journal, data, offset):
        if read_only["on"]:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        write(journal, data, offset)

    monkeypatch.setattr(Journal, "_write", refuse)
    first, second = make_object(), make_object()
    ticket = store.append([seen(first)])
    until(lambda: "readonly" in store.diagnostics().state)
    with pytest.raises(StoreUnavailableError, match="readonly"):
        ticket.wait(0.1)
    later = store.append([seen(second), seen(first.changed(times_seen=9))])
    assert not later.durable
    read_only["on"] = False
    later.wait()
    until(lambda: store.diagnostics().state == "ok")
    assert {o.id: o.times_seen for o in store.load_scene().objects} == {first.id: 9, second.id: 1}


def test_what_reaches_the_journal_while_the_database_is_tried_is_not_cleared(
    open_at, make_object, tmp_path, monkeypatch, on_begin
):
    refuses = {"database": False, "journal": False}
    waiting = []
    on_begin(lambda: f"PRAGMA query_only = {int(refuses['database'])}")
    look, write = LogWriter._waiting_batch, Journal._write

    def look_and_wait(writer, number):
        found = look(writer, number)
        if waiting and not refuses["database"]:
            refuses["journal"] = False
            waiting.pop().wait()  # it reaches the journal after the look, before the commit
        return found

    def refuse(journal, data, offset):
        if refuses["journal"]:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        write(journal, data, offset)

    monkeypatch.setattr(LogWriter, "_waiting_batch", look_and_wait)
    monkeypatch.setattr(Journal, "_write", refuse)
    store = open_at(str(tmp_path / "memory.db"))
    refuses.update(database=True, journal=True)
    mug = make_object()
    ticket = store.append([seen(mug)])
    until(lambda: "readonly" in store.diagnostics().state)
    with pytest.raises(StoreUnavailableError, match="readonly"):
        ticket.wait(0.1)
    waiting.append(ticket)
    refuses["database"] = False
    until(lambda: store.diagnostics().state == "ok")
    until(lambda: [found.id for found in store.load_scene().objects] == [mug.id])


def test_backlog_is_refused_loudly_and_what_was_taken_arrives(open_at, make_object, tmp_path, locked):
    bounds = {"journal_mib": 0.01, "max_pending": 40, "append_timeout_s": 0.1}
    store = open_at(str(tmp_path / "memory.db"), **bounds)
    locked.execute("BEGIN IMMEDIATE")
    taken = []

    def fill():
        for _ in range(1000):
            thing = make_object()
            store.append([seen(thing)])
            taken.append(thing.id)

    with pytest.raises(StoreBacklogError, match="max_pending"):
        fill()
    assert store.diagnostics().refused == 1
    locked.execute("COMMIT")
    store.flush()
    until(lambda: store.diagnostics().state == "ok")
    assert ids_of(store) == set(taken)


_KILLED_WHILE_LOCKED = """
import os, signal, sqlite3, sys
from memory_node.domain.step import EpisodeSummary
from memory_node.store.config import StoreConfig
from memory_node.store.store import open_store
store = open_store(sys.argv[1], "r1", config=StoreConfig(busy_timeout_s=0.2, journal_mib=1.0))
lock = sqlite3.connect(sys.argv[1], isolation_level=None)
lock.execute("BEGIN IMMEDIATE")
for number in range(3):
    store.append([EpisodeSummary(f"e{number}", "bring it", "pick", number)]).wait(60.0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_journal_of_a_killed_process_is_replayed_at_the_next_start(open_at, tmp_path):
    path = str(tmp_path / "memory.db")
    killed = subprocess.run([sys.executable, "-c", _KILLED_WHILE_LOCKED, path], timeout=100, check=False)
    assert killed.returncode == -signal.SIGKILL
    store = open_at(path, journal_path=path + ".pending")
    assert [episode.id for episode in store.episodes()] == ["e0", "e1", "e2"]


def test_removed_file_is_noticed_and_a_backup_in_its_place_goes_on(open_at, make_object, tmp_path):
    path = tmp_path / "memory.db"
    store = open_at(str(path))
    before, during = make_object(), make_object()
    store.append([seen(before)]).wait()
    store.backup(tmp_path / "a.backup")
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"memory.db{suffix}").unlink()
    store.append([seen(during)]).wait()
    assert "removed" in store.diagnostics().state
    time.sleep(0.3)
    assert not path.exists(), "an empty memory must not take its place"
    (tmp_path / "a.backup").rename(path)
    until(lambda: store.diagnostics().state == "ok")
    assert ids_of(store) == {before.id, during.id}


def test_site_that_another_robot_holds_locked_does_not_stop_this_one(open_at, make_object, postgres, product_patience):
    url = postgres.create_database()
    store = open_at(url)
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection, product_patience():
        connection.execute(sa.text("UPDATE sites SET revision = revision"))
        store.append([seen(make_object())]).wait()
        assert "lock timeout" in store.diagnostics().state
    engine.dispose()
    until(lambda: store.diagnostics().state == "ok")
    assert len(store.load_scene().objects) == 1


def test_tls_options_of_the_address_reach_the_server(open_at, postgres):
    url = postgres.create_database().replace("sslmode=disable", "sslmode=require")
    store = open_at(url)
    until(lambda: store.diagnostics().state == "ok" or "SSL" in store.diagnostics().state)
    if store.diagnostics().state == "ok":  # a server that has a certificate
        with store._engine.connect() as connection:
            encrypted = sa.text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            assert connection.execute(encrypted).scalar_one()


def test_torn_frame_ends_the_journal(tmp_path):
    journal = Journal(tmp_path / "j", 100_000)
    journal.open()
    for number in range(3):
        assert journal.append({"episodes": {(f"e{number}",): {"id": f"e{number}", "crop": bytes([number])}}})
    end = journal.used_bytes
    journal.close()
    with open(tmp_path / "j", "r+b") as file:
        file.seek(end - 3)
        file.write(b"\0")
    again = Journal(tmp_path / "j", 100_000)
    again.open()
    assert [batch["episodes"][f"e{n}",]["crop"] for n, batch in enumerate(again.batches())] == [b"\0", b"\1"]
    again.clear()
    assert (tmp_path / "j").read_bytes().strip(b"\0") == b""
    again.close()


def test_files_are_private_to_their_owner(open_at, tmp_path, make_object):
    path = tmp_path / "memory.db"
    path.touch(0o644)
    store = open_at(str(path))
    store.append([seen(make_object())]).wait()
    for name in ("memory.db", "memory.db-wal", "memory.db-shm", "r1.pending"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name


def test_disks_that_are_full_or_read_only(tmp_path):
    """Real mounts, in a namespace of their own: a disk that fills up and grows, a start on one that is read-only."""
    isolated = ["unshare", "--mount", "--propagation", "private"]
    if shutil.which("unshare") is None or subprocess.run([*isolated, "true"], capture_output=True).returncode:
        pytest.skip("mounting needs root's rights")
    script = Path(__file__).with_name("mounted_disk.py")
    command = [*isolated, sys.executable, str(script), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert "full" in seen["full"]["state"]
    assert seen["full"]["told"] > 8
    assert seen["full"]["missing"] == 0
    assert seen["read_only"]["remembered"] == seen["full"]["told"]
    assert "Read-only file system" in seen["read_only"]["error"]
    assert seen["read_only"]["missing"] == 0
    assert "cannot be opened: [Errno 30]" in seen["read_only"]["refused"]
