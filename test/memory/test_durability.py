"""Memory answers while its database takes nothing, but says done of nothing that is not durable."""

import errno
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_node.domain.answer import FindQuery
from memory_node.memory import RobotMemory
from memory_node.store.errors import StoreUnavailableError


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
