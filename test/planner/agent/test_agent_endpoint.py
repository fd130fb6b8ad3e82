"""The agent at endpoints that misbehave: the offline planner carries on, or the reason is told."""

import json

import pytest
from scripted_model import home

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner_config import LlmConfig, PlannerConfig
from memory_node.planner.reading.understanding import Understander

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def carry_out(word_embedder, fallback: bool = True, **config) -> tuple[InstructionResult, list[str]]:
    kinds, place, notes = load_catalogue(), home(), list[str]()
    settings = LlmConfig(**{"model": "m", "retries": 0, "timeout_s": 5.0, **config})
    offline = OfflinePlanner(Understander(kinds, None, word_embedder), kinds, max_failures=1)
    planner = AgentPlanner(ModelShelf().open_or_excuse(settings), settings, kinds, offline, fallback)
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
