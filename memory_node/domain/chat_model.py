"""A language model behind any OpenAI-compatible endpoint: one reply at a time, streamed, with its cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import openai
from pydantic import Field

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.parameters import Parameters

Message = dict[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
_CHARACTERS_A_TOKEN = 4  # where an endpoint does not say how many tokens it counted
# No tokenizer has words this long on average: an endpoint that sends more does not keep to what it was asked for.
_MOST_CHARACTERS_A_TOKEN = 64


class ChatModelError(RobotMemoryError):
    """The model could not be reached, refused, or did not finish in time."""


class ChatConfig(Parameters):
    """Which model to ask, where, and how."""

    base_url: str = Field(default="", description="OpenAI-compatible endpoint; empty: the openai package's own")
    model: str = Field(default="gpt-4o", description="name of the model at the endpoint")
    api_key_variable: str = Field(
        default="OPENAI_API_KEY",
        description="environment variable that holds the endpoint's key; local endpoints take any",
    )
    temperature: float = Field(default=0.0, ge=0.0, le=2.0, description="sampling temperature")
    max_reply_tokens: int = Field(default=800, ge=1, le=32_000, description="tokens of one reply at most")
    timeout_s: float = Field(
        default=60.0, ge=0.1, le=3600.0, description="time for one reply, from the request to its last word"
    )


@dataclass(frozen=True)
class Reply:
    """A finished reply and the tokens that it took."""

    text: str
    tokens_in: int
    tokens_out: int


def _ignore(_: str) -> None:
    return None


class ChatModel(Protocol):
    """Answers a dialogue."""

    def reply(
        self,
        messages: Sequence[Message],
        on_line: Callable[[str], None] = _ignore,
        timeout_s: float | None = None,
    ) -> Reply:
        """Return the reply; `on_line` gets each line of it as soon as it is complete.

        timeout_s: less time than the model is otherwise given.

        Raises:
            ChatModelError: there is none.
        """


class OpenAiChatModel:
    """A ChatModel over the `openai` package; makes no connection before the first reply is asked for."""

    def __init__(self, config: ChatConfig) -> None:
        self._config = config
        self._client: openai.OpenAI | None = None

    def reply(
        self,
        messages: Sequence[Message],
        on_line: Callable[[str], None] = _ignore,
        timeout_s: float | None = None,
    ) -> Reply:
        """Stream a reply within the configured time; see ChatModel."""
        allowed_s = min(timeout_s or self._config.timeout_s, self._config.timeout_s)
        deadline = time.monotonic() + allowed_s
        text, usage = "", None
        try:
            for chunk in self._stream(messages, allowed_s):
                if time.monotonic() > deadline:
                    raise ChatModelError(f"no whole reply within {allowed_s:g} s")
                usage = getattr(chunk, "usage", None) or usage
                added = _content(chunk)
                *lines, _ = (text.rpartition("\n")[2] + added).split("\n")
                text += added
                if len(text) > self._config.max_reply_tokens * _MOST_CHARACTERS_A_TOKEN:
                    raise ChatModelError(f"a reply of more than {self._config.max_reply_tokens} tokens")
                for line in lines:
                    on_line(line)
        except openai.OpenAIError as error:
            raise ChatModelError(f"{self._config.model}: {error}") from error
        if text and not text.endswith("\n"):
            on_line(text.rpartition("\n")[2])
        sent = sum(len(message["content"]) for message in messages)
        tokens_in = usage.prompt_tokens if usage else sent // _CHARACTERS_A_TOKEN
        tokens_out = usage.completion_tokens if usage else len(text) // _CHARACTERS_A_TOKEN
        return Reply(text, tokens_in, tokens_out)

    def _stream(self, messages: Sequence[Message], timeout_s: float) -> Any:
        if self._client is None:
            key = os.environ.get(self._config.api_key_variable, "")
            if not key and not self._config.base_url:
                raise ChatModelError(f"no key in ${self._config.api_key_variable} and no base_url of a local endpoint")
            self._client = openai.OpenAI(api_key=key or "none", base_url=self._config.base_url or None, max_retries=1)
        return self._client.chat.completions.create(  # type: ignore[call-overload]
            model=self._config.model,
            messages=list(messages),
            temperature=self._config.temperature,
            max_tokens=self._config.max_reply_tokens,
            stream=True,
            stream_options={"include_usage": True},
            timeout=timeout_s,
        )


def _content(chunk: Any) -> str:
    """Return the text that a chunk adds; endpoints send chunks without any."""
    choices = getattr(chunk, "choices", None) or []
    delta = getattr(choices[0], "delta", None) if choices else None
    return str(getattr(delta, "content", None) or "")
