"""A session goes on in a planner that starts anew, and ends after a silence, in another home, or when told so."""

from pathlib import Path

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.scene import Area, SceneSnapshot
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.session import Session
from memory_node.world.state import Thing

READER = Understander(load_catalogue(), None, None)
S = 1_000_000_000
HOME = SceneSnapshot(0, areas=(Area("a1", "kitchen", (0.0, 0.0), ""),))
ANOTHER = SceneSnapshot(0, areas=(Area("b1", "kitchen", (0.0, 0.0), ""),))


def said(text: str, conversation: Conversation) -> str:
    read = READER.understand(text, conversation=conversation)
    return ", ".join(map(str, read.goals)) or "?"


def session(path: Path | None) -> Session:
    return Session(path, lasts_s=60.0)


def test_planner_that_starts_anew_goes_on(tmp_path: Path) -> None:
    first = session(tmp_path / "s.json")
    conversation = first.conversation(100 * S, lambda: HOME)
    assert said("wash the apple and put it on the plate", conversation) == "clean Apple, place Apple to Plate"
    conversation.handled["Apple"] = {"id-1", "id-2"}
    conversation.places["Apple"] = Thing("apple", "Bowl", "Bowl@1.0,2.0,0.5")
    first.note(110 * S, lambda: HOME)
    again = session(tmp_path / "s.json").conversation(120 * S, lambda: HOME)
    assert again == conversation
    assert said("now slice the apple", again) == "slice Apple"
    assert said("and the potato", again) == "slice Potato"


def test_question_can_be_answered_after_a_restart(tmp_path: Path) -> None:
    first = session(tmp_path / "s.json")
    assert said("put the mug on the table", first.conversation(100 * S, lambda: HOME)) == "?"
    first.note(101 * S, lambda: HOME)
    assert (
        said("the coffee table", session(tmp_path / "s.json").conversation(102 * S, lambda: HOME))
        == "place Mug to CoffeeTable"
    )


@pytest.mark.parametrize(
    ("now", "scene"), [(200 * S, HOME), (50 * S, HOME), (120 * S, ANOTHER), (120 * S, SceneSnapshot(0))]
)
def test_new_session_begins(tmp_path: Path, now: int, scene: SceneSnapshot) -> None:
    first = session(tmp_path / "s.json")
    said("wash the apple", first.conversation(100 * S, lambda: HOME))
    first.note(110 * S, lambda: HOME)
    assert said("slice it", session(tmp_path / "s.json").conversation(now, lambda: scene)) == "?"


def test_person_ends_the_session() -> None:
    conversation = session(None).conversation(100 * S, lambda: HOME)
    assert said("wash the apple", conversation) == "clean Apple"
    assert said("thanks, that will be all", conversation) == "stop"
    assert said("slice it", conversation) == "?"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"conversation": {"focus": 7}}', bytes(range(256))])
def test_broken_file_begins_a_new_session(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    assert session(path).conversation(100 * S, lambda: HOME) == Conversation()
    assert str(path) in caplog.text or content.startswith(b'{"')


def test_file_that_cannot_be_written_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    one = session(tmp_path / "file" / "s.json")
    one.conversation(100 * S, lambda: HOME)
    one.note(110 * S, lambda: HOME)
    assert "cannot be kept" in caplog.text
