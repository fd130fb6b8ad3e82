"""Knowledge comes back whole on both databases, and its vectors from the file that is kept beside them."""

import logging
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from knowledge_doubles import BagOfWords
from numpy.typing import NDArray

from memory_node.knowledge.knowledge_nodes import Criteria
from memory_node.knowledge.standard_step import Turn, document_steps, talk_steps
from memory_node.memory import RobotMemory
from memory_node.opening import MemoryConfig, open_memory
from memory_node.store.config import StoreConfig
from memory_node.store.forget_plan import ForgetRequest
from memory_node.store.store import open_store

LONG = "The shelf holds " + ", ".join(f"the box number {n}" for n in range(80)) + "."


def shared(url: str, robot: str, folder: Path) -> RobotMemory:
    store = StoreConfig(journal_path=str(folder / f"{robot}.pending"), data_dir=str(folder / f"{robot}.data"))
    return open_memory(MemoryConfig(database=url, robot_id=robot, store=store), embedder=BagOfWords())


def test_knowledge_comes_back_whole_to_another_robot(store_url: str, tmp_path: Path) -> None:
    with closing(shared(store_url, "r1", tmp_path)) as first:
        first.tell_fact("The blue mug is Anna's.", "Ben", stamp_ns=5)
        first.tell_fact("The blue mug is Carl's.", "Ben", stamp_ns=9)
        first.read(document_steps("book", "Shelves", [LONG, "Nothing else is there."], 3))
        first.read(talk_steps("talk", [Turn("Ann", "I went to the lake and swam and walked. " * 5)], 4))
        assert first.knowledge.delete(Criteria(before_ns=4))
        assert first.knowledge.compress(5) == 1, "of what was deleted no step is left"
        kept = first.knowledge.hash()
        first.commit()
    with closing(shared(store_url, "r2", tmp_path)) as second:
        assert second.knowledge.hash() == kept
        answer = second.ask("Whose is the blue mug?")
        assert "Carl's" in answer.text
        assert "Anna's" not in answer.text
        assert second.knowledge.forget("talk") > 0
        left = second.knowledge.hash()
        second.commit()
    with closing(shared(store_url, "r1", tmp_path)) as again:
        assert again.knowledge.hash() == left != kept


SHELVES = [f"Shelf {number} holds the box of Name{number}." for number in range(150)]
AWAY = "what is known is embedded anew"


class CountedEmbedder(BagOfWords):
    """texts: how many were embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: list[str]) -> NDArray[np.float32]:  # type: ignore[override]
        self.texts += texts
        return super().embed(texts)


class OtherWay(CountedEmbedder):
    """Another embedder of the same length."""

    def embed(self, texts: list[str]) -> NDArray[np.float32]:  # type: ignore[override]
        return np.ascontiguousarray(super().embed(texts)[:, ::-1])


def opened(folder: Path, embedder: BagOfWords | None = None, robot: str = "r1") -> RobotMemory:
    config = MemoryConfig(database=str(folder / "home.db"), robot_id=robot)
    return open_memory(config, embedder=embedder or BagOfWords())


def index_of(folder: Path) -> Path:
    return folder / "home.db.data" / "derived" / "knowledge.vectors"


@pytest.fixture
def known(tmp_path: Path) -> str:
    """The hash of what the store in tmp_path holds, which was closed with a file beside it."""
    memory = opened(tmp_path)
    memory.read(document_steps("book", "Shelves", SHELVES, 3))
    memory.tell_fact("The blue mug is Anna's.", "Ben", stamp_ns=5)
    memory.knowledge.embed_statements()
    found = memory.knowledge.hash()
    memory.close()
    assert index_of(tmp_path).is_file()
    return found


def test_start_from_the_file_embeds_no_statement_again(known: str, tmp_path: Path) -> None:
    embedder = CountedEmbedder()
    memory = opened(tmp_path, embedder)
    try:
        assert memory.knowledge.hash() == known
        assert "box of Name7" in memory.ask("What does shelf 7 hold?").text
        assert not [text for text in embedder.texts if text.startswith("Shelves:")]
    finally:
        memory.close()


def test_few_new_vectors_leave_the_file(known: str, tmp_path: Path) -> None:
    before = index_of(tmp_path).read_bytes()
    memory = opened(tmp_path)
    memory.read(document_steps("note", "Note", ["Eve waters the plants."], 8))
    memory.knowledge.embed_statements()
    memory.close()
    assert index_of(tmp_path).read_bytes() == before
    embedder = CountedEmbedder()
    again = opened(tmp_path, embedder)
    try:
        assert "Eve" in again.ask("Who waters the plants?").text
        assert [text for text in embedder.texts if text.startswith(("Shelves:", "Note:"))] == [
            "Note: Eve waters the plants."
        ]
    finally:
        again.close()


def test_file_names_no_statement(known: str, tmp_path: Path) -> None:
    assert b"Name7" not in index_of(tmp_path).read_bytes()


def test_what_is_forgotten_leaves_the_file_at_once(known: str, tmp_path: Path) -> None:
    memory = opened(tmp_path)
    try:
        assert memory.knowledge.forget("book") > 100
        assert not index_of(tmp_path).exists()
    finally:
        memory.close()


def test_forgetting_in_the_store_removes_the_file(known: str, tmp_path: Path) -> None:
    store = open_store(tmp_path / "home.db", "r2")
    try:
        report = store.forget(ForgetRequest(label="Name7"))
        assert report.verified
    finally:
        store.close()
    assert not index_of(tmp_path).exists()


@pytest.mark.parametrize("trouble", ["damaged", "torn", "another file", "other embedder"])
def test_file_that_does_not_fit_is_made_anew(
    known: str, tmp_path: Path, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = index_of(tmp_path)
    embedder = OtherWay() if trouble == "other embedder" else CountedEmbedder()
    data = bytearray(path.read_bytes())
    if trouble == "damaged":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif trouble == "torn":
        path.write_bytes(data[: len(data) // 2])
    elif trouble == "another file":
        path.write_bytes(b"junk" * 100)
    with caplog.at_level(logging.WARNING):
        memory = opened(tmp_path, embedder)
    try:
        assert AWAY in caplog.text
        assert memory.knowledge.hash() == known
        memory.knowledge.embed_statements()
        assert sum(text.startswith("Shelves:") for text in embedder.texts) == len(SHELVES)
    finally:
        memory.close()
    caplog.clear()
    opened(tmp_path, embedder).close()
    assert AWAY not in caplog.text
