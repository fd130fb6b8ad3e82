"""A store whose bytes change: `check` finds it and changes nothing; `--repair` and restore go on from there."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from looked_into import SMALL

from memory_node.store.backup import backup
from memory_node.store.checksums import SEALS
from memory_node.store.engine import open_engine
from memory_node.store.location import parse_url
from memory_node.store.store import Store, open_store

MUG = "0191-mug"


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sound")


@pytest.fixture
def sound(module_folder: Path, remember_home: Callable[[Store], None]) -> tuple[Path, Path]:
    """A closed store that uses every table, and a backup of it; made once."""
    path, copy = module_folder / "memory.db", module_folder / "memory.backup"
    if not path.exists():
        with open_store(path, "r1", "ward 3", SMALL) as store:
            remember_home(store)
        engine = open_engine(parse_url(path))
        backup(engine, "ward 3", copy)
        with engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM artifacts"))  # forgetting in a copy must not reach the backup
        engine.dispose()
    return path, copy


@pytest.fixture
def damaged(sound: tuple[Path, Path], tmp_path: Path) -> Callable[..., Path]:
    """Copy the store with some bytes changed, and with or without a backup that it made by itself."""

    def damage(*changes: tuple[int, int], backed_up: bool = True) -> Path:
        path = tmp_path / "memory.db"
        data = bytearray(sound[0].read_bytes())
        for position, change in changes:
            data[position] ^= change
        path.write_bytes(data)
        path.chmod(0o600)
        if backed_up:
            folder = tmp_path / "memory.db.data" / "backups"
            folder.mkdir(parents=True)
            shutil.copy(sound[1], folder / "2026-01-02T03-04-05Z.backup")
        return path

    return damage


def facts(path):
    """Return by table the rows of a file, without their revision and checksum; None where SQLite cannot read it."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    connection.text_factory = bytes
    try:
        return {
            name: set(connection.execute(f"SELECT {', '.join(columns_of(seal))} FROM {name}"))
            for name, seal in SEALS.items()
            if name not in ("sites", "artifacts")
        }
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()


def columns_of(seal):
    return [f'"{name}"' for name in seal.names if name not in ("revision", "checksum")]


def place_of(path, content):
    return path.read_bytes().index(content)


@pytest.mark.parametrize("seed", range(8))
def test_a_changed_byte_is_found_or_changed_no_fact(seed, sound, damaged, command):
    rng = random.Random(seed)
    path = damaged((rng.randrange(sound[0].stat().st_size), rng.randrange(1, 256)))
    before = path.read_bytes()
    status, verdict = command(path, "check")
    assert path.read_bytes() == before, "check is asked to read"
    if status == 0:
        assert facts(path) == facts(sound[0])
        return
    assert verdict["findings"]
    status, verdict = command(path, "check", "--repair")
    assert (status, verdict["ok"]) == (0, True), verdict
    assert facts(path) == facts(sound[0]), "what was lost comes from the backup"
    with open_store(path, "r1", "ward 3", SMALL) as store:
        assert len(store.load_scene().objects) == 3
        assert store.bad_rows == 0


@pytest.mark.parametrize("text", ["Bergström", "look at the table", "by the sink", "Anna was asleep"])
def test_without_a_backup_a_changed_row_is_left_out_and_nothing_else(text, sound, damaged, command):
    path = damaged((place_of(sound[0], text.encode()), 0x20), backed_up=False)
    assert command(path, "check")[0] == 1
    status, verdict = command(path, "check", "--repair")
    assert (status, verdict["repaired"]["left_out"]) == (0, 1)
    whole, left = facts(sound[0]), facts(path)
    assert sum(len(rows - left[name]) for name, rows in whole.items()) == 1
    assert not any(rows - whole[name] for name, rows in left.items()), "nothing is made up"
    with open_store(path, "r1", "ward 3", SMALL) as store:
        assert len(store.load_scene().objects) >= 2


def test_each_byte_of_a_picture_is_checked(sound, command, tmp_path):
    start = place_of(sound[0], b"\xff\xd8" + bytes(range(64)))
    for offset in (0, 30, 65):
        path = tmp_path / f"{offset}.db"
        data = bytearray(sound[0].read_bytes())
        data[start + offset] ^= 0x40
        path.write_bytes(data)
        status, verdict = command(path, "check")
        assert status == 1
        assert "picture" in str(verdict["findings"])


def test_a_backup_with_a_changed_byte_is_refused_and_the_one_before_is_taken(sound, damaged, command, tmp_path):
    path = damaged((place_of(sound[0], b"Anna was asleep"), 0x20))
    bad = tmp_path / "memory.db.data" / "backups" / "2026-01-03T03-04-05Z.backup"
    data = bytearray(sound[1].read_bytes())
    data[4096 * 3 : 4096 * 5] = bytes(4096 * 2)
    bad.write_bytes(data)
    target = tmp_path / "new.db"
    status, error = command(target, "restore", bad)
    assert status == 1
    assert "damaged" in error
    assert not target.exists(), "a command that failed leaves nothing"
    assert bad.read_bytes() == bytes(data)
    verdict = command(path, "check", "--repair")[1]
    assert verdict["repaired"]["backup"].endswith("2026-01-02T03-04-05Z.backup")
    assert facts(path) == facts(sound[0])


def test_pages_of_rubbish_cost_only_what_was_on_them(sound, damaged, command):
    page = place_of(sound[0], b"look at the table") // 4096 * 4096
    noise = random.Random(1).randbytes(4096)
    path = damaged(*((page + offset, change) for offset, change in enumerate(noise)), backed_up=False)
    data = path.read_bytes()
    status, verdict = command(path, "check", "--repair")
    assert status == 0, verdict
    assert verdict["repaired"]["incomplete_tables"] == ["documents"]
    assert verdict["repaired"]["set_aside"] == f"{path}.damaged-1"
    assert Path(f"{path}.damaged-1").read_bytes() == data
    whole, left = facts(sound[0]), facts(path)
    assert {name for name in whole if whole[name] != left[name]} == {"documents"}
    assert not left["documents"] - whole["documents"]


def test_rows_on_both_sides_of_a_broken_page_are_kept(command, tmp_path, remember_home):
    path = tmp_path / "memory.db"
    with open_store(path, "r1", "home", SMALL) as store:
        remember_home(store)
        documents = [(f"g{number:04}", {"text": f"way {number:04} " + "x" * 500}, []) for number in range(200)]
        store.put_documents("way", documents).wait()
    page = place_of(path, b"way 0100") // 4096 * 4096
    with open(path, "r+b") as file:
        file.seek(page)
        file.write(bytes(4096))
    verdict = command(path, "check", "--repair")[1]
    assert verdict["ok"], verdict
    with open_store(path, "r1", "home", SMALL) as store:
        kept = {document.id for document in store.documents("way")}
    assert {"g0000", "g0050", "g0150", "g0199"} <= kept
    assert "g0100" not in kept


@pytest.mark.parametrize("position", [0, 16, 59, 100])
def test_a_file_with_a_damaged_header_is_made_anew_from_the_backup(position, sound, damaged, command):
    path = damaged((position, 0x31))
    if command(path, "check")[0] == 0:
        assert facts(path) == facts(sound[0])
        return
    status, verdict = command(path, "check", "--repair")
    assert (status, verdict["ok"]) == (0, True), verdict
    assert facts(path) == facts(sound[0])


def test_what_was_forgotten_since_the_backup_does_not_come_back(sound, command, tmp_path):
    path = tmp_path / "memory.db"
    shutil.copy(sound[0], path)
    assert command(path, "forget", "--object", MUG)[0] == 0
    folder = tmp_path / "memory.db.data" / "backups"
    folder.mkdir(parents=True)
    shutil.copy(sound[1], folder / "2026-01-02T03-04-05Z.backup")
    data = bytearray(path.read_bytes())
    page = data.index(b"0191-pills") // 4096 * 4096
    data[page : page + 4096] = bytes(4096)
    path.write_bytes(data)
    status, verdict = command(path, "check", "--repair")
    assert status == 0, verdict
    with open_store(path, "r1", "ward 3", SMALL) as store:
        assert MUG not in {found.id for found in store.load_scene().objects}


def test_a_row_whose_key_changed_comes_from_the_backup(sound, damaged, command):
    data = sound[0].read_bytes()
    places = [place for place in range(len(data)) if data.startswith(b"bring the mug", place)]
    key = data.rindex(b"e1", 0, places[0])
    path = damaged((key + 1, 0x04))
    status, verdict = command(path, "check", "--repair")
    assert status == 0, verdict
    assert facts(path)["episodes"] == facts(sound[0])["episodes"]


def test_restore_takes_the_newest_backup_and_keeps_the_damaged_file(sound, damaged, command):
    path = damaged((0, 0x31), (59, 0x31))
    data = path.read_bytes()
    assert command(path, "restore")[0] == 1, "nothing is replaced unasked"
    assert path.read_bytes() == data
    status, done = command(path, "restore", "--replace")
    assert status == 0
    assert done["backup"].endswith("2026-01-02T03-04-05Z.backup")
    assert Path(f"{path}.damaged-1").read_bytes() == data
    restored, whole = facts(path), facts(sound[0])
    assert {name: len(rows) for name, rows in restored.items()} == {name: len(rows) for name, rows in whole.items()}


def test_restore_that_fails_leaves_the_damaged_file_in_its_place(damaged, command, tmp_path):
    path = damaged((0, 0x31), backed_up=False)
    data = path.read_bytes()
    status, error = command(path, "restore", "--replace")
    assert status == 1
    assert "no backup" in error
    assert path.read_bytes() == data
    assert command(path, "restore", tmp_path / "none", "--replace")[0] == 1
    assert path.read_bytes() == data
