"""A language model behind any OpenAI-compatible endpoint (`POST /v1/chat/completions`), as a stream."""

from __future__ import annotations

import email.utils
import importlib
import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import openai

from memory_node.domain.context import estimate_tokens
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import (
    BrokenReplyError,
    Deadline,
    GrammarForm,
    LateError,
    LlmError,
    Message,
    ModelMissingError,
    OverloadedError,
    Pieces,
    RefusedError,
    Reply,
    ReplyForm,
    TooLongError,
    UnreachableError,
    ignore,
)
from memory_node.llm.chat_completion import (
    PROMPT_EMBEDS,
    Chunk,
    ReplyLines,
    completion_request,
    parse_chunk,
    read_reply,
)
from memory_node.llm.config import ModelConfig

# The release of httpx that this release of openai is built on.
_BASES = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
_httpx: Any = importlib.import_module(next(name for name in _BASES if name.startswith("httpx")))
_MOST_TOLD_BYTES = 1200
# How httpx says that the other side closed the connection: not that it speaks no HTTP.
_CLOSED = ("peer closed connection", "Server disconnected")

# Makes an error of an answer's status, headers and the beginning of its body.
Refusal = Callable[[int, Mapping[str, str], str], LlmError]


def open_client(base_url: str, key: str, refusal: Refusal) -> openai.OpenAI:
    """Return a client that follows no redirect, asks once, and refuses every answer but a plain 200 before its body is
    read. key: "" for none."""
    host = _httpx.URL(base_url).host

    def check(response: Any) -> None:
        if response.status_code != _httpx.codes.OK:
            raise refusal(response.status_code, response.headers, _beginning(response))
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BrokenReplyError(f"{host} packs its reply, which was not asked for")

    def sign(request: Any) -> None:
        request.headers["Accept-Encoding"] = "identity"
        if not key:
            del request.headers["Authorization"]

    http = openai.DefaultHttpxClient(follow_redirects=False, event_hooks={"request": [sign], "response": [check]})
    return openai.OpenAI(base_url=base_url, api_key=key or "none", max_retries=0, http_client=http)


def _beginning(response: Any) -> str:
    try:
        said = b"".join(itertools.islice(response.iter_raw(_MOST_TOLD_BYTES), 1))
    except _httpx.HTTPError:
        return ""
    return said.decode("utf-8", "replace")


class EndpointStream:
    """The answer to one request; a context manager that lets go of it.

    httpx, under the openai client, has a timeout for each read and none for a name that is looked up. So the request
    runs in a thread of its own, and whoever asked waits until the deadline and no longer.

    Raises:
        LateError: the deadline passed. TooLongError: more bytes came than allowed. UnreachableError: the connection
        broke. BrokenReplyError: what came is no HTTP. LlmError: what the client's refusal made. Every method raises
        these.
    """

    def __init__(self, client: openai.OpenAI, request: Mapping[str, Any], deadline: Deadline, most_bytes: int) -> None:
        self._host = client.base_url.host
        self._late = f"{self._host} was silent until the deadline"
        run = partial(self._run, client, dict(request), deadline.left_s(), most_bytes)
        self._pieces = Pieces(run, "endpoint", deadline, self._late)
        self.headers: Any = self._pieces.next()

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the body as they come, without their ends."""
        rest = b""
        while piece := self._pieces.next():
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
        if rest:
            yield rest

    def body(self) -> bytes:
        """Return the whole body."""
        return b"".join(iter(self._pieces.next, b""))

    def __enter__(self) -> EndpointStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._pieces.is_wanted = False

    def _run(
        self, client: openai.OpenAI, request: dict[str, Any], timeout_s: float, most_bytes: int, to: Pieces
    ) -> None:
        """Bring the headers, then each piece of the body, b"" behind the last."""
        try:
            named = {name: request.pop(name) for name in ("model", "messages", "stream")}
            asking = client.chat.completions.with_streaming_response
            with asking.create(**named, extra_body=request, timeout=timeout_s) as response:
                to.put(response.headers)
                received = 0
                for piece in response.http_response.iter_raw():
                    received += len(piece)
                    if received > most_bytes:
                        raise TooLongError(f"the reply has more than {most_bytes} bytes")
                    to.put(piece)
                    if not to.is_wanted:
                        return
            to.put(b"")
        except Exception as error:  # whoever waits raises it
            to.put(self._as_ours(error))

    def _as_ours(self, error: Exception) -> LlmError:
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) and error.__cause__ else error
        if isinstance(cause, LlmError):
            return cause
        if isinstance(cause, _httpx.TimeoutException | openai.APITimeoutError):
            return LateError(self._late)
        text = f"{type(cause).__name__} {cause!s:.80}"
        if isinstance(cause, _httpx.RemoteProtocolError) and not str(cause).startswith(_CLOSED):
            return BrokenReplyError(f"{self._host} does not speak HTTP: {text}")
        if isinstance(cause, _httpx.TransportError | OSError):
            return UnreachableError(f"{self._host}: {text}")
        return BrokenReplyError(f"{self._host}: {text}")


_LOG = logging.getLogger(__name__)
_PUBLIC_URL = "https://api.openai.com/v1"
_NEW_NAME = ("openai.com", "openai.azure.com")
# A piece of a stream is one token wrapped in some 300 bytes of JSON.
_BYTES_A_TOKEN = 2048
_BYTES_BESIDE = 65_536
_TELLS_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
# How servers say that a prompt exceeds the model's window.
_TOO_LONG = ("context_length_exceeded", "exceed_context_size", "maximum context length", "ContextWindowExceeded")
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
        deadline = (deadline or Deadline(self._config.timeout_s)).within(self._config.timeout_s)
        lines = ReplyLines(on_line)
        with self._answer(messages, form, deadline) as response:
            return read_reply(self._chunks(response), messages, lines, self._config.max_reply_tokens)

    def _answer(self, messages: Sequence[Message], form: ReplyForm | None, deadline: Deadline) -> EndpointStream:
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
        if any(sign in said for sign in _TOO_LONG):
            return TooLongError(text)
        if status in _TELLS_LATER:
            return OverloadedError(text, _seconds(headers.get("Retry-After", "")))
        if status == 400 and "response_format" in said:
            text += "; `structured: none` asks it for no form"
        if status == 400 and "tool" in said:
            text += "; `tools: json` asks it for calls as JSON"
        if status == 400 and PROMPT_EMBEDS in said:
            text += "; latent tokens need vLLM with --enable-prompt-embeds"
        return RefusedError(text, status)

    def _request(self, messages: Sequence[Message], form: ReplyForm | None) -> dict[str, Any]:
        request = completion_request(self._config, messages, form)
        if self._host.endswith(_NEW_NAME):  # its newer models refuse the old name, which everybody else still uses
            request["max_completion_tokens"] = request.pop("max_tokens")
        if isinstance(form, GrammarForm) and self._config.grammar_field:
            request[self._config.grammar_field] = form.grammar
        return request

    def _chunks(self, response: EndpointStream) -> Iterator[Chunk]:
        """Yield the pieces of a stream of server-sent events, or the one reply of a server that does not stream."""
        if "json" in response.headers.get("Content-Type", ""):
            yield parse_chunk(response.body())
            return
        finished = False
        for line in response.lines():
            # Other fields of the protocol, comments and empty lines mean nothing here.
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            chunk = parse_chunk(data)
            finished = finished or any(choice.finish_reason for choice in chunk.choices)
            yield chunk
        if not finished:
            raise BrokenReplyError(f"{self.name} ended its reply in the middle")


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
