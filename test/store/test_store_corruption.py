"""A store whose bytes change: `check` finds it and changes nothing; `--repair` and restore go on from there."""

import json
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_node.cli import main
from memory_node.store import Store, StoreConfig, open_store
from memory_node.store.backup import backup
from memory_node.store.checksums import SEALS
from memory_node.store.correction import corrected_row, corrections
from memory_node.store.engine import open_engine, parse_url
from memory_node.store.sqlite_pages import PAGE_BYTES, PageFile

MUG = "0191-mug"


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sound")


@pytest.fixture
def sound(module_folder: Path, remember_home: Callable[[Store], None]) -> tuple[Path, Path]:
    """A closed store that uses every table, and a backup of it; made once."""
    path, copy = module_folder / "memory.db", module_folder / "memory.backup"
    if not path.exists():
        with open_store(path, "r1", "ward 3", StoreConfig(journal_mib=1.0)) as store:
            remember_home(store)
            image = store.images.save(MUG, b"\xff\xd8" + bytes(range(200)))
        (module_folder / "image").write_text(image)
        engine = open_engine(parse_url(path))
        backup(engine, "ward 3", copy)
        engine.dispose()
    return path, copy


@pytest.fixture
def damaged(sound: tuple[Path, Path], tmp_path: Path) -> Callable[..., Path]:
    """Copy the store with some bytes changed."""

    def damage(*changes: tuple[int, int]) -> Path:
        path = tmp_path / "memory.db"
        data = bytearray(sound[0].read_bytes())
        for position, change in changes:
            data[position] ^= change
        path.write_bytes(data)
        path.chmod(0o600)
        return path

    return damage


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """Run `memory-node store ...`; return exit status and what it printed."""

    def run_(path: Path, command: str, *words: object) -> tuple[int, Any]:
        status = main(["store", command, "--database", str(path), "--json", *map(str, words)])
        output = capsys.readouterr()
        return status, json.loads(output.out) if output.out else output.err

    return run_


def facts(path):
    """Return by table the rows of a file, sessions and revisions left out."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    tables = [name for name, seal in SEALS.items() if name not in ("sites", "artifacts", "quarantine")]
    try:
        return {name: set(connection.execute(f"SELECT * FROM {name}")) for name in tables}
    finally:
        connection.close()


def is_row(values):
    return any(len(seal.names) == len(values) and not seal.row_fault(values) for seal in SEALS.values())


def places_of_rows(path, count, seed):
    """Return `count` positions of a file within the rows of our tables."""
    file = PageFile(path)
    places = []
    for number in range(1, file.count + 1):
        for record in file.records(number)[0]:
            if is_row(record.values) and record.payload in file.page(number):
                start = (number - 1) * PAGE_BYTES + file.page(number).index(record.payload)
                places += range(start, start + len(record.payload))
    return random.Random(seed).sample(places, count)


@pytest.mark.parametrize("number", range(20))
def test_a_changed_byte_is_found_mended_and_survived_by_restore(number, sound, damaged, run, tmp_path):
    position = places_of_rows(sound[0], 20, seed=15)[number]
    path = damaged((position, random.Random(number).randrange(1, 256)))
    before = path.read_bytes()
    status, verdict = run(path, "check")
    assert status == 1
    assert verdict["findings"]
    assert path.read_bytes() == before, "check is asked to read"
    assert sorted(tmp_path.iterdir()) == [path]
    broken = tmp_path / "broken.db"
    shutil.copy(path, broken)

    status, verdict = run(path, "check", "--repair")
    assert (status, verdict["ok"]) == (0, True), verdict
    whole, mended = facts(sound[0]), facts(path)
    missing = sum(len(rows - mended[name]) for name, rows in whole.items())
    assert missing <= verdict["repaired"]["put_away"] + 1
    assert not any(rows - whole[name] for name, rows in mended.items()), "nothing is made up"
    with open_store(path, "r1", "ward 3", StoreConfig(journal_mib=1.0)) as store:
        assert len(store.load_scene().objects) >= 2

    restored = tmp_path / "restored.db"
    assert run(restored, "restore", sound[1])[0] == 0
    assert without_origin(facts(restored)) == without_origin(whole)


def without_origin(tables):
    """Return the number of rows by table: a restore gives rows new revisions."""
    return {name: len(rows) for name, rows in tables.items() if name not in ("sessions", "forgettings")}


def test_most_changed_bytes_are_mended_without_loss(sound, damaged, run):
    whole = facts(sound[0])
    lost = 0
    for number, position in enumerate(places_of_rows(sound[0], 20, seed=16)):
        path = damaged((position, random.Random(number).randrange(1, 256)))
        run(path, "check", "--repair")
        mended = facts(path)
        lost += any(rows - mended[name] for name, rows in whole.items())
        for file in path.parent.iterdir():
            if file.is_file():
                file.unlink()
    assert lost <= 8


def test_each_byte_of_a_picture_is_checked(sound, damaged, run):
    data = sound[0].read_bytes()
    start = data.index(b"\xff\xd8" + bytes(range(64)))
    for offset in (0, 30, 65):
        status, verdict = run(damaged((start + offset, 0x40)), "check")
        assert status == 1
        assert "picture" in str(verdict["findings"])


def test_a_changed_byte_of_a_backup_is_not_restored_but_repaired(sound, run, tmp_path):
    data = bytearray(sound[1].read_bytes())
    data[data.index("Bergström".encode())] ^= 0x20
    source, target = tmp_path / "memory.backup", tmp_path / "memory.db"
    source.write_bytes(data)
    status, error = run(target, "restore", source)
    assert status == 1
    assert "1 rows" in error
    assert "--repair" in error
    assert not target.exists(), "a command that failed leaves nothing"
    assert source.read_bytes() == bytes(data)
    assert run(source, "check", "--repair")[1]["repaired"]["mended"] == 1
    assert run(target, "restore", source)[0] == 0
    assert "Bergström".encode() in target.read_bytes()


def test_a_changed_picture_file_is_found_and_mended(sound, module_folder, run, tmp_path):
    path = tmp_path / "memory.db"
    shutil.copy(sound[0], path)
    shutil.copytree(f"{sound[0]}.data", f"{path}.data")
    image = next((tmp_path / "memory.db.data" / "images").glob("*.jpg"))
    whole = image.read_bytes()
    image.write_bytes(whole[:50] + b"\0" + whole[51:])
    status, verdict = run(path, "check")
    assert status == 1
    assert str(image) in str(verdict["findings"])
    status, verdict = run(path, "check", "--repair")
    assert (status, verdict["repaired"]["images_mended"]) == (0, 1)
    assert image.read_bytes() == whole


@pytest.mark.parametrize("position", [0, 16, 17, 18, 28, 47, 59, 68, 71, 100, 101, 104, 105])
def test_a_changed_byte_of_the_header_is_found_and_mended(position, sound, damaged, run):
    path = damaged((position, 0x31))
    assert run(path, "check")[0] == 1
    status, verdict = run(path, "check", "--repair")
    assert (status, verdict["ok"]) == (0, True)
    whole, left = facts(sound[0]), facts(path)
    assert left == whole


def test_a_page_of_rubbish_costs_only_what_was_on_it(sound, run, tmp_path):
    path = tmp_path / "memory.db"
    data = bytearray(sound[0].read_bytes())
    start = data.index(b"look at the table") // 4096 * 4096
    data[start : start + 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)
    status, verdict = run(path, "check", "--repair")
    assert status == 0
    assert verdict["repaired"]["rebuilt"]["damaged_file"] == f"{path}.damaged-1"
    assert (tmp_path / "memory.db.damaged-1").read_bytes() == bytes(data)
    whole, left = facts(sound[0]), facts(path)
    assert left["objects"] == whole["objects"]
    assert left["steps"] == whole["steps"]


def test_repair_says_where_there_is_nothing_to_mend(run, tmp_path):
    for name, content in (("empty", b""), ("notes", b"somebody's notes\n" * 400)):
        path = tmp_path / name
        path.write_bytes(content)
        status, error = run(path, "check", "--repair")
        assert status == 1
        assert len(error.splitlines()) == 1
        assert path.read_bytes() == content


def test_corrections_finds_each_single_byte_change():
    message = bytes(range(256)) * 3
    checksum = zlib.crc32(message)
    rng = random.Random(4)
    for _ in range(50):
        position, change = rng.randrange(len(message)), rng.randrange(1, 256)
        changed = message[:position] + bytes([message[position] ^ change]) + message[position + 1 :]
        assert message in list(corrections(changed, checksum))


def test_a_row_with_two_changed_bytes_is_not_guessed_at(sound):
    connection = sqlite3.connect(sound[0])
    values = list(connection.execute("SELECT * FROM episodes WHERE id = 'e1'").fetchone())
    connection.close()
    seal = SEALS["episodes"]
    place = seal.names.index("instruction")
    assert values[place] == "bring the mug"
    values[place] = "Bring the muG"
    assert seal.row_fault(values)
    assert corrected_row(seal, values) is None
