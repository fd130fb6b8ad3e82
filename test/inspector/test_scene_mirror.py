"""The mirror of the scene follows memory without asking for everything each time."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from furnished_home import START_NS, furnished

from memory_node.domain.skill import StateChange
from memory_node.inspector import change_feed
from memory_node.inspector.change_feed import SceneMirror
from memory_node.inspector.opened_memory import StoredViews
from memory_node.inspector.scene_rows import scene_rows
from memory_node.memory import RobotMemory


class Counted:
    """A memory that counts how often it is asked for its scene."""

    def __init__(self, memory: RobotMemory) -> None:
        self.memory, self.asked = memory, 0

    def scene(self) -> Any:
        self.asked += 1
        return self.memory.scene()


@pytest.fixture
def memory() -> Iterator[RobotMemory]:
    memory, _ = furnished()
    yield memory
    memory.close()


@pytest.fixture(autouse=True)
def written_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine writing takes long, and a text of a moment ago would do for as long again."""
    monkeypatch.setattr(change_feed, "_SHARE_OF_WRITING", 0.0)


@pytest.fixture
def counted(memory: RobotMemory) -> Counted:
    return Counted(memory)


@pytest.fixture
def mirror(counted: Counted) -> Iterator[SceneMirror]:
    mirror = SceneMirror(counted, StoredViews(counted.memory).follow)  # type: ignore[arg-type]
    yield mirror
    mirror.close()


def put(memory: RobotMemory, name: str, x: float = 3.0) -> str:
    return memory.remember([StateChange(name, "Bowl", START_NS, position=(x, 3.0, 0.8), held=False)])[0]


def rows(body: bytes) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(body)["objects"]}


def truth(memory: RobotMemory) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in scene_rows(memory.scene())["objects"]}


def test_changes_come_without_asking_for_the_whole(mirror: SceneMirror, counted: Counted) -> None:
    memory = counted.memory
    assert rows(mirror.whole()) == truth(memory)
    bowl, other = put(memory, "bowl"), put(memory, "other", 1.0)
    memory.edit("merge", bowl, other)
    memory.edit("relabel", bowl, new_class="Plate")
    assert rows(mirror.whole()) == truth(memory)
    assert counted.asked == 1


def test_news_hold_what_changed_and_what_went_alone(mirror: SceneMirror, memory: RobotMemory) -> None:
    bowl = put(memory, "bowl")
    version = json.loads(mirror.whole())["version"]
    cup = put(memory, "cup", 1.5)
    memory.edit("delete", bowl)
    news = json.loads(mirror.since(version))
    assert ([row["id"] for row in news["changed"]], news["gone"]) == ([cup], [bowl])
    assert "areas" not in news
    assert json.loads(mirror.since(news["version"]))["changed"] == []
    assert rows(mirror.since(-1)) == rows(mirror.since(10**9)) == truth(memory)


def test_what_is_edited_here_is_asked_for_anew(mirror: SceneMirror, counted: Counted) -> None:
    version = json.loads(mirror.whole())["version"]
    mirror.expect_change()
    put(counted.memory, "bowl")
    assert len(json.loads(mirror.since(version))["changed"]) == 1
    assert counted.asked == 2


def test_a_change_that_was_missed_leads_to_the_whole_scene(counted: Counted) -> None:
    listeners: list[Any] = []

    def follow(listener: Any) -> Any:
        listeners.append(listener)
        return StoredViews(counted.memory).follow(lambda change: lost or listener(change))

    lost: list[bool] = []
    mirror = SceneMirror(counted, follow)  # type: ignore[arg-type]
    mirror.whole()
    lost.append(True)
    bowl = put(counted.memory, "bowl")
    lost.clear()
    cup = put(counted.memory, "cup", 1.5)
    assert {bowl, cup} <= set(rows(mirror.whole()))
    assert counted.asked == 2


def test_changes_while_memory_is_asked_neither_wait_nor_get_lost(memory: RobotMemory) -> None:
    class Slow(Counted):
        def scene(self) -> Any:
            scene = super().scene()
            # A robot maps on while its answer travels; if that waited for us, nothing would go on.
            mapping = threading.Thread(target=put, args=(self.memory, "meanwhile"))
            mapping.start()
            mapping.join(5.0)
            assert not mapping.is_alive()
            return scene

    slow = Slow(memory)
    mirror = SceneMirror(slow, StoredViews(memory).follow)  # type: ignore[arg-type]
    assert rows(mirror.whole()) == truth(memory)
    assert slow.asked == 1
    mirror.close()


def test_a_memory_that_does_not_answer_is_asked_again(mirror: SceneMirror, counted: Counted) -> None:
    answering, counted.scene = counted.scene, None  # type: ignore[method-assign, assignment]
    with pytest.raises(TypeError):
        mirror.whole()
    counted.scene = answering  # type: ignore[method-assign]
    assert rows(mirror.whole()) == truth(counted.memory)
