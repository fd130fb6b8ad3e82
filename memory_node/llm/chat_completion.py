"""A chat completion, as OpenAI's protocol has it: the request, and its answer in pieces or whole."""

from __future__ import annotations

import base64
import io
import json
import struct
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from memory_node.domain.context import estimate_tokens
from memory_node.llm.chat import (
    BrokenReplyError,
    JsonForm,
    Message,
    Reply,
    ReplyForm,
    Tool,
    ToolCall,
    ToolForm,
    TooLongError,
)
from memory_node.llm.config import ModelConfig
from memory_node.llm.tool_calls import arguments_of


def tensor_file(matrix: NDArray[np.float32]) -> bytes:
    """Return a float32 matrix (rows, columns) as `torch.save` writes it, without torch: vLLM takes such embeddings."""
    rows, columns = matrix.shape
    storage = (
        b"(" + _text("storage") + b"ctorch\nFloatStorage\n" + _text("0") + _text("cpu") + _number(matrix.size) + b"t"
    )
    shape = _number(rows) + _number(columns) + b"\x86"
    strides = _number(columns) + _number(1) + b"\x86"
    # Opcodes of pickle: a persistent id (Q), what rebuilds a tensor of it, False, and an empty OrderedDict of hooks.
    rebuilt = b"(" + storage + b"Q" + _number(0) + shape + strides + b"\x89" + b"ccollections\nOrderedDict\n)R" + b"t"
    pickled = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + rebuilt + b"R."
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/data/0", np.ascontiguousarray(matrix, "<f4").tobytes())
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def _text(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text)) + text.encode("ascii")


def _number(number: int) -> bytes:
    return b"J" + struct.pack("<i", number)


class ReplyLines:
    """Collects a reply piece by piece and calls `on_line` with each line that is complete.

    first_s: seconds from the beginning to the first piece that says something, 0 before.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._began = time.monotonic()
        self._pieces: list[str] = []
        self._open = ""
        self.length = 0
        self.first_s = 0.0

    def add(self, piece: str) -> None:
        """Take the next piece of the reply."""
        if piece and not self.length:
            self.first_s = time.monotonic() - self._began
        self._pieces.append(piece)
        self.length += len(piece)
        *complete, self._open = (self._open + piece).split("\n")
        for line in complete:
            self._on_line(line)

    def end(self) -> str:
        """Tell the last line, and return the whole reply."""
        if self._open:
            self._on_line(self._open)
        return "".join(self._pieces)


@dataclass
class _BegunCall:
    id: str = ""
    name: str = ""
    text: str = ""
    given: dict[str, Any] | None = None


@dataclass
class PartialCalls:
    """The calls so far, in their order."""

    _calls: dict[int, _BegunCall] = field(default_factory=dict)

    def add(self, pieces: Sequence[_Call]) -> int:
        """Take pieces in; return how many characters they are."""
        length = 0
        for piece in pieces:
            call = self._calls.setdefault(self._index(piece), _BegunCall())
            name, arguments = piece.function.name or "", piece.function.arguments
            call.id = call.id or piece.id or ""
            # Some endpoints repeat the whole name in each piece.
            call.name = call.name if name == call.name else call.name + name
            if isinstance(arguments, dict):
                call.given = arguments
                length += len(json.dumps(arguments))
            elif arguments is not None:
                call.text += str(arguments)
                length += len(str(arguments))
            length += len(name)
        return length

    def _index(self, piece: _Call) -> int:
        if piece.index >= 0:
            return piece.index
        begins = bool(piece.function.name) or not self._calls
        return len(self._calls) if begins else max(self._calls)

    def whole(self) -> tuple[ToolCall, ...]:
        """Return the calls. One without a name is none: some endpoints end a reply with an empty call."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        return tuple(
            ToolCall(
                one.name, one.given if one.given is not None else arguments_of(one.text), one.id or f"call_{number}"
            )
            for number, one in enumerate(calls, 1)
            if one.name
        )


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
    """A piece of a call. index: of its call in the reply, -1 where the endpoint does not say. The function's arguments
    are a piece of their JSON, or all of them as an object, which some endpoints send."""

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
    def calls(self) -> list[_Call]:
        """The pieces of tool calls; a lone function_call is the older form of one."""
        old = self._part.function_call
        return self._part.tool_calls or ([_Call(index=0, function=old)] if old is not None else [])


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
