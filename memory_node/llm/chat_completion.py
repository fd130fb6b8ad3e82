"""A chat completion, as OpenAI's protocol has it: the request, and its answer in pieces or whole."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from memory_node.domain.context import estimate_tokens
from memory_node.llm.chat import JsonForm, Message, Reply, ReplyForm, Tool, ToolForm
from memory_node.llm.config import ModelConfig
from memory_node.llm.errors import BrokenReplyError, TooLongError
from memory_node.llm.partial_calls import CallPiece, PartialCalls
from memory_node.llm.reply_lines import ReplyLines
from memory_node.llm.tensor_file import tensor_file

# No tokenizer has words this long on average: an endpoint that sends more does not keep to what it was asked for.
_CHARACTERS_A_TOKEN = 64
_SHOWN = 300
PROMPT_EMBEDS = "prompt_embeds"


def completion_request(config: ModelConfig, messages: Sequence[Message], form: ReplyForm | None) -> dict[str, Any]:
    """Return the request for a streamed reply. A grammar is no part of the protocol."""
    request: dict[str, Any] = {
        "model": config.model,
        "messages": [_as_json(message) for message in messages],
        "temperature": config.temperature,
        "max_tokens": config.max_reply_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if config.temperature > 0.0:
        request["seed"] = config.seed
    if isinstance(form, JsonForm) and config.structured == "json_schema":
        described = {"name": form.name, "schema": dict(form.schema), "strict": False}
        request["response_format"] = {"type": "json_schema", "json_schema": described}
    elif isinstance(form, JsonForm) and config.structured == "json_object":
        request["response_format"] = {"type": "json_object"}
    elif isinstance(form, ToolForm):
        request["tools"] = [_tool_json(tool) for tool in form.tools]
    return request


def read_reply(chunks: Iterable[Chunk], messages: Sequence[Message], lines: ReplyLines, most_tokens: int) -> Reply:
    """Return the reply that comes in pieces. lines: get its text as it comes.

    Raises:
        BrokenReplyError: the endpoint says in the middle that it failed. TooLongError: it is longer than `most_tokens`.
    """
    usage, finish, beside, calls = None, "", 0, PartialCalls()
    refusal = ""
    for chunk in chunks:
        if chunk.error is not None:
            raise BrokenReplyError(f"the model failed: {json.dumps(chunk.error)[:_SHOWN]}")
        usage = chunk.usage or usage
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            lines.add(choice.text)
            beside += len(choice.reasoning) + calls.add(choice.calls)
            refusal += choice.refusal
        if lines.length + beside > most_tokens * _CHARACTERS_A_TOKEN:
            raise TooLongError(f"a reply of more than {most_tokens} tokens")
    text = lines.end()
    sent = sum(estimate_tokens(message.text) for message in messages)
    tokens_in, tokens_out = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    return Reply(
        text,
        tokens_in or sent,
        tokens_out or estimate_tokens(text),
        tokens_cached=usage.cached if usage else 0,
        whole=finish != "length",
        first_token_s=lines.first_s,
        tool_calls=calls.whole(),
        refusal=refusal or ("a filter of the endpoint held it back" if finish == "content_filter" else ""),
    )


def parse_chunk(data: bytes | Mapping[str, Any]) -> Chunk:
    """Return a piece of an answer.

    Raises:
        BrokenReplyError: it is none.
    """
    try:
        return Chunk.model_validate_json(data) if isinstance(data, bytes) else Chunk.model_validate(data)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "reply"
        raise BrokenReplyError(f"this is no chat completion: {where}: {problem['msg']}") from None


class _Function(BaseModel):
    name: str | None = None
    arguments: Any = None


class _Call(BaseModel):
    index: int = -1
    id: str | None = None
    function: _Function = _Function()


class _Content(BaseModel):
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None

    @property
    def text(self) -> str:
        """What is said; some endpoints send it as parts, of which only text is an answer."""
        if isinstance(self.content, list):
            return "".join(str(part.get("text", "")) for part in self.content if part.get("type") == "text")
        return self.content or ""


class _Choice(BaseModel):
    delta: _Content | None = None
    message: _Content | None = None  # of a server that does not stream
    finish_reason: str | None = None

    @property
    def _part(self) -> _Content:
        return self.delta or self.message or _Content()

    @property
    def text(self) -> str:
        return self._part.text

    @property
    def reasoning(self) -> str:
        return self._part.reasoning_content or self._part.reasoning or ""

    @property
    def refusal(self) -> str:
        return self._part.refusal or ""

    @property
    def calls(self) -> list[CallPiece]:
        """The pieces of tool calls; a lone function_call is the older form of one."""
        old = self._part.function_call
        calls = self._part.tool_calls or ([_Call(index=0, function=old)] if old is not None else [])
        return [CallPiece(one.index, one.id or "", one.function.name or "", one.function.arguments) for one in calls]


class _Cached(BaseModel):
    cached_tokens: int | None = 0


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None

    @property
    def cached(self) -> int:
        return (self.prompt_tokens_details.cached_tokens or 0) if self.prompt_tokens_details is not None else 0


class Chunk(BaseModel):
    """A piece of an answer, or all of it. error: what the endpoint says when it fails in the middle."""

    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


def _as_json(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.tool_calls:
        return {
            "role": "assistant",
            "content": message.text or None,
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
                }
                for call in message.tool_calls
            ],
        }
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": _data_url(picture)}} for picture in message.pictures
    ]
    if message.latent is not None:  # vLLM's part
        parts.append({"type": PROMPT_EMBEDS, "data": base64.b64encode(tensor_file(message.latent)).decode("ascii")})
    if not parts:
        return {"role": message.role, "content": message.text}
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *parts]}


def _tool_json(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _data_url(picture: bytes) -> str:
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"
