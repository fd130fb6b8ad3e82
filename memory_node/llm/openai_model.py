"""A language model behind any OpenAI-compatible endpoint (`POST /v1/chat/completions`), as a stream."""

from __future__ import annotations

import base64
import email.utils
import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import openai
from pydantic import BaseModel, ValidationError

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.token_count import estimate_tokens
from memory_node.llm.chat import GrammarForm, JsonForm, Message, Reply, ReplyForm, Tool, ToolForm, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.deadline import Deadline
from memory_node.llm.endpoint_stream import EndpointStream, open_client
from memory_node.llm.errors import (
    BrokenReplyError,
    LlmError,
    ModelMissingError,
    OverloadedError,
    RefusedError,
    TooLongError,
    UnreachableError,
    UnsupportedError,
)
from memory_node.llm.partial_calls import CallPiece, PartialCalls
from memory_node.llm.reply_lines import ReplyLines

_LOG = logging.getLogger(__name__)
_PUBLIC_URL = "https://api.openai.com/v1"
# A piece of a stream is one token wrapped in some 300 bytes of JSON.
_BYTES_A_TOKEN = 2048
_BYTES_BESIDE = 65_536
# No tokenizer has words this long on average: an endpoint that sends more does not keep to what it was asked for.
_CHARACTERS_A_TOKEN = 64
_TELLS_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_SHOWN = 300


class OpenAiModel:
    """A ChatModel over HTTP; makes no connection before the first reply is asked for.

    An endpoint that cannot be reached or asks to wait is asked again, at most `config.retries`
    times and as long as the deadline allows, unless some of its reply has come already.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._base_url = (config.base_url or _PUBLIC_URL).rstrip("/")
        self._host = _checked_host(self._base_url)
        self._clients: dict[str, openai.OpenAI] = {}  # by key

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return f"{self._config.model} at {self._host}"

    @property
    def native_tools(self) -> bool:
        """Whether the endpoint takes tools."""
        return self._config.tools == "native"

    def count_tokens(self, text: str) -> int:
        """Return an estimate: the endpoint's tokenizer is not known here."""
        return estimate_tokens(text)

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Stream a reply within the configured time; see ChatModel."""
        allowed = Deadline(self._config.timeout_s)
        deadline = deadline.within(self._config.timeout_s) if deadline is not None else allowed
        lines = ReplyLines(on_line)
        with self._answer(messages, form, deadline) as response:
            return self._read(response, messages, lines)

    def _answer(self, messages: Sequence[Message], form: ReplyForm | None, deadline: Deadline) -> EndpointStream:
        if any(message.latent is not None for message in messages):
            raise UnsupportedError(f"{self.name} takes no latent tokens; a model in this process does")
        request = self._request(messages, form)
        most_bytes = _BYTES_BESIDE + _BYTES_A_TOKEN * self._config.max_reply_tokens
        client = self._client()
        wait_s = _FIRST_WAIT_S
        for tries_left in range(self._config.retries, -1, -1):
            try:
                return EndpointStream(client, request, deadline, most_bytes)
            except (OverloadedError, UnreachableError) as error:
                asked_s = error.retry_after_s if isinstance(error, OverloadedError) else None
                pause_s = min(wait_s, _LONGEST_WAIT_S) if asked_s is None else asked_s
                if not tries_left or pause_s >= deadline.remaining_s():
                    raise
                _LOG.info("%s; asking again in %.1f s", error, pause_s)
                time.sleep(pause_s)
                wait_s *= 2.0
        raise AssertionError("the loop ends by returning or raising")

    def _client(self) -> openai.OpenAI:
        """Return the client with the key that the environment holds now."""
        key = os.environ.get(self._config.api_key_variable, "").strip()
        if not key and not self._config.base_url:
            raise ModelMissingError(
                f"no key in ${self._config.api_key_variable}, and no base_url of an endpoint that needs none"
            )
        if not key.isprintable() or not key.isascii():
            raise ModelMissingError(f"the key in ${self._config.api_key_variable} has characters that no key has")
        if key not in self._clients:
            self._clients[key] = open_client(self._base_url, key, self._refusal)
        return self._clients[key]

    def _refusal(self, status: int, headers: Mapping[str, str], said: str) -> LlmError:
        text = f"{self.name} answers {status}: {' '.join(said.split())[:_SHOWN] or 'nothing else'}"
        if status in _TELLS_LATER:
            return OverloadedError(text, _seconds(headers.get("Retry-After", "")))
        if status == 400 and "response_format" in said:
            text += "; `structured: none` asks it for no form"
        if status == 400 and "tool" in said:
            text += "; `tools: json` asks it for calls as JSON"
        return RefusedError(text, status)

    def _request(self, messages: Sequence[Message], form: ReplyForm | None) -> dict[str, Any]:
        config = self._config
        # OpenAI's own newer models refuse the old name, which everybody else still uses.
        limit = "max_completion_tokens" if self._host.endswith("openai.com") else "max_tokens"
        request: dict[str, Any] = {
            "model": config.model,
            "messages": [_as_json(message) for message in messages],
            "temperature": config.temperature,
            limit: config.max_reply_tokens,
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
        elif isinstance(form, GrammarForm) and config.grammar_field:
            request[config.grammar_field] = form.grammar
        elif isinstance(form, ToolForm):
            request["tools"] = [_tool_json(tool) for tool in form.tools]
        return request

    def _read(self, response: EndpointStream, messages: Sequence[Message], lines: ReplyLines) -> Reply:
        usage, finish, beside, calls = None, "", 0, PartialCalls()
        refusal = ""
        for chunk in self._chunks(response):
            if chunk.error is not None:
                raise BrokenReplyError(f"{self.name}: {json.dumps(chunk.error)[:_SHOWN]}")
            usage = chunk.usage or usage
            for choice in chunk.choices[:1]:
                finish = choice.finish_reason or finish
                lines.add(choice.text)
                beside += len(choice.reasoning) + calls.add(choice.calls)
                refusal += choice.refusal
            if lines.length + beside > self._config.max_reply_tokens * _CHARACTERS_A_TOKEN:
                raise TooLongError(f"a reply of more than {self._config.max_reply_tokens} tokens")
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

    def _chunks(self, response: EndpointStream) -> Any:
        """Yield the pieces of a stream of server-sent events, or the one reply of a server that does not stream."""
        if "json" in response.headers.get("Content-Type", ""):
            yield self._chunk(response.body())
            return
        finished = False
        for line in response.lines():
            # Other fields of the protocol, comments and empty lines mean nothing here.
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            chunk = self._chunk(data)
            finished = finished or any(choice.finish_reason for choice in chunk.choices)
            yield chunk
        if not finished:
            raise BrokenReplyError(f"{self.name} ended its reply in the middle")

    def _chunk(self, data: bytes) -> _Chunk:
        try:
            return _Chunk.model_validate_json(data)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, problem["loc"])) or "reply"
            raise BrokenReplyError(f"{self.name} sent no chat completion: {where}: {problem['msg']}") from None


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


class _Chunk(BaseModel):
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
    if not message.pictures:
        return {"role": message.role, "content": message.text}
    shown = [{"type": "image_url", "image_url": {"url": _data_url(picture)}} for picture in message.pictures]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *shown]}


def _tool_json(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _data_url(picture: bytes) -> str:
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


def _seconds(retry_after: str) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110: a number, or a date), None when it does not."""
    try:
        return max(0.0, float(retry_after)) if retry_after.strip().isdigit() else _until(retry_after)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _until(date: str) -> float | None:
    return max(0.0, email.utils.parsedate_to_datetime(date).timestamp() - time.time()) if date else None


def _checked_host(url: str) -> str:
    """Return the host of an http or https URL.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not parts.hostname or any(letter.isspace() for letter in url):
        raise InvalidValueError(f"expected a URL such as http://localhost:8000/v1, got {url!r}")
    return parts.hostname
