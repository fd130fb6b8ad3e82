"""A language model behind any OpenAI-compatible endpoint (`POST /v1/chat/completions`), as a stream."""

from __future__ import annotations

import email.utils
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import openai

from memory_node.domain.context import estimate_tokens
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import GrammarForm, Message, Reply, ReplyForm, ignore
from memory_node.llm.chat_completion import PROMPT_EMBEDS, Chunk, completion_request, parse_chunk, read_reply
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
)
from memory_node.llm.reply_lines import ReplyLines

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
        allowed = Deadline(self._config.timeout_s)
        deadline = deadline.within(self._config.timeout_s) if deadline is not None else allowed
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
