"""A memory that was closed is given back to the machine, however often one process opens one."""

import gc
import os
import weakref
from pathlib import Path

import pytest
from plain_search import HashedWords

from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory


class HeldEmbedder(HashedWords):
    """One that can be referred to weakly, and stands for all that a memory holds."""


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def test_closed_memory_is_left_to_the_garbage_collector(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    left = weakref.ref(embedder)
    memory = open_memory(MemoryConfig(database=str(tmp_path / "memory.db")), embedder=embedder)
    memory.close()
    del memory, embedder
    gc.collect()
    assert left() is None


def test_memory_opened_again_takes_no_more_room(tmp_path: Path) -> None:
    pytest.importorskip("onnx")

    def open_and_close(times: int) -> float:
        for _ in range(times):
            memory = open_memory(MemoryConfig(database=str(tmp_path / "memory.db")))
            assert memory.knowledge.ask("mug").abstains
            memory.close()
        return resident_mib()

    started = open_and_close(2)
    # Another sentence embedder alone takes 100 MiB.
    assert open_and_close(5) - started < 120


def test_embedders_of_one_graph_share_its_session() -> None:
    pytest.importorskip("onnx")
    from memory_node.search.minilm import MiniLmEmbedder

    first, again, wider = MiniLmEmbedder(), MiniLmEmbedder(), MiniLmEmbedder(threads=2)
    assert again._session is first._session
    assert wider._session is not first._session
    assert again.embed(["mug"]).tolist() == first.embed(["mug"]).tolist()
