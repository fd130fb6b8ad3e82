"""The compiler that asks a language model at each step, for a JSON object that names all by numbers.

A reply that cannot be used is NOACTION.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, create_model

from memory_node.context.brief_state import BriefState, Delete, InvalidDeltaError, Operation, Section, apply
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiled, Delivery, Guidance, StepObservation, said
from memory_node.context.soft_memory import UNSAID, SoftMemoryWeights
from memory_node.context.task_memory import Entry, EntryKind, Subgoal, TaskMemory, fitted
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS, bind
from memory_node.episodes.class_actions import repeated
from memory_node.llm.ask import Question, ask, filled
from memory_node.llm.chat import (
    ChatModel,
    Deadline,
    LatentModel,
    LlmError,
    Message,
    RejectedReplyError,
    Reply,
    UnsupportedError,
)
from memory_node.llm.reply_reader import json_form, read_json

_MOST_OPERATIONS = 8
MOST_USED = 3
# Of these sections a reply may forget items; the others are the task itself.
FORGOTTEN = (Section.LOCATIONS, Section.FACTS)


def _numbers_of(allowed: Sequence[int], most: int) -> Any:
    number: Any = Literal[tuple(allowed)] if allowed else int
    return Annotated[list[number], Field(max_length=min(len(allowed), most))], []


@dataclass(frozen=True)
class Choices:
    """What may be said at one step, each by its number: {"delivery": "hybrid", "call": 2, "because": 5, "entries":
    [0], "forget": [6]}; -1 stands for no call and no reason.

    calls: that guidance may name. state: its items are the reasons. shown: the entries. writes: whether a reply has
    operations on the state, "delta", in place of "forget".
    """

    calls: tuple[SkillCall, ...]
    state: BriefState
    shown: tuple[Entry, ...]
    writes: bool = False

    @classmethod
    def of(cls, observation: StepObservation, state: BriefState, memory: TaskMemory, writes: bool = False) -> Choices:
        """Return the choices at a step."""
        shown = shown_entries(observation, memory)
        return cls(possible_goals(observation, shown), state, shown, writes)

    @cached_property
    def items(self) -> Mapping[str, Section]:
        """The items of the state, each with its section."""
        items: dict[str, Section] = {}
        for section in Section:
            for text in self.state.items(section):
                items.setdefault(text, section)
        return items

    @property
    def schema(self) -> type[BaseModel]:
        """The schema of a reply: it has no number of what is not there."""
        gone = [number for number, section in enumerate(self.items.values()) if section in FORGOTTEN]
        fields: dict[str, Any] = {
            "delivery": (Literal["experience", "brief", "hybrid", "noaction"], ...),
            "call": (Literal[tuple(range(-1, len(self.calls)))], -1),
            "because": (Literal[tuple(range(-1, len(self.items)))], -1),
            "entries": _numbers_of(range(len(self.shown)), MOST_USED),
            "forget": _numbers_of(gone, _MOST_OPERATIONS),
        }
        if self.writes:
            del fields["forget"]
            fields["delta"] = (Annotated[list[Operation], Field(max_length=_MOST_OPERATIONS)], [])
        # A grammar enforces all of it; without one a reply may leave out what it does not use.
        return create_model("Choice", __config__=ConfigDict(json_schema_extra={"required": list(fields)}), **fields)

    def read(self, text: str, avoid: Sequence[SkillCall] = ()) -> Compiled:
        """Return what a reply delivers. avoid: what repeats itself.

        Raises:
            RejectedReplyError: a number stands for nothing, guidance has no call or no reason, or an operation does not
                fit the state.
        """
        reply: Any = read_json(self.schema, text)
        delivery, items, delta = Delivery(reply.delivery), list(self.items), ()
        if delivery in (Delivery.BRIEF, Delivery.HYBRID):
            gone = [] if self.writes else [items[number] for number in dict.fromkeys(reply.forget)]
            delta = tuple(reply.delta if self.writes else (Delete(section=self.items[i], text=i) for i in gone))
            try:
                apply(delta, self.state)
            except InvalidDeltaError as error:
                raise RejectedReplyError("delta", str(error)) from None
        if delivery not in (Delivery.EXPERIENCE, Delivery.HYBRID):
            return Compiled(None, delta)
        if min(reply.call, reply.because) < 0:
            raise RejectedReplyError("guidance", "it needs a call and the line of the state that calls for it")
        goal, reason = self.calls[reply.call], items[reply.because]
        used = tuple(dict.fromkeys(self.shown[number].id for number in reply.entries))
        again = tuple(call for call in avoid if call != goal)
        return Compiled(Guidance(goal, said(goal, reason, again), reason, used, again), delta)


# What a single step may prepare, whatever memory says.
_PREPARATIONS = ("GoToObject", "OpenObject", "PickupObject")
_MOST_ENTRIES, _LONGEST_ENTRY = 12, 300
# Most things of a class that a reply may name.
_MOST_NAMED = 6


def compiler_dialogue(
    observation: StepObservation, choices: Choices, avoid: Sequence[SkillCall] = ()
) -> tuple[Message, Message]:
    """Return the dialogue that asks for one step. avoid: what repeats itself."""
    taken = observation.taken
    task = filled(
        "compiler_task.j2",
        state=choices.items.items(),
        calls=choices.calls,
        taken="" if taken is None else f"{taken.call} {'done' if taken.success else f'failed: {taken.reason}'}",
        proposed=str(observation.proposed) if observation.proposed is not None else "",
        repeated=[str(call) for call in avoid],
        entries=[_in_short(entry) for entry in choices.shown],
    )
    return Message("system", filled("compiler_system.j2", writes=choices.writes)), Message("user", task)


class PromptCompiler:
    """Takes over what a reply says only where it names a call that can be made, a belief that is held, and entries that
    were shown.

    detects_loops: whether the prompt says what repeats itself. soft: makes latent tokens of what was said, with a model
    in this process; None: words alone.
    """

    def __init__(
        self,
        model: ChatModel,
        config: CompilerModelConfig,
        detects_loops: bool = True,
        soft: SoftMemoryWeights | None = None,
    ) -> None:
        self._model = model
        self._soft = soft
        self._detects_loops = detects_loops
        self._config = config

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Ask the model; see Compiler."""
        choices = Choices.of(observation, state, memory, self._config.changes_state)
        avoid = repeated(observation.calls) if self._detects_loops else ()
        replies: list[Reply] = []
        question = Question(
            compiler_dialogue(observation, choices, avoid),
            lambda text: choices.read(text, avoid),
            lambda error: filled("compiler_repair.j2", error=error),
            json_form(choices.schema),
        )
        problem, found = "", Compiled()
        try:
            deadline = Deadline(self._config.timeout_s)
            found = ask(self._model, question, deadline, self._config.max_repairs, on_reply=replies.append)
            wording = _wording(found.guidance, observation)
            if found.guidance is not None and wording and self._soft is not None:
                if not isinstance(self._model, LatentModel):
                    raise UnsupportedError(f"{self._model.name} tells no inner states, as Soft-Mem needs it to")
                marks = self._soft.placeholders
                states = self._model.states(question.messages, replies[-1].text, wording, marks, deadline)
                found = replace(found, latent=self._soft(states, unsaid_of(found.guidance, observation)))
        except LlmError as error:
            problem = str(error)
        tokens_in, tokens_out = (sum(reply.tokens_in for reply in replies), sum(reply.tokens_out for reply in replies))
        return replace(found, tokens_in=tokens_in, tokens_out=tokens_out, problem=problem)


def _wording(guidance: Guidance | None, observation: StepObservation) -> str:
    """Return how the executor reads guidance, "" where it is told nothing."""
    if guidance is None:
        return ""
    return observation.worded(guidance.goal) if observation.worded is not None else str(guidance.goal)


def unsaid_of(guidance: Guidance, observation: StepObservation) -> NDArray[np.float32]:
    """Return (UNSAID,): what words leave out of the first thing of a guidance that is remembered; zeros for none."""
    things = (observation.known[name] for name in guidance.goal.arguments if name in observation.known)
    told = next((thing.unsaid for thing in things if thing.unsaid is not None), None)
    return told() if told is not None else np.zeros(UNSAID, np.float32)


def _in_short(entry: Entry) -> str:
    """Return an entry as the prompt shows it: of a long one what was done."""
    if len(entry.text) <= _LONGEST_ENTRY or not entry.steps:
        return entry.text[:_LONGEST_ENTRY]
    return " -> ".join(map(str, entry.steps))


def shown_entries(observation: StepObservation, memory: TaskMemory) -> tuple[Entry, ...]:
    """Return the entries that a prompt has room for: those for the next step first."""
    skill = observation.proposed.skill if observation.proposed is not None else ""
    needed = observation.needed(observation.proposed) if observation.proposed is not None else None
    entries = TaskMemory.of([*([needed] if needed is not None else []), *memory.entries]).entries
    return tuple(sorted(entries, key=lambda entry: not (skill and entry.skill == skill))[:_MOST_ENTRIES])


def possible_goals(observation: StepObservation, entries: Sequence[Entry]) -> tuple[SkillCall, ...]:
    """Return the calls that guidance may name: the next step, what prepares for it, and what entries say of it."""
    proposed = observation.proposed
    if proposed is None:
        calls = [*_preparations(_about_subgoal(observation)), *_calls_towards(observation, entries)]
    else:
        calls = [proposed, *_preparations(proposed.arguments), *_repairs(proposed, entries)]
    return tuple(dict.fromkeys(call for call in calls if call.skill in SKILLS and call.arguments))


def _preparations(names: Iterable[str]) -> list[SkillCall]:
    """Return the calls that prepare for something with one of these things; a place of coordinates is none."""
    things = [name for name in names if "," not in name]
    return [SkillCall(skill, (name,)) for skill in _PREPARATIONS for name in things]


def _about_subgoal(observation: StepObservation) -> tuple[str, ...]:
    """Return the names of the things that the subgoal is about, of all where it names no known class."""
    wanted = Subgoal.parse(observation.subgoal).classes
    return tuple(name for name, kind in observation.classes.items() if kind in wanted) or tuple(observation.classes)


def _repairs(proposed: SkillCall, entries: Sequence[Entry]) -> Iterator[SkillCall]:
    """Yield what entries about the next step's skill tell to do, with the step's own arguments."""
    for step in (step for entry in entries if entry.skill == proposed.skill for step in entry.steps):
        bound = bind(step, proposed)
        if bound is not None:
            yield bound


def _calls_towards(observation: StepObservation, entries: Sequence[Entry]) -> Iterator[SkillCall]:
    """Yield the calls that entries name for the current subgoal, over the names of such things as are known."""
    subgoal = Subgoal.parse(observation.subgoal)
    for entry in entries:
        if entry.kind is EntryKind.PLACE:
            yield from (SkillCall("Explore", (name,)) for name in sorted(entry.classes & subgoal.classes))
        if entry.kind is EntryKind.WAY:
            for call in fitted(entry, subgoal, observation.beliefs.world.kinds):
                named = [_named(text, observation) for text in call.arguments]
                yield from (SkillCall(call.skill, names) for names in itertools.product(*named))


def _named(text: str, observation: StepObservation) -> list[str]:
    names = [name for name, kind in observation.classes.items() if text in (name, kind)]
    return names[-_MOST_NAMED:] or [text]
