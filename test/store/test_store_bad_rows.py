"""Rows that memory cannot start from: it starts without them and counts them, until somebody repairs the store."""

import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from looked_into import SMALL, connected, ids_of, seen

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import SceneEventKind
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store import schema
from memory_node.store.checksums import SEALS, sealed
from memory_node.store.copying import count_rows, update_row
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.records import Document
from memory_node.store.store import open_store

TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"
NAN, FAR = float("nan"), 1.7e308


@pytest.fixture
def home(store_url: str, filled: Callable[..., None]) -> str:
    """The address of a filled database of each kind, which nobody holds."""
    filled(store_url)
    return store_url


@pytest.fixture
def path(tmp_path: Path, filled: Callable[..., None]) -> Path:
    """The path of a filled database, which nobody holds."""
    filled(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def write(url, statement, **values):
    """Change rows behind the store's back."""
    with connected(url) as connection:
        assert connection.execute(sa.text(statement), values).rowcount > 0


def reseal(url, table, **changes):
    """Change all rows of a site's table as a program that writes nonsense does: with checksums that fit."""
    with connected(url) as connection:
        for row in connection.execute(sa.select(table).where(table.c.site == "home")).mappings().all():
            update_row(connection, table, row, sealed(table, {**row, **changes}))


def count(url, table):
    with connected(url) as connection:
        return count_rows(connection, "home", table)


def test_a_box_at_the_end_of_the_world_is_left_out(home, open_at):
    geometry = struct.pack("<16d", FAR, *([1.0] * 15))
    write(
        home, "UPDATE objects SET geometry = :g, checksum = NULL WHERE site = 'home' AND id = :id", g=geometry, id=MUG
    )
    store = open_at(home)
    assert {found.id for found in store.load_scene().objects} == {TABLE, PILLS}
    assert store.bad_rows == 1
    store.close()
    again = open_at(home)
    assert {found.id for found in again.load_scene().objects} == {TABLE, PILLS}
    assert again.bad_rows == 1, "the next start knows of it"


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (schema.steps, {"stamp_ns": 2**62}),
        (schema.steps, {"x": 1e300}),
        (schema.steps, {"arguments": '{"not": "a list"}'}),
        (schema.episodes, {"started_ns": -1}),
        (schema.areas, {"x": 1e6}),
        (schema.rooms, {"area_m2": -3.0}),
        (schema.floors, {"height_m": FAR}),
        (schema.relations, {"probability": 7.0}),
        (schema.places, {"geometry": b"short"}),
        (schema.appearances, {"embedding": struct.pack("<2f", NAN, 1.0)}),
        (schema.objects, {"existence": -0.5}),
        (schema.objects, {"body": "[" * 100_000}),
        (schema.documents, {"body": "[1]"}),
    ],
)
def test_values_that_no_arithmetic_survives_are_left_out(table, changes, home, open_at):
    rows = count(home, table)
    reseal(home, table, **changes)
    store = open_at(home)
    store.load_scene()
    store.steps()
    store.episodes()
    store.documents("guideline")
    store.documents("proposition")
    assert store.bad_rows == rows


def hostile_values(column):
    if isinstance(column.type, sa.Text):
        return (7, b"\xff\xfe", "x" * 2_000_000)
    if isinstance(column.type, sa.LargeBinary):
        return ("text", b"", 5)
    return ("text", 2**63 - 1, b"\0")


@pytest.mark.parametrize("kind", range(3))
def test_memory_starts_whatever_stands_in_any_column(kind, tmp_path, path):
    original = path
    columns = {t: [c for c in t.c if not c.primary_key and c.name != "checksum"] for t in schema.LOGGED}
    for number in range(max(map(len, columns.values()))):
        path = tmp_path / f"{number}.db"
        path.write_bytes(original.read_bytes())
        connection = sqlite3.connect(path)
        for table, listed in columns.items():
            if number < len(listed):
                value = hostile_values(listed[number])[kind]
                connection.execute(f"UPDATE {table.name} SET {listed[number].name} = ?, checksum = NULL", (value,))
        connection.commit()
        connection.close()
        with open_store(path, "r1", "home", SMALL) as store:
            store.load_scene()
            store.steps()
            store.episodes()
            store.documents("guideline")


def test_memory_starts_and_says_how_many_rows_it_left_out(path):
    write(path, "UPDATE objects SET times_seen = -4 WHERE id = :id", id=PILLS)
    memory = open_memory(MemoryConfig(database=str(path), site="home", robot_id="r1"))
    try:
        assert {found.id for found in memory.scene().objects} == {TABLE, MUG}
        # The proposition of the sample is none that knowledge could read; nobody reads its guidelines.
        assert memory.diagnostics()["store.bad_rows"] == 1 + 1
    finally:
        memory.close()


def test_a_document_that_its_owner_cannot_read_is_left_out(home, open_at):
    def judge(body):
        if "slowly" in body["text"]:
            raise InvalidValueError("too slow")

    store = open_at(home)
    store.check_bodies({"guideline": judge})
    assert {document.id for document in store.documents("guideline")} == {"g-mug", "g-pills"}
    assert store.bad_rows == 1
    newer = Document("guideline", "g-both", {"text": "go fast"}, 9)
    store.append([newer]).wait()
    assert len(store.documents("guideline")) == 3


def test_check_lists_them_and_repair_takes_them_from_the_backup(tmp_path, path, command):
    with open_store(path, "r1", "home", SMALL) as store:
        store.backup(tmp_path / "memory.db.data" / "backups" / "2026-01-02T03-04-05Z.backup")
    write(path, "UPDATE episodes SET instruction = 'bring the mut' WHERE id = 'e1'")
    with open_store(path, "r1", "home", SMALL) as store:
        assert [episode.id for episode in store.episodes()] == ["e2"]
    status, verdict = command(path, "check")
    assert status == 1
    assert "1 rows cannot be read and are left out: episodes e1: its checksum" in str(verdict)
    assert command(path, "check", "--repair")[1]["repaired"]["from_backup"] == 1
    assert command(path, "check") == (0, {"ok": True, "findings": []})
    with open_store(path, "r1", "home", SMALL) as store:
        assert next(episode.instruction for episode in store.episodes()) == "bring the mug"


def test_a_bad_row_is_replaced_by_what_the_robot_sees_next(home, open_at):
    store = open_at(home)
    pills = next(one for one in store.load_scene().objects if one.id == PILLS)
    write(home, "UPDATE objects SET times_seen = -4 WHERE site = 'home' AND id = :id", id=PILLS)
    assert PILLS not in ids_of(store)
    store.append([seen(pills, SceneEventKind.UPDATED)]).wait()
    assert PILLS in ids_of(store)


def test_a_bad_row_is_forgotten_with_what_it_is_about(home, open_at):
    write(home, "UPDATE objects SET times_seen = -4 WHERE site = 'home' AND id = :id", id=PILLS)
    store = open_at(home)
    assert PILLS not in ids_of(store)
    assert store.forget(ForgetRequest(label="Anna")).verified
    with connected(home) as connection:
        found = connection.execute(sa.select(schema.objects.c.id).where(schema.objects.c.site == "home"))
        assert PILLS not in found.scalars().all()


def test_every_table_is_sealed():
    assert set(SEALS) == set(schema.metadata.tables)
