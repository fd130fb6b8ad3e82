"""The agent at endpoints that misbehave: the offline planner carries on, or the reason is told."""

import base64
import json

import numpy as np
import pytest
from scripted_model import home
from tiny_home import TinyHome

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner_config import LlmConfig, PlannerConfig
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.visual_verifier import SeenPicture

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


class Camera:
    """The robot's camera, or one whose picture cannot be read."""

    def __init__(self, *, broken: bool = False) -> None:
        self._broken = broken

    def newest(self, earliest_ns: int) -> SeenPicture | None:
        if self._broken:
            raise InputSkippedError("invalid_value", "data cut short")
        return SeenPicture(earliest_ns, b"\xff\xd8 whole", b"\xff\xd8 closer")


class Pictured(TinyHome):
    """A home of which the short-term memory has a picture of each thing, in a file."""

    file = ""

    def recall(self, query: FindQuery) -> Recollection:
        there = [one for one in self.scene().objects if one.class_name == query.object_class]
        kept = {"source": "short_term", "status": AnswerStatus.OK, "image_path": self.file}
        size, stamps = np.ones(3), {"stamp_ns": 0, "last_seen_ns": 0, "last_missed_ns": 0}
        answers = (
            ObjectAnswer(
                one.id, one.class_name, 1.0, one.box.center, one.covariance, size, 0.0, 0.9, score=1.0, **stamps, **kept
            )
            for one in there
        )
        return Recollection(tuple(answers), AnswerStatus.OK)


def carry_out(
    word_embedder, fallback: bool = True, camera: Camera | None = None, place: TinyHome | None = None, **config
) -> tuple[InstructionResult, list[str]]:
    kinds, place, notes = load_catalogue(), place or home(), list[str]()
    settings = LlmConfig(**{"model": "m", "retries": 0, "timeout_s": 5.0, **config})
    offline = OfflinePlanner(Understander(kinds, None, word_embedder), kinds, max_failures=1)
    planner = AgentPlanner(ModelShelf().open_or_excuse(settings), settings, kinds, offline, fallback, camera=camera)
    executor = InstructionExecutor(place, place, planner)
    result = executor.execute("put the mug into the fridge", on_progress=lambda one: notes.append(one.text))
    return result, notes


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([b"\x00\xff no HTTP \r\n\r\n"], id="garbage"),
        pytest.param([HEAD, b"data: {broken\n\n"], id="broken JSON"),
        pytest.param([HEAD, b'data: {"choices": [{"delta": {"content": "\\udfff"}}]}\n\n'], id="lone surrogate"),
        pytest.param([HEAD, *[b"x" * 65_536] * 100], id="no end"),
        pytest.param([HEAD], id="nothing"),
        pytest.param([b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"], id="500"),
    ],
)
def test_whatever_an_endpoint_sends_the_offline_planner_carries_on(hostile, word_embedder, sent: list[bytes]) -> None:
    server = hostile(lambda connection: [connection.sendall(part) for part in sent])
    result, notes = carry_out(word_embedder, base_url=server.url, max_repairs=0)
    assert result.success
    assert result.outcome.planner == "offline (fallback)"
    assert any("offline planner carries on" in note for note in notes)


def test_model_that_is_not_there_is_named_and_the_offline_planner_carries_on(word_embedder) -> None:
    result, notes = carry_out(word_embedder, model_path="/nowhere/model.gguf")
    assert result.outcome.planner == "offline (fallback)"
    assert any("/nowhere/model.gguf is no file" in note for note in notes)


def test_refusing_endpoint_without_fallback_fails_with_the_reason(endpoint, word_embedder) -> None:
    result, _ = carry_out(word_embedder, fallback=False, base_url=endpoint(401).url)
    assert not result.success
    assert "401" in result.failure


def test_whole_plan_comes_as_one_json_object_from_an_endpoint(endpoint, word_embedder) -> None:
    calls = [
        (
            "set_goals",
            {"goals": [{"kind": "place", "thing": "Mug", "place": "Fridge", "words": "the mug into the fridge"}]},
        ),
        ("OpenObject", {"object": "Fridge"}),
        ("PickupObject", {"object": "Mug"}),
        ("PutObject", {"object": "Mug", "receptacle": "Fridge"}),
        ("done", {"summary": "It is in the fridge."}),
    ]
    plan = json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]})
    server = endpoint(plan)
    result, _ = carry_out(word_embedder, fallback=False, base_url=server.url, mode="plan")
    assert result.success
    assert len(server.requests) == 1
    assert "tools" not in server.requests[0]
    assert server.requests[0]["response_format"]["type"] == "json_schema"


def test_embedded_model_is_no_planner() -> None:
    with pytest.raises(InvalidValueError, match=r"llm\.base_url"):
        open_planner("llm", None, PlannerConfig())


LOOK = [("look_at", {"thing": "DiningTable"}), ("find", {"name": "mug"})]
GIVE_UP = [("impossible", {"reason": "no"})]


def as_reply(calls) -> str:
    return json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]})


@pytest.mark.parametrize("tools", ["native", "json"])
def test_model_that_sees_is_shown_what_the_camera_sees_behind_the_results(endpoint, word_embedder, tools) -> None:
    server = endpoint(as_reply(LOOK), as_reply(GIVE_UP))
    carry_out(word_embedder, False, Camera(), base_url=server.url, sees=True, tools=tools)
    *_, result, shown = server.requests[1]["messages"]
    assert "DiningTable" in str(result["content"])
    pictures = [part["image_url"]["url"] for part in shown["content"] if part["type"] == "image_url"]
    assert [base64.b64decode(one.partition(",")[2]) for one in pictures] == [b"\xff\xd8 whole", b"\xff\xd8 closer"]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_look_shows_the_picture_that_memory_has_of_the_thing(endpoint, word_embedder, tmp_path, has_file) -> None:
    server, place = endpoint(as_reply(LOOK), as_reply(GIVE_UP)), Pictured(*home().things.values())
    place.file = str(tmp_path / "table.jpg")
    if has_file:
        (tmp_path / "table.jpg").write_bytes(b"\xff\xd8\xff table")
    carry_out(word_embedder, False, Camera(), place, base_url=server.url, sees=True)
    shown = json.dumps(server.requests[1]["messages"][-1])
    assert (base64.b64encode(b"\xff\xd8\xff table").decode() in shown) is has_file


@pytest.mark.parametrize(("sees", "camera"), [(False, Camera()), (True, None), (True, Camera(broken=True))])
def test_look_without_a_picture_is_told_in_words(endpoint, word_embedder, sees, camera) -> None:
    server = endpoint(as_reply(LOOK), as_reply(GIVE_UP))
    _, notes = carry_out(word_embedder, False, camera, base_url=server.url, sees=sees)
    assert "image_url" not in json.dumps(server.requests)
    assert any("data cut short" in note for note in notes) is (sees and camera is not None)


def test_model_in_this_process_is_not_asked_to_see() -> None:
    with pytest.raises(InvalidValueError, match=r"llm\.sees"):
        open_planner("llm", None, PlannerConfig(llm=LlmConfig(model_path="/a/model.gguf", sees=True)))
