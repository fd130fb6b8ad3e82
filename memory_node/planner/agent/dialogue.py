"""The dialogue with a model. It only grows, so endpoints that cache read each word once; old results fold rarely."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_node.domain.context import estimate_tokens
from memory_node.llm.ask import answer_of
from memory_node.llm.chat import (
    ChatModel,
    Deadline,
    JsonForm,
    Message,
    RejectedReplyError,
    Tool,
    ToolCall,
    ToolForm,
    ToolModel,
)
from memory_node.llm.reply_reader import answer_in
from memory_node.llm.tool_calls import tool_calls_in
from memory_node.planner.agent.tools import MOST_CALLS_A_REPLY, calls_form, exact_calls_form
from memory_node.planner.planner_config import LlmConfig, ModelAccount

# Tokens behind the beginning from which old results are folded, and how many of the newest messages stay whole.
_FOLDED_FROM = 6000
_KEPT_WHOLE = 8
_FOLDED_LENGTH = 100
_LONGEST_RESULT = 2400
_LONGEST_WORDS = 2000
# What these tell stays whole: nobody says it again.
_KEPT = frozenset({"ask_person", "ask_memory", "recall_past"})


@dataclass(frozen=True)
class Turn:
    """What a model said in one reply: calls, else words."""

    calls: tuple[ToolCall, ...]
    words: str


class AgentDialogue:
    """The messages of one instruction, and how they are sent.

    beginning: the system prompt and the task. config: a model in this process keeps to a grammar, and a whole plan is
    one JSON object whatever the endpoint's tool calls can hold.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: Sequence[Tool],
        beginning: Sequence[Message],
        account: ModelAccount,
        config: LlmConfig,
    ) -> None:
        self._model = model
        self._tools = tuple(tools)
        self._account = account
        self._native = isinstance(model, ToolModel) and model.native_tools and config.mode == "agent"
        form: JsonForm | ToolForm = ToolForm(self._tools) if self._native else calls_form(tools, config.max_steps)
        most = MOST_CALLS_A_REPLY if config.mode == "agent" else config.max_steps
        self._form = exact_calls_form(tools, most) if config.in_process else form
        self._beginning = tuple(beginning) if self._native else _with_tools_in_words(beginning, tools)
        self._rest: list[Message] = []
        self._results: list[str] = []  # of calls in words, told together
        self._shown: list[Message] = []  # pictures, behind the results: a result holds none by the protocol
        self._kept: set[str] = set()  # texts that stay whole
        self._calls = 0

    def ask(self, timeout_s: float) -> Turn:
        """Return the model's next calls.

        Raises:
            RejectedReplyError: the reply was cut off, a refusal, or empty; the model is told when it is asked again.
            LlmError: there is no reply.
        """
        self._flush()
        self._fold()
        started = time.monotonic()
        try:
            reply = self._model.reply((*self._beginning, *self._rest), Deadline(timeout_s), self._form)
        finally:
            self._account.seconds += time.monotonic() - started
        self._account.charge(reply)
        calls = tool_calls_in(reply, self._tools) if reply.whole and not reply.refusal else ()
        if not calls:
            try:
                words = answer_of(reply)
            except RejectedReplyError as error:
                self.say(f"Your reply is not used ({error}). Call a tool.")
                raise
            self._rest.append(Message("assistant", words[:_LONGEST_WORDS]))
            return Turn((), words)
        self._account.valid += 1
        numbered = tuple(replace(call, id=f"c{self._calls + number}") for number, call in enumerate(calls, 1))
        self._calls += len(calls)
        words = answer_in(reply.text)[:_LONGEST_WORDS] if reply.tool_calls else ""
        if self._native:
            self._rest.append(Message("assistant", words, tool_calls=numbered))
        else:
            said = [{"name": call.name, "arguments": dict(call.arguments)} for call in numbered]
            self._rest.append(Message("assistant", json.dumps({"calls": said})))
        return Turn(numbered, words)

    def tell(self, call: ToolCall, result: str) -> None:
        """Tell the result of a call."""
        if len(result) > _LONGEST_RESULT:
            result = f"{result[:_LONGEST_RESULT].rstrip()} ... (cut here; ask for less at once)"
        text = result if self._native else f"{call.name}: {result}"
        self._kept |= {text} if call.name in _KEPT else set()
        if self._native:
            self._rest.append(Message("tool", text, call_id=call.id))
        else:
            self._results.append(text)

    def say(self, text: str) -> None:
        """Tell something that is no result, and stays whole."""
        self._flush()
        self._kept.add(text)
        self._rest.append(Message("user", text))

    def show(self, text: str, pictures: tuple[bytes, ...]) -> None:
        """Show pictures when the results of all calls are told. text: what they show."""
        self._shown.append(Message("user", text, pictures))

    def _flush(self) -> None:
        if self._results:
            text = "\n".join(self._results)
            self._kept |= set() if self._kept.isdisjoint(self._results) else {text}
            self._rest.append(Message("user", text))
            self._results.clear()
        self._rest += self._shown
        self._shown.clear()

    def _fold(self) -> None:
        """Shorten all but the newest messages, all at once: each change of old text costs a cache."""
        if sum(estimate_tokens(message.text) for message in self._rest) < _FOLDED_FROM:
            return
        old = self._rest[:-_KEPT_WHOLE]
        self._rest[:-_KEPT_WHOLE] = [
            replace(one, text=_folded(one.text), pictures=())
            if one.text not in self._kept and (one.role != "assistant" or one.tool_calls)
            else one
            for one in old
        ]


def _folded(text: str) -> str:
    return text if len(text) <= _FOLDED_LENGTH else f"{text[:_FOLDED_LENGTH].rstrip()} ..."


def _with_tools_in_words(beginning: Sequence[Message], tools: Sequence[Tool]) -> tuple[Message, ...]:
    arguments = [json.dumps(dict(tool.parameters["properties"])) for tool in tools]
    told = ["# Tools", *(f"- {one.name}: {one.description} arguments: {said}" for one, said in zip(tools, arguments))]
    told.append('Answer with one JSON object and nothing else: {"calls": [{"name": ..., "arguments": {...}}]}')
    system, *rest = beginning
    return (replace(system, text="\n".join((f"{system.text.rstrip()}\n", *told))), *rest)
