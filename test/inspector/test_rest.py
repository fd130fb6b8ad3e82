"""REST over a memory: the verbs of the services, the views of the page, the stream of changes."""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from furnished_home import START_NS, furnished
from inspected_home import Client, serving

from memory_node.context.guidance import StepObservation
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState
from memory_node.domain.step import EpisodeAccount, ModelCost, StepRecord
from memory_node.inspector import requests
from memory_node.inspector.answers import nanoseconds
from memory_node.inspector.scene_rows import timeline
from memory_node.knowledge.standard_step import document_steps
from memory_node.memory import RobotMemory

ROOT = Path(__file__).parents[2]
# REST's name of a field -> the service's. near_position is "position is there" in REST; a wait is the inspector's own.
RENAMED = {"as_of_s": "as_of", "wait_s": None}
OF_STATE_CHANGE = "Remember"


@pytest.fixture(scope="module")
def home() -> Iterator[tuple[RobotMemory, dict[str, str]]]:
    memory, ids = furnished()
    yield memory, ids
    memory.close()


@pytest.fixture(scope="module")
def memory(home: tuple[RobotMemory, dict[str, str]]) -> RobotMemory:
    return home[0]


@pytest.fixture(scope="module")
def ids(home: tuple[RobotMemory, dict[str, str]]) -> dict[str, str]:
    return home[1]


@pytest.fixture(scope="module")
def client(memory: RobotMemory) -> Iterator[Client]:
    with serving(memory) as client:
        yield client


def fields_of(path: Path) -> set[str]:
    """Return the names of a definition's fields, of a service those of its request."""
    text = path.read_text().partition("\n---")[0]
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return {words[1] for words in lines if len(words) == 2 and "=" not in words[1]}


@pytest.mark.parametrize(
    "verb",
    [
        "FindObjects", "RecallObjects", "LocateObject", "RankSearchAreas", "AskMemory", "GetContext", "Remember",
        "EditObject", "TellFact", "Forget", "ConfirmRelocalization",
    ],
)  # fmt: skip
def test_verbs_have_the_names_and_fields_of_the_services(client: Client, verb: str) -> None:
    definition = ROOT / "msg/StateChange.msg" if verb == OF_STATE_CHANGE else ROOT / f"srv/{verb}.srv"
    model = getattr(requests, verb)
    names = {RENAMED.get(name, name) for name in model.model_fields} - {None}
    assert names <= fields_of(definition)
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in verb).lstrip("_")
    operation = client.get("/openapi.json")["paths"][f"/api/v1/{snake}"]["post"]
    assert operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(f"/{verb}")


def test_answers_come_ranked_with_what_ranks_them(client: Client, ids: dict[str, str]) -> None:
    found = client.post("/api/v1/find_objects", text="the apple")
    assert [(one["object_id"], one["object_class"]) for one in found["objects"]] == [(ids["apple"], "Apple")]
    assert found["objects"][0]["why"][0].startswith("relevance ")
    assert found["objects"][0]["support_id"] == ids["table"]
    mugs = client.post("/api/v1/find_objects", text="mug", position=[1.0, 4.0, 0.8])["objects"]
    assert [one["object_id"] for one in mugs] == [ids["cup"], ids["mug"]]
    assert mugs[0]["score"] >= mugs[1]["score"]
    located = client.post("/api/v1/locate_object", text="Apple")
    assert located["objects"][0]["object_id"] == ids["apple"]


def test_told_fact_is_undone_and_what_it_replaced_counts_again(client: Client) -> None:
    client.post("/api/v1/tell_fact", text="The scissors belong in the drawer.")
    later = client.post("/api/v1/tell_fact", text="The scissors belong on the shelf.")
    assert later["undoable"]
    question = {"question": "What do you know of the scissors?"}
    assert "shelf" in client.post("/api/v1/ask_memory", **question)["answer"]
    assert client.post(f"/api/v1/edits/{later['id']}/undo")["state"] == "undone"
    answer = client.post("/api/v1/ask_memory", **question)["answer"]
    assert "drawer" in answer
    assert "shelf" not in answer


def test_context_tells_its_sections(client: Client) -> None:
    context = client.post("/api/v1/get_context", instruction="bring me the apple", token_budget=500)
    assert "apple" in context["text"].lower()
    assert sum(section["tokens"] for section in context["sections"]) == context["tokens"] <= 500
    assert "apple" in client.get("/api/v1/scene_text")


def test_context_tells_what_its_budget_left_out(client: Client) -> None:
    tight = client.post("/api/v1/get_context", instruction="bring me the apple", token_budget=60)
    wide = client.post("/api/v1/get_context", instruction="bring me the apple", token_budget=5000)
    cut = {section["name"]: section for section in tight["sections"] if section["cut"]}
    assert cut
    for name, section in cut.items():
        assert section["cut_tokens"] > 0
        assert (section["lines"] == 0) == (section["tokens"] == 0)
        assert all(line not in tight["text"].splitlines() for line in section["cut"]), name
    assert not any(section["cut"] for section in wide["sections"])


def test_scene_is_told_now_and_then(client: Client, ids: dict[str, str]) -> None:
    scene = client.get("/api/v1/scene_graph")
    assert set(ids.values()) <= {one["id"] for one in scene["objects"]}
    assert [ids["apple"], "on", ids["table"]] in scene["relations"]
    then = client.get(f"/api/v1/scene_graph?as_of_s={START_NS * 1e-9 + 2.5}")
    assert {one["id"] for one in then["objects"]} == {ids["table"], ids["apple"]}
    span = client.get("/api/v1/timeline")
    assert span["begin_s"] == pytest.approx(START_NS * 1e-9 + 1)
    assert span["moments"] == sorted(set(span["moments"]))
    assert [START_NS * 1e-9 + second for second in (1, 2, 3, 4)] == pytest.approx(span["moments"][:4], abs=1e-5)
    changes = client.get(f"/api/v1/changes?from_s={START_NS * 1e-9 + 2.5}&until_s={START_NS * 1e-9 + 10}")
    assert {one["id"] for one in changes["appeared"]} == {ids["mug"], ids["cup"]}
    assert changes["gone"] == []


def test_card_tells_all_of_an_object(client: Client, ids: dict[str, str]) -> None:
    card = client.get(f"/api/v1/objects/{ids['apple']}")
    assert card["classes"][0]["name"] == "Apple"
    assert card["by"] == "skill"
    assert len(card["covariance_m2"]) == 3
    assert client.ask("GET", "/api/v1/objects/nobody")[0] == 404


def test_card_asks_for_its_object_alone(client: Client, memory: RobotMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    (egg,) = memory.remember([StateChange("egg", "Egg", START_NS, position=(3.0, 1.0, 0.8), held=False)])
    memory.edit("delete", egg)

    def whole(*_: object, **__: object) -> None:
        raise AssertionError("the whole scene was asked for")

    monkeypatch.setattr(memory, "scene", whole)
    assert client.get(f"/api/v1/objects/{egg}")["removed"]
    restored = client.post("/api/v1/edit_object", operation="restore", object_id=egg)
    client.post(f"/api/v1/edits/{restored['id']}/undo")
    status, told = client.ask("GET", "/api/v1/objects/nothing")
    assert status == 404
    assert "nothing" in told["message"]


def test_short_term_memory_and_health_are_shown(client: Client, ids: dict[str, str]) -> None:
    client.post("/api/v1/recall_objects", text="mug")
    cache = client.get("/api/v1/cache")
    assert cache["figures"]["lookups"] >= 1
    assert {one["id"] for one in cache["units"]} <= set(ids.values())
    # all were told as what was done with them, and what the robot used is not flushed
    assert all(one["segment"] and one["pinned"] for one in cache["units"])
    assert client.get("/healthz") == b"ok\n"
    lines = client.get("/metrics").decode()
    assert "robot_memory_objects " in lines
    assert re.search(r'route="[^"]*/recall_objects"', lines)


def test_episodes_are_shown_with_their_steps(tmp_path: Path) -> None:
    memory, _ = furnished(tmp_path / "memory.db")
    episode = memory.episodes.start("bring me the apple", "bring")
    step = SkillCall("PickupObject", ("Apple",))
    memory.episodes.record(
        StepRecord(episode, 0, step, False, FailureReason.TOO_FAR, START_NS + 20 * 10**9, "1.2 m away", room="kitchen")
    )
    with serving(memory) as client:
        assert "PickupObject" in client.get("/api/v1/episodes")["running"]
        memory.episodes.end(episode, False, "too far", EpisodeAccount(ModelCost(1200, 900, 80, 3, 4.5, 0.0125)))
        memory.commit()
        found = client.get("/api/v1/episodes")["episodes"]
        assert [(one["instruction"], one["success"]) for one in found] == [("bring me the apple", False)]
        detail = client.get(f"/api/v1/episodes/{episode}")
        took = {name: detail["cost"][name] for name in ("tokens_in", "tokens_cached", "tokens_out", "replies", "usd")}
        assert tuple(took.values()) == (1200, 900, 80, 3, 0.0125)
        (told,) = detail["steps"]
        assert (told["action"], told["reason"], told["room"]) == ("PickupObject(Apple)", "too_far", "kitchen")
        assert any("GoToObject" in warning for warning in told["warnings"])
        assert client.get("/api/v1/episodes")["running"] == ""
        assert client.ask("GET", "/api/v1/episodes/nobody")[0] == 404
    memory.close()


def test_prompts_are_shown_as_a_planner_was_sent_them(tmp_path: Path) -> None:
    memory, ids = furnished(tmp_path / "memory.db")
    episode = memory.episodes.start("bring me the apple", "bring")
    context, unused = memory.context("the apple", 60), memory.context("the mug", 500)
    for index in (0, 1):
        call = SkillCall("GoToObject", ("Apple",))
        step = StepRecord(episode, index, call, True, FailureReason.NONE, START_NS + index * 10**9)
        memory.episodes.record(step, context.id)
    memory.commit()
    with serving(memory) as client:
        (told,) = client.get(f"/api/v1/episodes/{episode}")["prompts"]
        assert (told["context_id"], told["instruction"], told["token_budget"]) == (context.id, "the apple", 60)
        assert told["steps"] == [0, 1]
        assert told["text"] == context.text != unused.text
        assert sum(section["cut_tokens"] for section in told["sections"]) > 0
        memory.forget(object_id=ids["mug"])
        assert client.get(f"/api/v1/episodes/{episode}")["prompts"] == [], "they may tell of what is forgotten"
    memory.close()


def test_guidance_is_shown_step_by_step(tmp_path: Path) -> None:
    memory, _ = furnished(tmp_path / "memory.db")
    episode = memory.episodes.start("throw the apple away", "place")
    apple, can = "Apple@2.000,1.000,0.800", "GarbageCan@1.000,1.000,0.200"
    observed = StepObservation(("place Apple to GarbageCan",), proposed=SkillCall("PutObject", (apple, can)))
    memory.guidance.compile(episode, observed)
    memory.episodes.record(
        StepRecord(episode, 0, SkillCall("GoToObject", (apple,)), True, FailureReason.NONE, START_NS + 10**9)
    )
    memory.commit()
    with serving(memory) as client:
        told = client.get(f"/api/v1/episodes/{episode}")
    (compiled,) = told["compiled"]
    assert compiled["guidance"].startswith("Next: GoToObject(Apple)")
    assert "Goal: throw the apple away" in compiled["state"]
    assert any("locations" in change for change in compiled["changes"])
    assert compiled["lessons"] == [], "none was drawn on"
    assert len(told["steps"]) == 1
    memory.close()


def test_changes_are_streamed(client: Client, memory: RobotMemory, ids: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    connection.request("GET", "/api/v1/events")
    stream = connection.getresponse()
    assert stream.readline().startswith(b"retry:")
    stream.readline()
    memory.remember([StateChange(ids["mug"], "Mug", 0, position=(4.5, 3.0, 0.8), held=False)])
    assert stream.readline().startswith(b"id: ")
    assert stream.readline() == b"event: change\n"
    change = json.loads(stream.readline().removeprefix(b"data: "))
    assert change["changed"] == [ids["mug"]]
    connection.close()
    where = {one["id"]: one["at"] for one in client.get("/api/v1/scene_graph")["objects"]}
    assert where[ids["mug"]][0] == pytest.approx(4.5)


@pytest.mark.parametrize("span_ns", [0, 1, 10**6, 10**12])
def test_as_of_a_moment_of_the_timeline_its_change_is_seen(memory: RobotMemory, span_ns: int) -> None:
    (found, *_) = memory.scene().objects
    first = 1_790_000_000_000_000_123
    stamps = [first, first + span_ns]
    told = timeline(
        [found.changed(first_seen_ns=stamp, last_seen_ns=stamp, placed_ns=0, states=()) for stamp in stamps]
    )
    assert len(told["moments"]) == (2 if span_ns >= 10**6 else 1)
    for stamp in stamps:
        assert any(0 <= nanoseconds(moment) - stamp < 3_000 for moment in told["moments"])


def test_past_is_answered_as_it_was(client: Client, memory: RobotMemory) -> None:
    second = 1_000_000_000
    later_ns = START_NS + 1000 * second

    def tell(after_s: int, object_id: str, **more: Any) -> str:
        return memory.remember([StateChange(object_id, "Kettle", later_ns + after_s * second, **more)])[0]

    kettle = tell(0, "kettle", position=(2.0, 1.0, 0.8), support_id="DiningTable 1", held=False)
    tell(10, kettle, added=(ObjectState.FILLED,))
    tell(20, kettle, position=(4.0, 4.0, 0.8), held=False)

    def card(after_s: float) -> Any:
        return client.get(f"/api/v1/objects/{kettle}?as_of_s={later_ns * 1e-9 + after_s}")

    assert (card(5)["at"][0], card(5)["states"], len(card(5)["history"])) == (2.0, [], 0)
    assert card(5)["on"] == memory.one_object("DiningTable 1").id
    assert card(15)["states"] == ["filled"]
    assert (card(25)["at"][0], len(card(25)["history"])) == (4.0, 1)
    assert card(5)["now_s"] == pytest.approx(later_ns * 1e-9 + 5)
    assert client.ask("GET", f"/api/v1/objects/{kettle}?as_of_s={later_ns * 1e-9 - 1}")[0] == 404
    listed = client.get(f"/api/v1/objects?as_of_s={later_ns * 1e-9 - 1}")
    assert kettle not in {one["id"] for one in listed["objects"]}
    scene = client.get(f"/api/v1/scene_graph?as_of_s={later_ns * 1e-9 + 5}")
    assert [kettle, "on", memory.one_object("DiningTable 1").id] in scene["relations"]
    asked = {"object_class": "Kettle", "states": ["filled"]}
    assert not client.post("/api/v1/find_objects", **asked, as_of_s=later_ns * 1e-9 + 5)["objects"]
    assert client.post("/api/v1/find_objects", **asked, as_of_s=later_ns * 1e-9 + 15)["objects"]
    memory.forget(kettle)


def test_facts_of_later_are_not_told_of_then(client: Client) -> None:
    told = client.post("/api/v1/tell_fact", text="Carl likes green pears", teller="Ben")
    unread = client.post("/api/v1/tell_fact", text="Carl hums when he is content.")
    assert "no rule of mine reads them" in unread["message"]
    client.post(f"/api/v1/edits/{unread['id']}/undo")
    (fact,) = (one for one in client.get("/api/v1/knowledge?concept=Carl") if "pears" in one["text"])
    assert (fact["told"], fact["teller"]) == (True, "Ben")
    then = client.get(f"/api/v1/knowledge?concept=Carl&as_of_s={fact['stamp_s'] - 1}")
    assert not [one for one in then if "pears" in one["text"]]
    client.post(f"/api/v1/edits/{told['id']}/undo")


def test_told_fact_is_removed_and_brought_back(client: Client) -> None:
    def known() -> set[str]:
        return {one["text"] for one in client.get("/api/v1/knowledge?concept=Dora") if "Dora" in one["text"]}

    told = client.post("/api/v1/tell_fact", text="Dora likes plums")
    (text,) = known()
    removed = client.post("/api/v1/retract_fact", text=text)
    assert not known()
    assert "plums" not in (client.post("/api/v1/ask_memory", question="What does Dora like?")["answer"] or "")
    client.post(f"/api/v1/edits/{removed['id']}/undo")
    assert known() == {text}
    client.post(f"/api/v1/edits/{told['id']}/undo")
    assert not known()
    assert client.ask("POST", "/api/v1/retract_fact", {"text": "nobody said this"})[0] == 404


def test_document_is_deleted_and_brought_back(client: Client, memory: RobotMemory) -> None:
    memory.read(document_steps("rules.txt-0123456789ab", "", ["The amphora must never be moved."]))

    def known() -> bool:
        return any("amphora" in one["text"] for one in client.get("/api/v1/knowledge?concept=amphora"))

    assert known()
    deleted = client.post("/api/v1/delete_document", document="rules.txt")
    assert not known()
    assert client.post(f"/api/v1/edits/{deleted['id']}/undo")["state"] == "undone"
    assert known()
    assert client.ask("POST", "/api/v1/delete_document", {"document": "no.txt"})[0] == 404
