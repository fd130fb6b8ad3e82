"""`memory-node knowledge`: what it adds, answers and shows."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from memory_node.app import knowledge
from memory_node.cli import main
from memory_node.knowledge.knowledge_questions import KnowledgeQuestions
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory


@pytest.fixture
def database(tmp_path: Path) -> str:
    pytest.importorskip("onnx")
    return str(tmp_path / "memory.db")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> list[Any]:
    assert main(["knowledge", *arguments, "--json"]) == status
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return a file of thirty paragraphs."""
    return written(tmp_path / "notes.txt", 30)


def written(path: Path, count: int) -> Path:
    path.write_text("\n\n".join(f"Shelf {n} holds the box number {n}." for n in range(count)))
    return path


def test_fact_is_told_asked_and_contradicted_across_runs(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = told(capsys, "tell", "The blue mug is Anna's; she is allergic to nuts.", "--database", database)
    assert [row["text"] for row in rows] == ["The blue mug is Anna's", "Anna is allergic to nuts."]
    (answer,) = told(capsys, "ask", "What is Anna allergic to?", "--database", database)
    assert answer["propositions"][0]["text"] == "Anna is allergic to nuts."
    told(capsys, "tell", "The blue mug is Carl's.", "--database", database)
    (answer,) = told(capsys, "ask", "Whose is the blue mug?", "--database", database)
    assert "Carl" in answer["answer"]
    assert "Anna's" not in answer["answer"]
    (answer,) = told(capsys, "ask", "When does the ferry to Oslo leave?", "--database", database, status=1)
    assert answer["abstains"]


def test_interrupted_import_goes_on(
    database: str, notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def read(memory: RobotMemory, steps: Any) -> int:
        """Take one batch, and be interrupted in the next."""
        if done:
            raise KeyboardInterrupt
        done.append(1)
        return int(memory.knowledge.add(steps))

    monkeypatch.setattr(knowledge, "_BATCH", 10)
    add = ["add", str(notes), "--words-only", "--database", database]
    with monkeypatch.context() as patch:
        patch.setattr(RobotMemory, "read", read)
        assert main(["knowledge", *add]) == 130
    capsys.readouterr()
    for new in (20, 0):
        (row,) = told(capsys, *add)
        assert (row["units"], row["new_propositions"]) == (30, new)


def test_import_makes_statements_findable_by_meaning(
    database: str, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "add", str(notes), "--words-only", "--database", database)
    assert waiting_in(database) == 30
    told(capsys, "add", str(notes), "--database", database)
    assert waiting_in(database) == 0


def test_answer_says_how_many_statements_are_found_by_words_alone(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "tell", "The ladder is in the shed.", "--database", database)
    for waiting in (0, 7):
        monkeypatch.setattr(KnowledgeQuestions, "without_meaning", waiting)
        assert main(["knowledge", "ask", "Where is the ladder?", "--json", "--database", database]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["by_words_alone"] == waiting
        assert ("7 statements" in said.err) == (waiting == 7)


def waiting_in(database: str) -> int:
    """Return how many stored statements have no vector."""
    memory = open_memory(MemoryConfig(database=database, robot_id="r1"), embed_in_background=False)
    try:
        return memory.knowledge.without_meaning
    finally:
        memory.close()


def test_killed_import_goes_on_without_loss(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = 3000
    path = written(tmp_path / "notes.txt", count)
    command = [sys.executable, "-m", "memory_node.cli", "knowledge", "add", str(path), "--words-only"]
    with subprocess.Popen([*command, "--database", database], stdout=subprocess.DEVNULL) as process:
        wait_until_written(Path(database))
        process.kill()
    (row,) = told(capsys, "add", str(path), "--words-only", "--database", database)
    assert row["units"] == count
    assert row["new_propositions"] < count
    assert main(["knowledge", "show", "--database", database]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == len(set(shown)) == count


def wait_until_written(database: Path) -> None:
    """Wait until an import has made statements durable."""
    ends_s = time.monotonic() + 120.0
    while not database.is_file() or database.stat().st_size < 1_500_000:
        assert time.monotonic() < ends_s
        time.sleep(0.01)


def test_graph_is_written_and_drawn(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "tell", "The blue mug is Anna's; she is allergic to nuts.", "--database", database)
    graphml, picture = tmp_path / "graph.graphml", tmp_path / "graph.png"
    show = ["show", "--graphml", str(graphml), "--picture", str(picture), "--database", database]
    (row,) = told(capsys, *show)
    graph = nx.read_graphml(graphml)
    assert graph.number_of_nodes() == row["nodes"]
    kinds = {kind for _, _, kind in graph.edges(data="kind")}
    assert kinds == {"mentions", "provenance", "siblings"}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert graphml.stat().st_mode & 0o077 == 0


def test_deleted_document_leaves_no_text_and_can_be_imported_again(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("The vase must never be moved.")
    add = ["add", str(path), "--words-only", "--database", database]
    assert told(capsys, *add)[0]["new_propositions"] == 1
    # It has the time of its import: long after the year 2000, and not after tomorrow.
    assert told(capsys, "delete", "--before", "2000-01-01", "--database", database) == [{"delete": 0}]
    assert told(capsys, "delete", "--before", "2999-01-01", "--database", database) == [{"delete": 1}]
    memory = open_memory(MemoryConfig(database=database, robot_id="r1"), embed_in_background=False)
    left = (dict(memory.knowledge.steps()), memory.knowledge.propositions(active=False))
    memory.close()
    assert left == ({}, [])
    assert told(capsys, *add)[0]["new_propositions"] == 1


def test_deleted_document_comes_back_across_runs(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("The vase must never be moved.")
    told(capsys, "add", str(path), "--words-only", "--database", database)
    assert told(capsys, "delete", "--session", "rules.txt", "--database", database) == [{"delete": 1}]
    assert told(capsys, "undo", "--database", database) == [{"undo": 1}]
    (answer,) = told(capsys, "ask", "What must never be moved?", "--database", database)
    assert "vase" in answer["answer"]
    assert answer["propositions"][0]["sources"][0].startswith("rules.txt-")
    assert main(["knowledge", "undo", "--database", database]) == 1


def test_statements_of_old_documents_are_deleted_across_runs(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Tea is hot.\n\nCups are round.")
    told(capsys, "add", str(path), "--database", database)
    told(capsys, "tell", "The blue mug is Anna's.", "--database", database)
    assert told(capsys, "delete", "--about", "tea", "--database", database) == [{"delete": 1}]
    assert told(capsys, "prune", "--keep", "0", "--database", database) == [{"prune": 1}]
    assert main(["knowledge", "show", "--database", database]) == 0
    shown = capsys.readouterr().out
    assert "Anna's" in shown
    assert "Tea" not in shown
    assert "Cups" not in shown
    with pytest.raises(SystemExit):
        main(["knowledge", "compress", "--before", "some day", "--database", database])
