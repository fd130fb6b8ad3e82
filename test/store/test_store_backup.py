"""Backup while work goes on, restore on either database, migrations, and versions that do not fit."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from memory_node.domain.errors import StoreError
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store import site_database
from memory_node.store.backup import restore
from memory_node.store.engine import open_engine
from memory_node.store.errors import InvalidImportError, StoreVersionError
from memory_node.store.location import parse_url
from memory_node.store.schema import SCHEMA_VERSION, metadata

TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"


def test_backup_restores_everything_on_either_database(
    open_at, store_url, make_object, remember_home, tmp_path, request
):
    store = open_at(store_url)
    remember_home(store)
    target = tmp_path / "safe" / "home.backup"
    store.backup(target)
    assert target.stat().st_mode & 0o777 == 0o600
    assert not [path for path in target.parent.iterdir() if path != target]
    with pytest.raises(StoreError, match="exists"):
        store.backup(target)
    others = [str(tmp_path / "new.db"), request.getfixturevalue("postgres").create_database()]
    for number, url in enumerate(others):
        fresh = open_at(url, f"fresh{number}")
        counts = restore(fresh._engine, fresh.site, target, "fresh")
        assert counts["objects"] == 3
        assert counts["steps"] == 3
        scene = fresh.load_scene()
        assert [o.id for o in scene.objects] == [MUG, PILLS, TABLE]
        assert scene.objects[0].crop_jpeg == store.load_scene().objects[0].crop_jpeg
        assert fresh.steps() == store.steps()
        assert fresh.documents("guideline") == store.documents("guideline")
        with pytest.raises(StoreError, match="--replace"):
            restore(fresh._engine, fresh.site, target, "fresh")
        fresh.append([SceneEvent(SceneEventKind.APPEARED, 1, make_object())]).wait()
        restore(fresh._engine, fresh.site, target, "fresh", replace=True)
        assert len(fresh.load_scene().objects) == 3


def test_restore_refuses_what_is_no_whole_backup(open_at, remember_home, tmp_path):
    store = open_at(str(tmp_path / "memory.db"))
    remember_home(store)
    good = tmp_path / "good.backup"
    store.backup(good)
    damaged = tmp_path / "damaged.backup"
    data = bytearray(good.read_bytes())
    data[4096 * 3 : 4096 * 5] = bytes(4096 * 2)
    damaged.write_bytes(data)
    foreign = tmp_path / "foreign.backup"
    foreign.write_text("not a database at all, but long enough to look like one" * 20)
    empty = open_at(str(tmp_path / "empty.db"), "other")
    for path in (damaged, foreign, tmp_path / "missing"):
        with pytest.raises(InvalidImportError):
            restore(empty._engine, empty.site, path, "other")
    assert empty.load_scene().objects == ()


def test_newer_schema_is_refused_with_advice(open_at, tmp_path):
    path = tmp_path / "memory.db"
    open_at(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreVersionError, match=r"9999.*newer"):
        open_at(str(path), "r2")


def test_file_that_was_begun_and_not_finished_becomes_a_store(open_at, tmp_path):
    (path := tmp_path / "begun.db").touch()
    engine = open_engine(parse_url(str(path)))
    engine.connect().close()
    engine.dispose()
    assert path.stat().st_size > 0
    open_at(str(path))


def test_database_of_the_first_release_becomes_as_a_new_one_with_its_facts(
    open_at, store_url, remember_home, as_first_release
):
    with open_at(store_url) as store:
        remember_home(store)
        known, documents = store.load_scene(), store.documents("guideline")
    as_first_release(store_url)
    store = open_at(store_url, "r2")
    with store._engine.connect() as connection:
        assert site_database.schema_version(connection) == site_database.SCHEMA_VERSION
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
    assert [one.id for one in store.load_scene().objects] == [one.id for one in known.objects]
    assert store.documents("guideline") == documents
    assert store.bad_rows == 0


NEXT_RELEASE = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9000", "{head}", None, None


def upgrade():
    op.add_column("areas", sa.Column("colour", sa.Text(), nullable=False, server_default="grey"))
    {more}
"""


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pretend that this program is a later release, whose migration ends with `more`."""

    def release_(more: str) -> None:
        folder = tmp_path / f"migrations{len(more)}"
        shutil.copytree(site_database._MIGRATIONS, folder)
        (folder / "versions" / "v9000_next.py").write_text(NEXT_RELEASE.format(more=more, head=SCHEMA_VERSION))
        monkeypatch.setattr(site_database, "_MIGRATIONS", folder)
        monkeypatch.setattr(site_database, "SCHEMA_VERSION", "9000")

    return release_


def test_older_schema_is_migrated_with_its_facts(open_at, store_url, filled, release):
    filled(store_url)
    release("pass")
    store = open_at(store_url, "r2")
    with store._engine.connect() as connection:
        found = connection.execute(sa.text("SELECT colour FROM areas WHERE id = 'a1' AND site = 'home'"))
        assert found.scalar_one() == "grey"
        assert site_database.schema_version(connection) == "9000"
    assert len(store.load_scene().objects) == 3


def test_migration_that_fails_changes_nothing(store_url, filled, release):
    filled(store_url)
    release("op.drop_table('no_such_table')")
    engine = open_engine(parse_url(store_url))
    with pytest.raises(sa.exc.DBAPIError):
        site_database.prepare(engine, "home")
    with engine.connect() as connection:
        assert site_database.schema_version(connection) == SCHEMA_VERSION
        assert "colour" not in {column["name"] for column in sa.inspect(connection).get_columns("areas")}
    engine.dispose()


def test_file_says_its_schema_and_site(open_at, tmp_path):
    open_at(str(tmp_path / "memory.db"), site="ward 3").close()
    connection = sqlite3.connect(tmp_path / "memory.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (int(site_database.SCHEMA_VERSION),)
    assert connection.execute("SELECT name FROM sites").fetchall() == [("ward 3",)]
    connection.close()


def test_sql_in_a_name_is_only_a_name(open_at, store_url, make_object):
    store = open_at(store_url)
    name = "x'; DROP TABLE objects; --"
    thing = make_object(id=name, class_probabilities={name: 1.0})
    store.append([SceneEvent(SceneEventKind.APPEARED, 1, thing)]).wait()
    assert [o.class_name for o in store.load_scene().objects] == [name]
    assert sa.inspect(store._engine).has_table("objects")


@pytest.mark.parametrize("name", ["monday", "2026-10-31.backup", "a", "_", "A.b-c_9", "images.backup", "x" * 200])
def test_backup_by_name_lies_in_the_data_folder(name, open_at, tmp_path):
    store = open_at(str(tmp_path / "memory.db"))
    store.backup(store.backup_file(name))
    assert (tmp_path / "r1.data" / name).is_file()
