"""Knowledge that was packed into a file is what it was, goes on changing, and is not taken from a damaged file."""

import os
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from knowledge_doubles import BagOfWords, ListedLog, read_facts

from memory_node.knowledge.index_file import IndexFileError, read_index, write_index
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.semantic_graph import PackedTable
from memory_node.knowledge.standard_step import document_steps
from memory_node.search.vector_rows import VectorRows

FACTS = ("The blue mug is Anna's.", "Ben keeps the keys in the drawer.", "The café in Łódź opens at nine.")


def through_a_file(graph: KnowledgeGraph, log: ListedLog, folder: Path) -> KnowledgeGraph:
    """Return a graph that starts from a file of this one, with a log of its own."""
    write_index(folder / "index", {}, graph.held())
    other = KnowledgeGraph(BagOfWords(), deepcopy(log), read_facts=read_facts)
    other.restore(read_index(folder / "index")[1])
    return other


def answers(graph: KnowledgeGraph) -> list[list[tuple[str, str, float]]]:
    questions = ("Whose is the blue mug?", "Where are the keys?", "What is on shelf 7?")
    return [[(hit.step, hit.statement.text, round(hit.score, 6)) for hit in graph.search(q, 5)] for q in questions]


def shelves(first: int, count: int) -> list[str]:
    return [f"Shelf {number} holds the box of Name{number}." for number in range(first, first + count)]


@pytest.fixture
def full(graph: KnowledgeGraph) -> KnowledgeGraph:
    for fact in FACTS:
        graph.tell(fact, "Ben", 5)
    graph.add(document_steps("book", "Shelves", shelves(0, 30), 7))
    graph.tell("The blue mug is Carl's.", "Ben", 9)
    graph.add(document_steps("letter", "Letter", ["Eve waters the plants."], 10))
    return graph


def test_knowledge_from_a_file_is_the_same(full: KnowledgeGraph, log: ListedLog, tmp_path: Path) -> None:
    full.embed_statements()
    other = through_a_file(full, log, tmp_path)
    assert other.hash() == full.hash()
    assert other.figures() == full.figures()
    assert answers(other) == answers(full)
    assert other.changes == 0


def test_knowledge_from_a_file_goes_on_changing(full: KnowledgeGraph, log: ListedLog, tmp_path: Path) -> None:
    full.embed_statements()
    other = through_a_file(full, log, tmp_path)
    for graph in (full, other):
        graph.tell("The blue mug is Dora's.", "Ben", 12)
        graph.add(document_steps("book", "Shelves", shelves(30, 5), 13))
        graph.add(document_steps("other", "Shelves", shelves(3, 2), 14))
        assert graph.forget("book") > 0
        graph.embed_statements()
    held = [{one.text: one for one in graph.propositions(active=False)} for graph in (full, other)]
    # Ids of what was told differ; what it says, and what stands in its place, does not.
    assert [(t, p.active, p.replaced_by) for t, p in sorted(held[0].items())] == [
        (t, p.active, p.replaced_by) for t, p in sorted(held[1].items())
    ]
    assert other.figures() == full.figures()


def test_statements_without_a_vector_still_wait_for_it(full: KnowledgeGraph, log: ListedLog, tmp_path: Path) -> None:
    other = through_a_file(full, log, tmp_path)
    done: list[int] = []
    other.embed_statements(done.append)
    assert sum(done) > 0
    full.embed_statements()
    assert answers(other) == answers(full)


def test_second_file_holds_old_and_new(full: KnowledgeGraph, log: ListedLog, tmp_path: Path) -> None:
    other = through_a_file(full, log, tmp_path)
    other.tell("Dora likes tea.", "Ben", 20)
    again = through_a_file(other, log, tmp_path)
    assert again.hash() == other.hash() != full.hash()


@pytest.mark.parametrize("place", [3, 40, 0.5, -1])
def test_damaged_file_is_not_taken(full: KnowledgeGraph, tmp_path: Path, place: float) -> None:
    path = tmp_path / "index"
    write_index(path, {"made": "of"}, full.held())
    assert read_index(path)[0] == {"made": "of"}
    data = bytearray(path.read_bytes())
    data[int(place * len(data)) if isinstance(place, float) else place] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(IndexFileError):
        read_index(path)


@pytest.mark.parametrize("kept", [0, 20, 300, 0.9])
def test_torn_file_is_not_taken(full: KnowledgeGraph, tmp_path: Path, kept: float) -> None:
    path = tmp_path / "index"
    write_index(path, {}, full.held())
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data)) if isinstance(kept, float) else kept])
    with pytest.raises(IndexFileError):
        read_index(path)


@pytest.mark.parametrize("other", [os.system, eval, Path, KnowledgeGraph])
def test_file_that_names_anything_else_is_not_taken(tmp_path: Path, other: object) -> None:
    path = tmp_path / "index"
    write_index(path, {}, (other,))
    with pytest.raises(IndexFileError, match="it names"):
        read_index(path)


def test_file_is_of_the_code_that_runs_whatever_lies_on_the_disk_now(
    full: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(_path: Path) -> bytes:
        raise FileNotFoundError("another release has no such file")

    monkeypatch.setattr(Path, "read_bytes", replaced)
    write_index(tmp_path / "index", {"made": "of"}, full.held())
    assert read_index(tmp_path / "index")[0] == {"made": "of"}


def test_file_of_other_code_is_not_taken(full: KnowledgeGraph, tmp_path: Path) -> None:
    path = tmp_path / "index"
    write_index(path, {}, full.held())
    heading, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(heading[:-8] + b"00000000\n" + rest)
    with pytest.raises(IndexFileError, match="another release"):
        read_index(path)


def test_clusters_come_back_and_find_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("memory_node.search.vector_rows.CLUSTERED_FROM", 64)
    monkeypatch.setattr("memory_node.search.vector_rows.LOOKED_AT", 50)
    vectors = np.random.default_rng(0).standard_normal((200, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = VectorRows(16)
    rows.put(np.arange(150), vectors[:150])
    rows.remove(7)
    write_index(tmp_path / "index", {}, rows)
    other = read_index(tmp_path / "index")[1]
    for one in (rows, other):
        one.put(np.arange(150, 200), vectors[150:])
        one.remove(9)
    assert len(other) == len(rows) == 198
    for vector in vectors[:20]:
        assert other.search(vector, 5)[0].tolist() == rows.search(vector, 5)[0].tolist()


def test_packed_table_gives_what_came_last() -> None:
    table: PackedTable[str] = PackedTable(str.encode, lambda key, packed: f"{key}={packed.decode()}")
    table["a"], table["b"] = "1", "2"
    copy = table.copy()
    table["b"] = "3"
    del table["a"]
    assert dict(table) == {"b": "b=3"}
    assert dict(copy) == {"a": "a=1", "b": "b=2"}
