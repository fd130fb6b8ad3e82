"""The teacher of the learned compiler: what the rules deliver, as prompts and replies of a model, and their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.alfworld.policy import with_memory
from benchmarks.rows import read_rows
from memory_node.context.brief_state import BriefState, Section
from memory_node.context.guidance import Compiled, Compiler, Delivery, StepObservation
from memory_node.context.prompt_compiler import FORGOTTEN, MOST_USED, Choices, compiler_dialogue, unsaid_of
from memory_node.context.soft_memory import UNSAID
from memory_node.context.task_memory import TaskMemory
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

    It forgets, too, what no subgoal is about any more, so that all four outputs are taught. task: returns whose step it
    is.
    """

    def __init__(self, inner: Compiler, task: Callable[[], str], on_pair: Callable[[CompilerPair], object]) -> None:
        self._inner = inner
        self._task = task
        self._on_pair = on_pair

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return what the inner compiler delivers; see guidance.Compiler."""
        compiled = self._inner.compile(observation, state, memory)
        choices = Choices.of(observation, state, memory)
        reply = reply_of(compiled, choices, observation)
        if reply is None:
            return compiled
        said, guidance = choices.read(reply), compiled.guidance
        messages = compiler_dialogue(observation, choices, repeated(observation.calls))
        left_out = unsaid_of(guidance, observation) if guidance is not None else ()
        told = tuple(map(float, left_out)) if any(left_out) else ()
        goal = str(guidance.goal) if guidance is not None else ""
        executor = tuple(with_memory([Message("user", "")], state.lines(), goal)) if goal else ()
        self._on_pair(CompilerPair(self._task(), messages, reply, said.delivery, executor, goal, told))
        return replace(compiled, delta=(*compiled.delta, *said.delta))  # as the next step starts from it


def balanced(pairs: Sequence[CompilerPair], chance: Callable[[], float]) -> list[CompilerPair]:
    """Return the pairs with guidance, and about as many of those without: most steps of a good executor need none.

    chance: numbers in [0, 1).
    """
    guided = sum(pair.delivery is not Delivery.NOACTION for pair in pairs)
    share = guided / max(len(pairs) - guided, 1)
    return [pair for pair in pairs if pair.delivery is not Delivery.NOACTION or chance() < share]


def reply_of(compiled: Compiled, choices: Choices, observation: StepObservation) -> str | None:
    """Return the reply by which a model would deliver the same, and forget: what a learned compiler is taught to say.

    Of a reason of several beliefs the first is said, and of the entries those that were shown. None: it cannot be said.
    """
    guidance, items = compiled.guidance, list(choices.items)
    call = because = -1
    entries: list[int] = []
    if guidance is not None:
        # "Not known" is no belief; the reason for searching the thing is one.
        believed = (*guidance.reason.split("; "), *choices.state.items(Section.CURRENT))
        reason = next((text for text in believed if text in choices.items), "")
        if guidance.goal not in choices.calls or not reason:
            return None
        call, because = choices.calls.index(guidance.goal), items.index(reason)
        ids = [entry.id for entry in choices.shown]
        entries = [ids.index(one) for one in guidance.entries if one in ids][:MOST_USED]
    forget = [number for number in _idle(choices, observation) if number != because][:MOST_FORGOTTEN]
    named = {(True, True): Delivery.HYBRID, (True, False): Delivery.EXPERIENCE, (False, True): Delivery.BRIEF}
    delivery = named.get((guidance is not None, bool(forget)), Delivery.NOACTION)
    row = {"delivery": str(delivery), "call": call, "because": because, "entries": entries, "forget": forget}
    return json.dumps(row)


def _idle(choices: Choices, observation: StepObservation) -> Iterator[int]:
    """Yield the numbers of what is believed of things that neither the subgoals nor the step name."""
    state = choices.state
    wanted = {word for text in (state.goal, state.current, *state.pending) for word in text.split()}
    about = {name for name, kind in observation.classes.items() if kind in wanted or name in wanted}
    about |= {name for call in observation.calls[-1:] for name in call.arguments}
    for number, (text, section) in enumerate(choices.items.items()):
        beside = not any(text.startswith(f"{name} ") for name in about)
        if beside and section in FORGOTTEN:
            yield number


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
