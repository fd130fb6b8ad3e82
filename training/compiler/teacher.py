"""The teacher of the learned compiler: what the rules deliver, as prompts and replies of a model, and their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.alfworld.policy import with_memory
from benchmarks.rows import read_rows
from memory_node.context.brief_state import BriefState, Delete, Section
from memory_node.context.guidance import Compiled, Compiler, Delivery, StepObservation
from memory_node.context.prompt_compiler import (
    MOST_USED,
    Choices,
    SaidCompilation,
    compiler_dialogue,
    possible_goals,
    shown_entries,
    unsaid_of,
)
from memory_node.context.soft_memory import UNSAID
from memory_node.context.task_memory import Entry, TaskMemory
from memory_node.episodes.class_actions import repeated
from memory_node.llm.chat import Message

# At one step.
MOST_FORGOTTEN = 3


@dataclass(frozen=True)
class CompilerPair:
    """One step of an episode: the dialogue that asks for it, and the reply that is right. task: whose step it was.

    executor, action: what the executor was told with that reply, and what it did; empty where it was told nothing.
    unsaid: what words leave out of the thing that is advised, () for nothing; see context/soft_memory.py.
    """

    task: str
    messages: tuple[Message, ...]
    reply: str
    delivery: Delivery
    executor: tuple[Message, ...] = ()
    action: str = ""
    unsaid: tuple[float, ...] = ()

    def to_row(self) -> dict[str, Any]:
        """Return plain values, as JSON takes them."""
        row: dict[str, Any] = {"task": self.task, "messages": _plain(self.messages), "reply": self.reply}
        row |= {"executor": _plain(self.executor), "action": self.action} if self.action else {}
        return row | ({"unsaid": self.unsaid} if self.unsaid else {})


def _plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in messages]


class RecordingTeacher:
    """A compiler that delivers what another one does, and tells each step as a pair, where a learner could say it.

    task: returns whose step it is. chooses: whether it chooses by numbers; it is then taught to forget what no subgoal
    is about any more, too.
    """

    def __init__(
        self,
        inner: Compiler,
        task: Callable[[], str],
        on_pair: Callable[[CompilerPair], object],
        chooses: bool = False,
    ) -> None:
        self._chooses = chooses
        self._inner = inner
        self._task = task
        self._on_pair = on_pair

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return what the inner compiler delivers; see guidance.Compiler."""
        compiled = self._inner.compile(observation, state, memory)
        shown = shown_entries(observation, memory)
        avoid = repeated(observation.calls)
        reply = reply_of(compiled, shown, state)
        sayable = {str(call): None for call in possible_goals(observation, shown)}
        if compiled.guidance is None or (reply.goal in sayable and reply.reason):
            choices = Choices.of(tuple(sayable), state, len(shown)) if self._chooses else None
            if choices is not None:
                reply = with_forgetting(reply, state, observation)
                compiled = replace(compiled, delta=(*compiled.delta, *reply.delta))  # as the next step starts from it
            messages = compiler_dialogue(observation, state, shown, avoid, choices)
            text = reply.model_dump_json(exclude={"delta"}) if choices is None else said_by_numbers(reply, choices)
            left_out = unsaid_of(compiled.guidance, observation) if compiled.guidance is not None else ()
            told = tuple(map(float, left_out)) if any(left_out) else ()
            executor = with_memory([Message("user", "")], state.lines(), reply.goal) if reply.goal else ()
            self._on_pair(CompilerPair(self._task(), messages, text, reply.delivery, tuple(executor), reply.goal, told))
        return compiled


def balanced(pairs: Sequence[CompilerPair], chance: Callable[[], float]) -> list[CompilerPair]:
    """Return the pairs with guidance, and about as many of those without: most steps of a good executor need none.

    chance: numbers in [0, 1).
    """
    guided = sum(pair.delivery is not Delivery.NOACTION for pair in pairs)
    share = guided / max(len(pairs) - guided, 1)
    return [pair for pair in pairs if pair.delivery is not Delivery.NOACTION or chance() < share]


def reply_of(compiled: Compiled, shown: Sequence[Entry], state: BriefState) -> SaidCompilation:
    """Return the reply by which a model would deliver the same: what a learned compiler is taught to say.

    Of a reason of several beliefs the first is said, and of the entries those that were shown.
    """
    guidance = compiled.guidance
    if guidance is None:
        return SaidCompilation(delivery=Delivery.NOACTION)
    ids = [entry.id for entry in shown]
    beliefs = {text for section in Section for text in state.items(section)}
    # "Not known" is no belief; the reason for searching the thing is one.
    current = next(iter(state.items(Section.CURRENT)), "")
    reason = next((text for text in guidance.reason.split("; ") if text in beliefs), current)
    entries = tuple(ids.index(one) for one in guidance.entries if one in ids)[:MOST_USED]
    return SaidCompilation(delivery=Delivery.EXPERIENCE, goal=str(guidance.goal), reason=reason, entries=entries)


def with_forgetting(reply: SaidCompilation, state: BriefState, observation: StepObservation) -> SaidCompilation:
    """Return a reply that forgets, too, what is believed of things that neither the subgoals nor the step name.

    So all four outputs are taught. The reason of the guidance stays.
    """
    wanted = {word for text in (state.goal, state.current, *state.pending) for word in text.split()}
    about = {name for name, kind in observation.classes.items() if kind in wanted or name in wanted}
    about |= {name for call in observation.calls[-1:] for name in call.arguments}
    gone = tuple(
        Delete(section=section, text=text)
        for section in (Section.LOCATIONS, Section.FACTS)
        for text in state.items(section)
        if text != reply.reason and not any(text.startswith(f"{name} ") for name in about)
    )[:MOST_FORGOTTEN]
    if not gone:
        return reply
    delivery = Delivery.HYBRID if reply.delivery is Delivery.EXPERIENCE else Delivery.BRIEF
    return reply.model_copy(update={"delivery": delivery, "delta": gone})


def said_by_numbers(reply: SaidCompilation, choices: Choices) -> str:
    """Return a reply as a choice, see Choices.

    Raises:
        ValueError: what it names cannot be chosen.
    """
    call = choices.calls.index(reply.goal) if reply.goal else -1
    because = choices.beliefs.index(reply.reason) if reply.goal else -1
    forget = [choices.beliefs.index(one.text) for one in reply.delta if isinstance(one, Delete)]
    row = {"delivery": reply.delivery, "call": call, "because": because, "entries": reply.entries, "forget": forget}
    return json.dumps(row, default=str)


def write_pairs(path: Path, pairs: Iterable[CompilerPair]) -> None:
    """Write pairs."""
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(pair.to_row(), ensure_ascii=False) + "\n")


def read_pairs(path: Path) -> Iterator[CompilerPair]:
    """Yield the pairs of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no pair; the message names it.
    """
    return read_rows(path, "pair", _pair)


def _pair(row: Mapping[str, Any]) -> CompilerPair:
    reply = str(row["reply"])
    delivery = Delivery(json.loads(reply)["delivery"])
    executor, action = _dialogue(row.get("executor", [])), str(row.get("action", ""))
    unsaid = tuple(map(float, row.get("unsaid", ())))
    if len(unsaid) not in (0, UNSAID):
        raise ValueError(f"unsaid: expected {UNSAID} numbers, got {len(unsaid)}")
    said = str(row["task"]), _dialogue(row["messages"]), reply
    return CompilerPair(*said, delivery, executor, action, unsaid)


def _dialogue(turns: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(Message(turn["role"], str(turn["content"])) for turn in turns)
