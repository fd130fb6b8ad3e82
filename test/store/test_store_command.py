"""The command line, as a person or a script uses it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_node.cli import main
from memory_node.store.config import StoreConfig
from memory_node.store.engine import leave_wal
from memory_node.store.schema import SCHEMA_VERSION
from memory_node.store.store import open_store

TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"


@pytest.fixture
def run(tmp_path: Path, filled: Callable[..., None], command: Callable[..., Any]) -> Callable[..., tuple[int, Any]]:
    """Run `memory-node store ...` on a filled store; return exit status and what it printed."""
    path = tmp_path / "memory.db"
    filled(path, "ward 3")

    def run_(*words: object) -> tuple[int, Any]:
        return command(path, *words)

    run_.path = path  # type: ignore[attr-defined]
    return run_


def test_info_says_schema_site_and_counts(run):
    status, facts = run("info")
    assert status == 0
    assert run("check") == (0, {"ok": True, "findings": []})
    assert (facts["schema"], facts["site"], facts["journal"]) == (SCHEMA_VERSION, "ward 3", "empty")
    assert facts["records"]["objects"] == 3
    assert facts["robots"]["r1"].startswith("1 sessions")


def test_check_names_damage_and_gives_advice(run):
    connection = sqlite3.connect(run.path)
    connection.execute("UPDATE objects SET geometry = x'00' WHERE id = ?", (MUG,))
    connection.commit()
    connection.close()
    run.path.chmod(0o644)
    status, verdict = run("check")
    assert status == 1
    assert not verdict["ok"]
    found = {finding["severity"]: finding["what"] for finding in verdict["findings"]}
    assert f"objects {MUG}/r1: its checksum does not fit" in found["error"]
    assert found["warning"] == f"{run.path} can be read by others (mode 0644)"
    assert all(finding["advice"] for finding in verdict["findings"])


def test_backup_forget_restore(run, tmp_path):
    assert run("backup", tmp_path / "a.backup")[0] == 0
    status, report = run("forget", "--label", "Anna")
    assert status == 0
    assert report["verified"]
    assert report["object_ids"] == [PILLS]
    assert report["backups"] == [str(tmp_path / "a.backup")]
    assert run("restore", tmp_path / "a.backup")[0] == 1, "the site holds facts"
    status, report = run("restore", tmp_path / "a.backup", "--replace")
    assert report["restored"]["objects"] == 2
    assert run("info")[1]["forgotten"][0].split(" by ")[1].startswith("label: ")
    assert run("check")[0] == 0


@pytest.mark.parametrize(("name", "count"), [("h.jsonl", 32), ("h.parquet", 32), ("h.graphml", 8), ("h.geojson", 8)])
def test_export_by_the_names_ending(run, name, count, tmp_path):
    status, facts = run("export", tmp_path / name)
    assert (status, facts["records"]) == (0, count)
    assert run("info")[1]["files_written"] == [f"export {tmp_path / name}"]


def test_forget_tells_of_exports_that_it_cannot_clean(run, tmp_path):
    run("export", tmp_path / "h.jsonl")
    _, report = run("forget", "--object", MUG, "--object", PILLS)
    assert report["exports"] == [str(tmp_path / "h.jsonl")]


def test_forget_a_span_of_time(run):
    status, report = run("forget", "--span", "1970-01-01T00:00:00.000005+00:00", "10000")
    assert status == 0
    assert report["counts"]["episodes"] == 1


def test_compact_shrinks_the_file(run):
    connection = sqlite3.connect(run.path)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE filler AS SELECT randomblob(500000) AS data")
    connection.execute("DROP TABLE filler")
    connection.commit()
    connection.close()
    status, facts = run("compact")
    assert status == 0
    assert facts["bytes_after"] < facts["bytes_before"] - 400_000


def test_compact_tells_the_size_of_a_servers_database(filled, postgres, command):
    url = postgres.create_database()
    filled(url)
    status, facts = command(url, "compact")
    assert status == 0
    assert min(facts["bytes_before"], facts["bytes_after"]) > 1_000_000


def test_missing_store_is_not_created(tmp_path, capsys):
    assert main(["store", "info", "--database", str(tmp_path / "none.db")]) == 1
    assert "no store" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()


def test_works_while_a_memory_node_writes(run, next_change):
    with open_store(run.path, "r1", "ward 3", StoreConfig(journal_mib=1.0, poll_interval_s=0.1)) as node:
        node.load_scene()
        assert run("forget", "--object", MUG)[0] == 0
        assert next_change(node).gone == (MUG,)


def files_of(folder):
    return {found: (found.read_bytes(), found.stat().st_mode) for found in folder.rglob("*") if found.is_file()}


@pytest.mark.parametrize(
    ("kind", "said"), [("text", "no SQLite database"), ("database", "another program"), ("empty", "empty (0 bytes)")]
)
def test_file_that_is_no_store_is_named_and_left_as_it_is(kind, said, tmp_path, capsys):
    path = tmp_path / "theirs"
    path.write_text("" if kind == "empty" else "somebody's notes\n" * 100)
    if kind == "database":
        path.unlink()
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE notes (text)")
        connection.close()
    path.chmod(0o644)
    before = files_of(tmp_path)
    for words in (
        ["info"],
        ["check"],
        ["compact"],
        ["export", str(tmp_path / "o.jsonl")],
        ["backup", str(tmp_path / "b")],
    ):
        assert main(["store", words[0], "--database", str(path), *words[1:]]) == 1
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1
    new = str(tmp_path / "new.db")
    for database, *words in ((new, "restore", str(path)), (new, "import", str(path)), (str(path), "check", "--repair")):
        assert main(["store", words[0], "--database", database, *words[1:]]) == 1
        error = capsys.readouterr().err
        assert str(path) in error
        assert len(error.splitlines()) == 1
    assert files_of(tmp_path) == before


def test_commands_that_read_change_nothing(run, tmp_path):
    run("backup", tmp_path / "a.backup")
    run("export", tmp_path / "first.jsonl")
    before = files_of(tmp_path)
    assert run("info")[0] == 0
    assert run("check")[0] == 0
    assert files_of(tmp_path) == before
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert run("export", folder / "again.jsonl")[0] == 0
    for source in ("a.backup", "first.jsonl"):
        command = "restore" if source == "a.backup" else "import"
        target = folder / f"{command}.db"
        assert main(["store", command, "--database", str(target), str(tmp_path / source)]) == 0
    # The exports are noted beside the store.
    noted = run.path.with_name("memory.db.data") / "exports.jsonl"
    after = {path: found for path, found in files_of(tmp_path).items() if folder not in path.parents}
    assert after.pop(noted) != before.pop(noted)
    assert after == before


def test_an_older_store_is_read_as_it_is(run, tmp_path, as_first_release):
    as_first_release(str(run.path))
    leave_wal(run.path)
    before = run.path.read_bytes()
    status, facts = run("info")
    assert (status, facts["schema"], facts["records"]["objects"]) == (0, "0001", 3)
    assert run("check")[0] == 0
    assert run("export", tmp_path / "o.jsonl")[1]["records"] == 32
    assert run.path.read_bytes() == before
    with open_store(run.path, "r1", "ward 3", StoreConfig(journal_mib=1.0)) as store:
        assert len(store.load_scene().objects) == 3
        assert store.bad_rows == 0
    assert run("check") == (0, {"ok": True, "findings": []})
    assert run("info")[1]["schema"] == SCHEMA_VERSION
