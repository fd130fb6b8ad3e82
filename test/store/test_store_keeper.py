"""The store looks after its own file: backups that rotate, and a write-ahead log that does not grow for ever."""

import os
import sqlite3
import time

import pytest
from looked_into import until

from memory_node.domain.clock import system_clock
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store import schema
from memory_node.store.backup import BackupRotation, rotated_backups
from memory_node.store.engine import LOG_LIMIT_BYTES, open_for_reading
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.keeper import FileCare, empty_log


@pytest.fixture
def store(open_at, remember_home, tmp_path):
    store = open_at(str(tmp_path / "memory.db"))
    remember_home(store)
    return store


def rotation_of(store, folder, interval_s=86_400.0, kept=3):
    return BackupRotation(store._engine, store.site, folder, interval_s, kept, system_clock)


def objects_in(path):
    engine = open_for_reading(path)
    with engine.connect() as connection:
        return len(connection.execute(schema.objects.select()).all())


def test_a_backup_is_due_once_an_interval_also_after_a_restart(store, tmp_path):
    folder = tmp_path / "backups"
    rotation = rotation_of(store, folder)
    assert rotation.is_due()
    made = rotation.make()
    assert not rotation.is_due()
    assert not rotation_of(store, folder).is_due()
    assert objects_in(made) == 3
    assert made.stat().st_mode & 0o777 == 0o600
    made.rename(made.with_name("2020-01-02T03-04-05Z.backup"))
    assert rotation_of(store, folder).is_due()
    assert not rotation_of(store, folder, interval_s=0.0).is_due(), "an interval of 0 makes none"


def test_the_newest_backups_stay_and_are_reached_by_forgetting(store, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for year in range(2019, 2025):
        store.backup(folder / f"{year}-01-02T03-04-05Z.backup")
    made = rotation_of(store, folder).make()
    names = [path.name for path in rotated_backups(folder)]
    assert names == [made.name, "2024-01-02T03-04-05Z.backup", "2023-01-02T03-04-05Z.backup"]
    assert [path.name for path in folder.iterdir() if path.name not in names] == []
    report = store.forget(ForgetRequest(label="Anna"))
    assert report.verified, report.found
    assert sorted(report.backups) == sorted(str(folder / name) for name in names)
    assert b"Anna" not in made.read_bytes()


def test_a_backup_from_the_future_hinders_no_new_one(store, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in "123":
        store.backup(folder / f"2999-01-0{day}T03-04-05Z.backup")
    rotation = rotation_of(store, folder)
    assert rotation.is_due()
    made = rotation.make()
    assert made in rotated_backups(folder)
    assert len(rotated_backups(folder)) == 3
    assert not rotation.is_due()


def test_a_backup_that_fails_keeps_the_older_ones_and_is_told(store, tmp_path):
    folder = tmp_path / "backups"
    rotation = rotation_of(store, folder, interval_s=1e-9)
    made = rotation.make()
    with open(tmp_path / "memory.db", "r+b") as file:
        store._engine.dispose()
        empty_log(tmp_path / "memory.db")
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 4))
    time.sleep(1.1)  # names tell seconds
    assert rotation.make() is None
    assert rotation.trouble
    keeper = FileCare(tmp_path / "memory.db", rotation, lambda: 0)
    assert "no backup" in keeper.warning
    assert rotated_backups(folder) == [made]


def grow_log(store, make_object):
    for _ in range(12):
        store.append(
            SceneEvent(SceneEventKind.APPEARED, 1, make_object(crop_jpeg=os.urandom(100_000))) for _ in range(20)
        ).wait()


def test_log_behind_a_foreign_reader_is_warned_about_and_shrinks_when_it_is_gone(
    store, make_object, tmp_path, monkeypatch
):
    path = tmp_path / "memory.db"
    keeper = FileCare(path, rotation_of(store, tmp_path / "backups", interval_s=0.0), lambda: store._writer.commits)
    monkeypatch.setattr("memory_node.store.keeper._LARGE_LOG_BYTES", LOG_LIMIT_BYTES)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM objects").fetchone()
    grow_log(store, make_object)
    keeper.look()
    keeper.look()
    assert keeper.log_bytes > LOG_LIMIT_BYTES, "nobody may take its snapshot from a reader"
    assert "another program" in keeper.warning
    reader.close()
    keeper.look()
    assert (keeper.log_bytes, keeper.warning) == (0, "")
    assert store.log_bytes == 0


def test_log_shrinks_under_load_too_once_the_reader_is_gone(store, make_object, tmp_path):
    reader = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM objects").fetchone()
    grow_log(store, make_object)
    assert store.log_bytes > LOG_LIMIT_BYTES
    reader.close()
    grow_log(store, make_object)
    assert store.log_bytes <= LOG_LIMIT_BYTES


def test_a_busy_store_is_left_alone(store, make_object, tmp_path):
    counts = iter(range(100))
    rotation = rotation_of(store, tmp_path / "backups", interval_s=0.0)
    keeper = FileCare(tmp_path / "memory.db", rotation, lambda: next(counts))
    grow_log(store, make_object)
    before = keeper.log_bytes
    keeper.look()
    keeper.look()
    assert keeper.log_bytes == before > 0


def test_a_store_that_runs_makes_its_backup_by_itself(open_at, remember_home, tmp_path, monkeypatch):
    monkeypatch.setattr("memory_node.store.store._FILE_LOOKS_S", (0.05, 0.05))
    store = open_at(str(tmp_path / "memory.db"), backups_kept=2)
    remember_home(store)
    until(lambda: rotated_backups(tmp_path / "r1.data" / "backups"))
