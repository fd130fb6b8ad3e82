"""What a memory costs, and how it stands a database that takes nothing."""

import errno
import gc
import os
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from plain_search import HashedWords

from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import StateChange
from memory_node.intake.intake import MOST_CARRIED
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.store.errors import StoreUnavailableError

SECOND_NS = 1_000_000_000


def spread(count: int, class_of: Callable[[int], str]) -> list[StateChange]:
    """Return changes that each bring in a thing of its own, 2 m from the next."""
    return [
        StateChange(f"theirs-{i}", class_of(i), SECOND_NS + i, position=(2.0 * (i % 32), 2.0 * (i // 32), 0.8))
        for i in range(count)
    ]


def python_calls_of(act: Callable[[], object]) -> int:
    """Return how many Python functions a call calls: its work, whatever else the machine does."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def work_of_a_call(memory: RobotMemory, changes: list[StateChange]) -> int:
    """Return the work of putting what is known down again, and of telling of as much under new names."""
    memory.remember(changes)
    again = [replace(change, stamp_ns=2 * SECOND_NS, held=False) for change in changes]
    new_names = [replace(change, object_id=f"other-{change.object_id}") for change in changes]
    return python_calls_of(lambda: memory.remember([*again, *new_names]))


@pytest.mark.parametrize("class_of", [lambda i: "Mug", lambda i: f"Thing{i}"], ids=["one class", "a class each"])
def test_work_grows_with_the_changes_alone(open_at: Callable[..., RobotMemory], class_of: Callable[[int], str]) -> None:
    few, many = (work_of_a_call(open_at(f"{count}.db"), spread(count, class_of)) for count in (50, 400))
    assert many < 12 * few, "eight times the changes, in a memory of eight times the things"


def test_names_of_new_classes_are_embedded_together(memory: RobotMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    embed = HashedWords.embed

    def counting(self: HashedWords, texts: list[str]) -> np.ndarray:
        asked.append(len(texts))
        return embed(self, texts)

    monkeypatch.setattr(HashedWords, "embed", counting)
    memory.remember(spread(200, lambda i: f"Thing{i}"))
    assert len(asked) <= 3


def test_call_that_would_move_a_stack_again_and_again_ends_and_says_where(memory: RobotMemory) -> None:
    size = 300
    stack = [
        StateChange(f"plate-{i}", f"Plate{i}", SECOND_NS, held=False, position=(1.0, 1.0, 0.8 + 0.03 * i))
        for i in range(size)
    ]
    ids = memory.remember(stack)
    on_each_other = [
        StateChange(above, "", 2 * SECOND_NS, held=False, support_id=below) for below, above in pairwise(ids)
    ]
    memory.remember(on_each_other[:150])
    memory.remember(on_each_other[150:])
    with pytest.raises(
        InvalidValueError, match=r"^changes\[(\d+)\]: .*the changes before this one are remembered"
    ) as told:
        memory.remember([StateChange(ids[0], "", 3 * SECOND_NS, held=False, position=(5.0, 5.0, 0.8))] * 100)
    begun = int(str(told.value).partition("[")[2].partition("]")[0])
    assert begun == MOST_CARRIED // (size - 1) + 1
    assert next(found for found in memory.scene().objects if found.id == ids[0]).box.center[0] == 5.0


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


def test_answers_come_while_neither_database_nor_journal_can_be_written(
    open_at: Callable[[], RobotMemory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_at()
    store = memory._upkeep.store

    def refuse(batch: object) -> bool:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(store._journal, "append", refuse)
    lock = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    memory.episodes.start("find the mug", "find", "e1")
    with pytest.raises(StoreUnavailableError):
        memory.commit()
    started = time.monotonic()
    for _ in range(3):
        assert not memory.recall(FindQuery("mug")).answers
        assert not memory.find(FindQuery("mug")).answers
        assert memory.scene().objects == ()
    assert time.monotonic() - started < 5.0
    assert memory.diagnostics()["store"] != "ok"
    lock.execute("ROLLBACK")
    lock.close()
    memory.commit()
    assert [episode.id for episode in store.episodes()] == ["e1"]
