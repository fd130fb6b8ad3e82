"""Our client before servers that are not ours: what they take, and how they fail."""

import json
from typing import Any

import pytest
from running_server import Server

from memory_node.llm.chat import (
    Deadline,
    JsonForm,
    LateError,
    Message,
    OverloadedError,
    RefusedError,
    Reply,
    Tool,
    ToolCall,
    ToolForm,
    TooLongError,
)
from memory_node.llm.config import ModelConfig
from memory_node.llm.openai_model import OpenAiModel
from memory_node.llm.tool_calls import tool_calls_in

pytestmark = pytest.mark.timeout(900)
FRANCE = [Message("user", "What is the capital of France? Answer in one sentence.")]
FIND = Tool(
    "find",
    "Ask memory where a thing is.",
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
)
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "is_capital": {"type": "boolean"}},
    "required": ["city", "is_capital"],
}


def model_of(server: Server, **config: Any) -> OpenAiModel:
    given = {"model": server.model, "max_reply_tokens": 40, "timeout_s": 120.0, "retries": 0, **config}
    return OpenAiModel(ModelConfig(base_url=server.url, api_key_variable="SERVER_KEY", **given))


def test_it_streams_a_reply_with_its_tokens(server: Server) -> None:
    lines: list[str] = []
    reply = model_of(server).reply(FRANCE, on_line=lines.append)
    assert "Paris" in reply.text
    assert "\n".join(lines) == reply.text
    assert reply.whole
    assert reply.tokens_in > reply.tokens_out > 0


def test_a_reply_that_is_cut_off_says_so(server: Server) -> None:
    assert not model_of(server, max_reply_tokens=4).reply([Message("user", "Tell me a long story.")]).whole


def test_it_holds_a_reply_to_a_schema(server: Server) -> None:
    server.needs("schema")
    reply = model_of(server, max_reply_tokens=80).reply(FRANCE, form=JsonForm(CITY, "city"))
    said = json.loads(reply.text)
    assert isinstance(said["city"], str)
    assert isinstance(said["is_capital"], bool)


def test_a_schema_that_it_does_not_know_leaves_a_reply(server: Server) -> None:
    assert model_of(server, structured="none").reply(FRANCE, form=JsonForm(CITY, "city")).text


def test_it_takes_tools_and_their_results(server: Server) -> None:
    model = model_of(server)
    asked = [Message("system", "You are a robot. Use the tools."), Message("user", "Where is the mug?")]
    first = model.reply(asked, form=ToolForm((FIND,)))
    assert all(call.name == "find" for call in tool_calls_in(first, (FIND,)))
    call = ToolCall("find", {"name": "mug"}, "c1")
    told = [*asked, Message("assistant", "", tool_calls=(call,)), Message("tool", "on the table", call_id="c1")]
    second: Reply = model.reply(told, form=ToolForm((FIND,)))
    assert second.tokens_in > 0


def test_a_late_reply_is_left_and_the_next_one_comes(server: Server) -> None:
    model = model_of(server, max_reply_tokens=1500)
    with pytest.raises(LateError):
        model.reply([Message("user", "Write a long story about a robot.")], Deadline(1.0))
    assert "Paris" in model_of(server).reply(FRANCE).text


def test_a_wrong_key_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.needs("keys")
    monkeypatch.setenv("SERVER_KEY", "sk-wrong")
    with pytest.raises(RefusedError) as refused:
        model_of(server).reply(FRANCE)
    assert refused.value.status in (400, 401, 403)


def test_a_model_that_is_not_there_is_refused(server: Server) -> None:
    server.needs("models")
    # `transformers serve` looks an unknown model up at the hub, and answers 500 where it cannot.
    with pytest.raises((RefusedError, OverloadedError), match=r"no-such-model at \S+ answers (400|404|422|500)"):
        model_of(server, model="no-such-model").reply(FRANCE)


def test_a_prompt_beyond_the_window_is_too_long(server: Server) -> None:
    server.needs("overflow")
    with pytest.raises(TooLongError):
        model_of(server).reply([Message("user", "mug plate table " * 1500)])
