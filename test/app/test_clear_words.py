"""What a newcomer gets wrong is answered in one line that says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from table_recording import write_bag

from memory_node.cli import main


def one_line(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the line that a command which fails says."""
    assert main(list(words)) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1, told
    return told[0]


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bags") / "bag"
    write_bag(path, "SQLITE3")
    return path


def test_file_of_another_kind_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    assert "expected a folder of frames, a rosbag2 folder, or its .mcap or .db3" in one_line(
        capsys, "ingest", str(path)
    )


@pytest.mark.parametrize("harm", ["emptied", "scratched", "metadata alone"])
def test_broken_bag_is_told_as_such(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], harm: str) -> None:
    broken = tmp_path / "bag"
    shutil.copytree(bag, broken)
    (data,) = broken.glob("*.db3")
    if harm == "emptied":
        data.write_bytes(b"")
    elif harm == "scratched":
        content = bytearray(data.read_bytes())
        begin = len(content) // 3
        content[begin : begin + 60_000] = b"\xff" * 60_000
        data.write_bytes(content)
    else:
        data.unlink()
    told = one_line(capsys, "ingest", str(broken), "--out", str(tmp_path / "out"))
    assert "cannot be read as a rosbag2" in told
    assert "record it anew" in told


def test_folder_that_cannot_be_written_is_named(bag: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = one_line(capsys, "ingest", str(bag), "--out", str(tmp_path / "file"))
    assert told.startswith(f"memory-node: --out {tmp_path / 'file'}: nothing can be written there")


def test_database_that_is_none_is_named(bag: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database, but long enough to look at")
    told = one_line(
        capsys, "ingest", str(bag), "--database", str(tmp_path / "notes.db"), "--out", str(tmp_path / "out")
    )
    assert "is no SQLite database" in told


@pytest.mark.parametrize("domain", ["abc", "233"])
def test_domain_that_is_none_is_named(domain: str) -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": domain}
    command = [sys.executable, "-m", "memory_node.nodes.run", "memory"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == os.EX_CONFIG
    assert ended.stderr == f"memory cannot start: ROS_DOMAIN_ID: expected 0 to 101, at most 232, got {domain!r}\n"


@pytest.mark.parametrize("command", [["demo", "--headless"], ["picture", "out.png"]])
def test_domain_of_an_option_is_checked_too(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "--domain-id: expected 0 to 101" in one_line(capsys, *command, "--domain-id", "9999")


@pytest.mark.parametrize(
    ("command", "says"), [("store check", "there is no store {}"), ("mcp", "{}: no such database")]
)
def test_database_that_is_not_there_is_named_and_not_made(
    command: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = one_line(capsys, *command.split(), "--database", str(tmp_path / "memory.db"))
    assert told.startswith(f"memory-node: {says.format(tmp_path / 'memory.db')}")
    assert not list(tmp_path.iterdir())


def test_file_that_is_no_bag_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "drive.mcap"
    path.write_text("junk")
    told = one_line(capsys, "ingest", str(path))
    assert told.startswith(f"memory-node: {path} cannot be read as a rosbag2 (")
    assert "mend it with `mcap recover`" in told


@pytest.mark.parametrize(
    ("folder", "said"), [("", ("expected a rosbag2", "7-Scenes", "_depth.png")), ("nothing", ("does not exist",))]
)
def test_folder_without_a_recording_is_answered_with_what_may_be_in_it(
    folder: str, said: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = one_line(capsys, "ingest", str(tmp_path / folder))
    assert [words for words in said if words not in told] == []


@pytest.mark.parametrize("option", ["--out", "--json"])
def test_demo_says_before_it_begins_that_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (tmp_path / "file").write_text("")
    words = {"--out": str(tmp_path / "out"), option: str(tmp_path / "file" / "inner")}
    told = one_line(capsys, "demo", "--headless", *(word for pair in words.items() for word in pair))
    assert told.startswith(f"memory-node: {option} {tmp_path / 'file' / 'inner'}: nothing can be written there")


def test_demo_with_a_model_file_that_is_missing_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--planner", "llm", "--model", str(tmp_path / "no.gguf"), "--out", str(tmp_path)]
    assert f"--model {tmp_path / 'no.gguf'} is no file" in one_line(capsys, "demo", "--headless", *words)


def test_demo_tells_why_a_node_cannot_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "home.log").write_text("a line of an earlier run\n")
    told = one_line(capsys, "demo", "--headless", "--out", str(tmp_path), "--home", "castle")
    assert told.startswith("memory-node: home cannot start: ")
    assert "'castle'" in told


@pytest.mark.parametrize(
    ("words", "program"),
    [(("store", "check"), "memory-node store check"), (("parameters",), "memory-node parameters")],
)
def test_unknown_argument_is_told_with_the_usage_of_its_command(
    words: tuple[str, ...], program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*words, "--bogus"])
    told = capsys.readouterr().err
    assert end.value.code == 2
    assert told.startswith(f"usage: {program} [-h]")
    assert told.endswith(f"{program}: error: unrecognized arguments: --bogus\n")
