"""The compiler that asks a language model at each step, for a JSON object; a small model names all in it by numbers. A
reply that cannot be used is NOACTION."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
# Of these sections a choice may forget items; the others are the task itself.
_FORGOTTEN = (Section.LOCATIONS, Section.FACTS)


class SaidCompilation(BaseModel):
    """A reply. goal, reason and entries are "" and empty where no guidance is delivered."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    delivery: Delivery
    goal: str = ""
    reason: str = ""
    entries: tuple[int, ...] = ()
    delta: Annotated[tuple[Operation, ...], Field(max_length=_MOST_OPERATIONS)] = ()


_DELIVERIES = Literal["experience", "brief", "hybrid", "noaction"]


def _numbers_of(allowed: Sequence[int], most: int) -> Any:
    number: Any = Literal[tuple(allowed)] if allowed else int
    return Annotated[list[number], Field(max_length=min(len(allowed), most))]


def reply_schema(goals: Sequence[str], beliefs: Sequence[str], entries: int, changes: bool) -> type[BaseModel]:
    """Return the schema of replies at one step. It lists everything that may be named, so that a grammar can enforce
    it.

    entries: how many were shown. changes: whether the reply may change the brief state.
    """
    fields: dict[str, Any] = {
        "delivery": (_DELIVERIES, ...),
        "goal": (Literal[tuple(dict.fromkeys(("", *goals)))], ...),
        "reason": (Literal[tuple(dict.fromkeys(("", *beliefs)))], ...),
        "entries": (_numbers_of(range(entries), MOST_USED), ...),
    }
    if changes:
        fields["delta"] = (Annotated[list[Operation], Field(max_length=_MOST_OPERATIONS)], ...)
    return create_model("Compilation", **fields)


@dataclass(frozen=True)
class Choices:
    """What may be chosen at one step, each by its number: {"delivery": "hybrid", "call": 2, "because": 5, "entries":
    [0], "forget": [6]}; -1 stands for no call and no reason.

    calls: that guidance may name. beliefs: the items of the brief state. gone: those of them that may be forgotten.
    entries: how many were shown.
    """

    calls: tuple[str, ...]
    beliefs: tuple[str, ...]
    gone: tuple[str, ...]
    entries: int

    @classmethod
    def of(cls, calls: Sequence[str], state: BriefState, entries: int) -> Choices:
        """Return the choices among calls and the items of a state."""
        beliefs = tuple(dict.fromkeys(text for section in Section for text in state.items(section)))
        gone = tuple(text for section in _FORGOTTEN for text in state.items(section))
        return cls(tuple(calls), beliefs, gone, entries)

    @property
    def schema(self) -> type[BaseModel]:
        """The schema of a choice: it has no number of what is not there."""
        fields: dict[str, Any] = {
            "delivery": (_DELIVERIES, ...),
            "call": (Literal[tuple(range(-1, len(self.calls)))], ...),
            "because": (Literal[tuple(range(-1, len(self.beliefs)))], ...),
            "entries": (_numbers_of(range(self.entries), MOST_USED), ...),
            "forget": (_numbers_of([self.beliefs.index(text) for text in self.gone], _MOST_OPERATIONS), ...),
        }
        return create_model("Choice", **fields)

    def read(self, text: str, state: BriefState) -> SaidCompilation:
        """Return what a choice says.

        Raises:
            RejectedReplyError: it is none, or a number stands for nothing.
        """
        said: Any = read_json(self.schema, text)
        sections = {item: section for section in _FORGOTTEN for item in state.items(section)}
        gone = dict.fromkeys(self.beliefs[number] for number in said.forget)
        return SaidCompilation(
            delivery=said.delivery,
            goal=("", *self.calls)[said.call + 1],
            reason=("", *self.beliefs)[said.because + 1],
            entries=said.entries,
            delta=tuple(Delete(section=sections[item], text=item) for item in gone),
        )


# What a single step may prepare, whatever memory says.
_PREPARATIONS = ("GoToObject", "OpenObject", "PickupObject")
_MOST_ENTRIES, _LONGEST_ENTRY = 12, 300
# Most things of a class that a reply may name.
_MOST_NAMED = 6


def compiler_dialogue(
    observation: StepObservation,
    state: BriefState,
    shown: Sequence[Entry],
    avoid: Sequence[SkillCall] = (),
    choices: Choices | None = None,
) -> tuple[Message, Message]:
    """Return the dialogue that asks for one step. avoid: what repeats itself. choices: None asks for words."""
    taken = observation.taken
    ended = "" if taken is None else f"{taken.call} {'done' if taken.success else f'failed: {taken.reason}'}"
    task = filled(
        "compiler_task.j2",
        state=state.lines() if choices is None else choices.beliefs,
        calls=None if choices is None else choices.calls,
        taken=ended,
        proposed=str(observation.proposed) if observation.proposed is not None else "",
        repeated=[str(call) for call in avoid],
        entries=[_in_short(entry) for entry in shown],
    )
    return Message("system", filled("compiler_system.j2", chooses=choices is not None)), Message("user", task)


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
        shown = shown_entries(observation, memory)
        calls = {str(call): call for call in possible_goals(observation, shown)}
        beliefs = [text for section in Section for text in state.items(section)]
        avoid = repeated(observation.calls) if self._detects_loops else ()
        choices = Choices.of(tuple(calls), state, len(shown)) if self._config.chooses else None
        changes = self._config.changes_state
        schema = reply_schema(tuple(calls), beliefs, len(shown), changes) if choices is None else choices.schema
        replies: list[Reply] = []

        def read(text: str) -> Compiled:
            said = read_json(SaidCompilation, text) if choices is None else choices.read(text, state)
            return self._compiled(said, state, shown, calls, beliefs, avoid)

        question = Question(
            compiler_dialogue(observation, state, shown, avoid, choices),
            read,
            lambda error: filled("compiler_repair.j2", error=error),
            json_form(schema),
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

    def _compiled(
        self,
        reply: SaidCompilation,
        state: BriefState,
        shown: Sequence[Entry],
        calls: dict[str, SkillCall],
        beliefs: Sequence[str],
        avoid: Sequence[SkillCall],
    ) -> Compiled:
        """Return what a reply says.

        Raises:
            RejectedReplyError: it names what is not there.
        """
        delta = reply.delta if reply.delivery in (Delivery.BRIEF, Delivery.HYBRID) else ()
        try:
            apply(delta, state)
        except InvalidDeltaError as error:
            raise RejectedReplyError("delta", str(error)) from None
        if reply.delivery not in (Delivery.EXPERIENCE, Delivery.HYBRID):
            return Compiled(None, delta)
        goal = calls.get(reply.goal)
        if goal is None:
            raise RejectedReplyError("goal", f"{reply.goal[:80]!r} is none of {', '.join(calls)}")
        if reply.reason not in beliefs:
            raise RejectedReplyError("reason", f"{reply.reason[:80]!r} is no line of the state")
        if not all(0 <= index < len(shown) for index in reply.entries):
            raise RejectedReplyError("entries", f"expected numbers of entries, 0 to {len(shown) - 1}")
        used = tuple(dict.fromkeys(shown[index].id for index in reply.entries))
        again = tuple(call for call in avoid if call != goal)
        return Compiled(Guidance(goal, said(goal, reply.reason, again), reply.reason, used, again), delta)


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
