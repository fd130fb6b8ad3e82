"""What a language model is: it answers a dialogue, within a deadline, in a given form, or says what went wrong."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import RobotMemoryError


class LlmError(RobotMemoryError):
    """A language model gave no reply that can be used; the message says why."""


class ModelMissingError(LlmError):
    """A package, a file or a key that the model needs is not there."""


class UnreachableError(LlmError):
    """The endpoint cannot be reached, or the connection broke."""


class RefusedError(LlmError):
    """The endpoint refuses the request; asking again brings nothing."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class OverloadedError(LlmError):
    """The endpoint cannot answer now. retry_after_s: when it wants to be asked again, None where it does not say."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class LateError(LlmError):
    """The deadline passed before the reply was whole."""


class TooLongError(LlmError):
    """A reply has more bytes or words than were asked for, or a prompt more tokens than the model reads."""


class BrokenReplyError(LlmError):
    """What came is no reply of this protocol: not HTTP, not JSON, or another shape."""


class UnsupportedError(LlmError):
    """The model cannot do this, for example look at pictures."""


class RejectedReplyError(LlmError):
    """A reply that is not taken over; `reason` is the counter that it is counted under."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class Deadline:
    """A moment of the monotonic clock, and how many seconds it was away when it was set."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def within(self, seconds: float) -> Deadline:
        """Return the earlier one: this, or so many seconds from now."""
        return self if self.remaining_s() <= seconds else Deadline(seconds)

    def remaining_s(self) -> float:
        """Return the seconds until then; negative when it has passed."""
        return self._at - time.monotonic()

    @property
    def passed(self) -> bool:
        """Whether it has passed."""
        return self.remaining_s() <= 0.0

    def left_s(self) -> float:
        """Return the seconds until then, more than 0.

        Raises:
            LateError: it has passed.
        """
        left_s = self.remaining_s()
        if left_s <= 0.0:
            raise LateError(f"no whole reply within {self.seconds:g} s")
        return left_s


class Pieces:
    """What a thread of its own brings for who waits until a deadline and no longer; `is_wanted` tells it to go on.

    Args:
        bring: called by the thread; puts pieces, and an LlmError where there is no further one.
        name: of the thread.
        late: says what is late.
    """

    def __init__(self, bring: Callable[[Pieces], None], name: str, deadline: Deadline, late: str) -> None:
        self._came: queue.Queue[Any] = queue.Queue()
        self._deadline, self._late = deadline, late
        self.is_wanted = True
        self.put = self._came.put
        threading.Thread(target=bring, args=(self,), name=name, daemon=True).start()

    def next(self) -> Any:
        """Return the next piece.

        Raises:
            LateError: the deadline passed. LlmError: the thread brings it.
        """
        try:
            came = self._came.get(timeout=self._deadline.left_s())
        except queue.Empty:
            raise LateError(self._late) from None
        if isinstance(came, LlmError):
            raise came
        return came


Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolCall:
    """A call that a model makes. arguments: by name, as JSON has them; id: by which its result is told, "" for none."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Tool:
    """What a model may call. parameters: JSON Schema of an object, without $ref, $defs and anyOf, which some endpoints
    do not take."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """One turn of a dialogue. pictures: JPEG or PNG files, shown after the text. latent: (n, width) vectors in the
    model's embedding space that stand behind the text: a model in this process takes them, and vLLM.
    tool_calls: of the assistant; call_id: of the call whose result a message of the role "tool" tells.

    Where the last message of a dialogue is the assistant's, the model goes on with it.
    """

    role: Role
    text: str
    pictures: tuple[bytes, ...] = ()
    latent: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class JsonForm:
    """The reply is one JSON value of this schema (JSON Schema, as pydantic writes it)."""

    schema: Mapping[str, Any]
    name: str = "reply"


@dataclass(frozen=True)
class GrammarForm:
    """The reply is a text of this grammar (GBNF, llama.cpp's form of it)."""

    grammar: str


@dataclass(frozen=True)
class ToolForm:
    """The reply calls some of these tools, by the endpoint's own tool calls. Only a ToolModel takes it."""

    tools: tuple[Tool, ...]


ReplyForm = JsonForm | GrammarForm | ToolForm


@dataclass(frozen=True)
class Reply:
    """A reply and its cost.

    tokens_in: of the prompt; tokens_cached: those of them that were read in an earlier call. whole: the model ended it
    by itself, and not at the limit of tokens. first_token_s: seconds until it began. tool_calls: those of the protocol;
    reply_reader finds those in the text. refusal: why the model or a filter before it gives no answer, "" for not.
    """

    text: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    whole: bool = True
    first_token_s: float = 0.0
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str = ""


def ignore(_: object) -> None:
    """Take no notice."""


class ChatModel(Protocol):
    """Answers dialogues; may be used from several threads."""

    @property
    def name(self) -> str:
        """The model's name, for messages and records."""

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Return the reply. on_line gets each line of it as soon as it is complete.

        deadline: for everything from the request to the last word; the model's own limit holds too. form: what the
        reply must look like; a model that cannot be held to a form is still asked, so the reply is checked anyway.

        Raises:
            LlmError: there is no reply; its subclasses tell the causes apart.
        """

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model takes the text for; an estimate where its tokenizer is not known."""


@runtime_checkable
class ToolModel(ChatModel, Protocol):
    """A ChatModel that may take a ToolForm. native_tools: whether it does now."""

    @property
    def native_tools(self) -> bool:
        """Whether tools are told and called by the protocol, not in words."""


@runtime_checkable
class LatentModel(ChatModel, Protocol):
    """A ChatModel whose messages may hold latent vectors, and whose inner states can be asked for."""

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
    ) -> NDArray[np.float32]:
        """Return the last layer's states (n, width) of vectors (n, width) that follow a dialogue and the reply to it.

        wording: of the reply, between it and the vectors, in as many tokens as there are vectors; see fitted.

        Raises:
            LlmError: they could not be computed.
        """
