"""Edits by people: each is on record with who made it, and leads back to what was before."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")

from furnished_home import furnished
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inspected_home import Client, serving

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import RobotMemoryError
from memory_node.inspector.deeds import Desk, EditBook
from memory_node.inspector.opened_memory import StoredViews
from memory_node.inspector.requests import Undo
from memory_node.inspector.verbs import VERBS
from memory_node.memory import RobotMemory

WAIT_S = 30.0


@pytest.fixture
def memory() -> Iterator[RobotMemory]:
    memory, _ = furnished()
    yield memory
    memory.close()


@pytest.fixture
def client(memory: RobotMemory) -> Iterator[Client]:
    with serving(memory) as client:
        yield client


def objects(client: Client) -> dict[str, dict]:
    return {one["id"]: one for one in client.get("/api/v1/scene_graph")["objects"]}


def id_of(client: Client, kind: str) -> str:
    return next(key for key, one in objects(client).items() if one["class"] == kind)


def test_merge_is_undone_whole(client: Client) -> None:
    first, second = (key for key, one in objects(client).items() if one["class"] == "Mug")
    before = {key: client.get(f"/api/v1/objects/{key}") for key in (first, second)}
    edit = client.post("/api/v1/edit_object", operation="merge", object_id=first, other_id=second)
    assert second not in objects(client)
    client.post(f"/api/v1/edits/{edit['id']}/undo")
    for key, was in before.items():
        card = client.get(f"/api/v1/objects/{key}")
        assert {**card, "now_s": 0, "edits": []} == {**was, "now_s": 0, "edits": []}


def test_forgetting_waits_and_can_be_called_off(client: Client) -> None:
    apple = id_of(client, "Apple")
    waiting = client.post("/api/v1/forget", object_id=apple, wait_s=WAIT_S)
    assert (waiting["state"], waiting["undoable"]) == ("waiting", True)
    assert apple in objects(client)
    assert client.post(f"/api/v1/edits/{waiting['id']}/undo")["state"] == "undone"
    done = client.post("/api/v1/forget", object_id=apple)
    assert (done["state"], done["undoable"]) == ("done", False)
    assert apple not in objects(client)
    status, told = client.ask("POST", f"/api/v1/edits/{done['id']}/undo", {})
    assert status == 409
    assert "cannot be undone" in told["message"]


def test_what_waits_is_carried_out_in_time_and_at_the_end(memory: RobotMemory) -> None:
    with serving(memory) as client:
        apple, table = id_of(client, "Apple"), id_of(client, "DiningTable")
        client.post("/api/v1/forget", object_id=apple, wait_s=0.05)
        deadline = time.monotonic() + 10.0
        while apple in objects(client) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert apple not in objects(client)
        client.post("/api/v1/forget", object_id=table, wait_s=WAIT_S)
        assert table in objects(client)
    assert table not in {one.id for one in memory.scene(removed=True).objects}


def test_edits_are_listed_newest_first(client: Client) -> None:
    mug = id_of(client, "Mug")
    for name in ("Cup", "Bowl"):
        client.post("/api/v1/edit_object", operation="relabel", object_id=mug, new_class=name)
    what = [edit["what"] for edit in client.get("/api/v1/edits")]
    assert [words.rpartition(" ")[2] for words in what] == ["Bowl", "Cup"]


def test_unknown_objects_are_named(client: Client) -> None:
    status, told = client.ask("POST", "/api/v1/edit_object", {"operation": "delete", "object_id": "nobody"})
    assert status == 404
    assert "nobody" in told["message"]
    assert id_of(client, "Apple") in client.ask("POST", "/api/v1/forget", {"object_id": "apple"})[1]["message"]
    assert client.get("/api/v1/edits") == []


KINDS = ("Mug", "Cup", "Apple", "Bowl")
FACTS = ("Anna likes black tea", "Anna likes green tea", "The scissors belong on the shelf", "Ben likes plums")
_AT = st.lists(st.floats(0.0, 5.5), min_size=3, max_size=3)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("relabel", "call", "merge", "split", "delete", "name_room", "move", "told", "fact", "retract")
        ),
        st.integers(0, 9),
        st.integers(0, 9),
        _AT,
    ),
    min_size=1,
    max_size=8,
)


def step_of(memory: RobotMemory, what: str, first: int, second: int, at: list[float]) -> tuple[str, dict[str, Any]]:
    """Return the name of a verb and what it is told."""
    objects, rooms = memory.scene(removed=True).objects, memory.scene().rooms
    one, other = objects[first % len(objects)].id, objects[second % len(objects)].id
    kind, fact = KINDS[second % len(KINDS)], FACTS[first % len(FACTS)]
    others = {
        "move": ("move_object", {"object_id": one, "position": at}),
        "told": ("remember", {"object_id": one, "added": ["dirty"], "support": other if first > second else ""}),
        "fact": ("tell_fact", {"text": fact}),
        "retract": ("retract_fact", {"text": fact}),
        "name_room": ("edit_object", {"operation": what, "object_id": rooms[0].id, "new_class": kind}),
    }
    edited = {"operation": what, "object_id": one, "other_id": other, "new_class": kind, "position": at}
    return others.get(what, ("edit_object", edited))


def known(memory: RobotMemory) -> tuple[str, frozenset[str]]:
    """Return the scene's hash and what facts count."""
    told = {
        one.text for name in ("anna", "ben", "scissors") for one in memory.knowledge.about({name}, 20) if one.active
    }
    return memory.hash(), frozenset(told)


@settings(max_examples=10)
@example([("fact", 0, 0, [0.0, 0.0, 0.0]), ("fact", 0, 0, [0.0, 0.0, 0.0])])
@example([("fact", 2, 0, [0.0, 0.0, 0.0]), ("fact", 2, 0, [0.0, 0.0, 0.0])])
@example([("fact", 0, 0, [0.0, 0.0, 0.0]), ("retract", 0, 0, [0.0, 0.0, 0.0]), ("retract", 0, 0, [0.0, 0.0, 0.0])])
@given(_STEPS)
def test_any_edits_and_facts_undone_in_reverse_leave_what_was(steps: list[Any]) -> None:
    memory, _ = furnished()
    desk = Desk(memory, StoredViews(memory), load_catalogue(), system_clock, EditBook(system_clock))
    verbs, states = {verb.name: verb for verb in VERBS}, []
    for what, first, second, at in steps:
        before = known(memory)
        name, told = step_of(memory, what, first, second, at)
        try:
            verbs[name].run(desk, verbs[name].request(**told))
        except RobotMemoryError:
            assert known(memory) == before
            continue
        states.append(before)
    for before in reversed(states):
        verbs["undo"].run(desk, Undo())
        assert known(memory) == before
    memory.close()
