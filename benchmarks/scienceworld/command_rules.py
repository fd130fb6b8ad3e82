"""The compiler by rules for commands: the next thing that the best attempt in M did and that is not done yet."""

from __future__ import annotations

import contextlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.compiled import MOST_RETRIEVED
from benchmarks.alfworld.policy import as_one_text
from benchmarks.scienceworld.commands import (
    ALIKE,
    SAME,
    Command,
    CommandForms,
    NameLikeness,
    is_named,
    likeness_of,
    swapped_words,
    words_alike,
)
from benchmarks.scienceworld.lesson_state import StateDraft, done_commands, is_believed, not_there, stand_ins, stands_in
from benchmarks.scienceworld.sentences import Outcome, failures_of, place_of_robot, stands_at
from memory_node.context.brief_state import BriefState, Section
from memory_node.context.guidance import Compiled, Guidance, StepObservation, said
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.episodes.class_actions import repeated


@dataclass(frozen=True)
class Deed:
    """One command of an attempt that did something other than moving the robot. room: where it was sent, "" where
    nobody says."""

    command: Command
    room: str
    outcome: Outcome


@dataclass(frozen=True)
class AttemptEntry(Entry):
    """An attempt as an entry of M. task: its instruction. deeds: in order. rooms: joined by the doors it tells of."""

    task: str = ""
    deeds: tuple[Deed, ...] = ()
    rooms: nx.Graph = field(default_factory=nx.Graph)


@dataclass(frozen=True)
class LessonAttempts:
    """Those of one library. vectors: of their tasks, (N, dimension)."""

    all: tuple[AttemptEntry, ...]
    vectors: NDArray[np.float32]
    embedder: TextEmbedder

    @classmethod
    def of(cls, transcripts: Iterable[Mapping[str, Any]], embedder: TextEmbedder) -> LessonAttempts:
        """Return the attempts of transcripts that were won."""
        won = [transcript for transcript in transcripts if transcript["won"]]
        entries = tuple(_entry(number, transcript) for number, transcript in enumerate(won))
        tasks = [entry.task for entry in entries]
        vectors = embedder.embed(tasks) if tasks else np.zeros((0, embedder.dimension), np.float32)
        return cls(entries, vectors, embedder)

    def like(self, task: str) -> TaskMemory:
        """Return the attempts whose tasks are most like a task in words, the most alike with the most worth; none for
        no task."""
        best = self._by_likeness(task)[:MOST_RETRIEVED]
        return TaskMemory.of(replace(entry, worth=1.0 / (rank + 1)) for rank, entry in enumerate(best))

    def other_task(self, task: str, chance: random.Random) -> str:
        """Return another task, drawn at random from the less alike half; "" where there is none."""
        others = dict.fromkeys(entry.task for entry in self._by_likeness(task))
        half = list(others)[len(others) // 2 :]
        return chance.choice(half) if len(others) > 1 else ""

    def _by_likeness(self, task: str) -> list[AttemptEntry]:
        if not self.all or not task:
            return []
        alike = self.vectors @ self.embedder.embed([task])[0]
        return [self.all[number] for number in np.argsort(-alike, kind="stable")]


def _entry(number: int, transcript: Mapping[str, Any]) -> AttemptEntry:
    deeds, rooms = _followed(transcript["text"], transcript["turns"])
    return AttemptEntry(
        f"trajectory|{number}",
        EntryKind.WAY,
        as_one_text(transcript),
        task=transcript["task"],
        deeds=tuple(deeds),
        rooms=rooms,
    )


def _followed(text: str, turns: Sequence[tuple[str, str]]) -> tuple[list[Deed], nx.Graph]:
    """Return what was done, and the rooms that were seen. Ways, looks and what was refused are no deeds: they depend on
    where the robot began."""
    forms, rooms, room = CommandForms(text), nx.Graph(), ""
    deeds: list[Deed] = []
    for sent, reply in (("", text), *turns):
        outcome, command = Outcome.read(reply), forms.parse(sent)
        if outcome.sight is not None:
            room = outcome.sight.room
            outcome.sight.draw_on(rooms)
        elif outcome.room:
            if room:
                rooms.add_edge(room, outcome.room)
            room = outcome.room
        elif outcome.reason is FailureReason.NONE and command is not None and not command.is_about_a_door:
            deeds.append(Deed(command, room, outcome))
    return deeds, rooms


# So often a command is sent in vain before it is given up.
_MOST_TRIES = 3


@dataclass(frozen=True)
class LessonObservation(StepObservation):
    """o_t of a lesson. A command is a call without arguments. forms: of commands. possible: the commands that can be
    sent now, taken apart. rooms: joined by the doors that were seen."""

    forms: CommandForms = field(default_factory=lambda: CommandForms(""))
    possible: tuple[Command, ...] = ()
    rooms: nx.Graph = field(default_factory=nx.Graph)


@dataclass(frozen=True)
class _Advice:
    """A command to send, None where nothing can be done. purpose: what the attempt did and it leads to. because: why it
    is said. new: beliefs that are learnt from finding it."""

    command: Command | None
    purpose: Command
    because: str = ""
    new: tuple[str, ...] = ()


class CommandRules:
    """Deterministic. names: compares names. detects_loops: False leaves out "do not ... again" and goes on with a
    command that is refused again and again."""

    def __init__(self, names: NameLikeness, detects_loops: bool = True) -> None:
        self._names = names
        self._detects_loops = detects_loops

    def compile(self, observation: StepObservation, state: BriefState, memory: TaskMemory) -> Compiled:
        """Return the guidance of the attempt of most worth that can be followed now; nothing where it is done."""
        if not isinstance(observation, LessonObservation):
            return Compiled()
        attempts = [entry for entry in memory.entries if isinstance(entry, AttemptEntry)]
        rooms = nx.compose_all([observation.rooms, *(entry.rooms for entry in attempts)])
        draft = StateDraft(state)
        for entry in attempts:
            advice = _Following(self._names, self._detects_loops, observation, state, rooms, entry).next()
            if advice is None:
                break
            for text in advice.new:
                draft.add(Section.FACTS, text)
            if advice.command is not None:
                draft.put(Section.CURRENT, state.current, advice.purpose.text)
                return Compiled(self._guidance(advice.command, advice.because, entry, observation), draft.delta)
        return Compiled(None, draft.delta)

    def _guidance(
        self, command: Command, because: str, entry: AttemptEntry, observation: LessonObservation
    ) -> Guidance:
        goal = SkillCall(command.text)
        cycle = repeated(observation.calls) if self._detects_loops else ()
        avoid = tuple(call for call in cycle if call != goal)
        return Guidance(goal, said(goal, because, avoid), because, (entry.id,), avoid)


@dataclass(frozen=True)
class _Following:
    """One attempt, followed at one step. rooms: joined by all doors that are known."""

    names: NameLikeness
    detects_loops: bool
    observation: LessonObservation
    state: BriefState
    rooms: nx.Graph
    entry: AttemptEntry

    def next(self) -> _Advice | None:
        """Return what comes next; None where all of the attempt is done."""
        words = swapped_words(self.entry.task, " ".join(self.observation.goals))
        used = stand_ins(self.state)
        deeds = [
            Deed(_adapted(deed.command, words, used), _with_words(deed.room, words), deed.outcome)
            for deed in self.entry.deeds
        ]
        done = self._done(deeds)
        for number, deed in enumerate(deeds):
            is_so = is_believed(deed.outcome, deed.command.arguments, self.state)
            if done[number] or is_so or _is_passed(deed, deeds[number + 1 :], done[number + 1 :]):
                continue
            advice = self._towards(deed.room, deed.command)
            if advice is not None and (advice.command is None or not self._is_given_up(advice.command)):
                return advice
        return None

    def _done(self, deeds: Sequence[Deed]) -> list[bool]:
        """Return which deeds were done, as the brief state tells; without one the last steps tell."""
        told = done_commands(self.state)
        if not told:
            told = Counter(step.call.skill for step in self.observation.recent if step.success)
        parsed = {command: self.observation.forms.parse(command) for command in told}
        left = Counter({command: told[text] for text, command in parsed.items() if command is not None})
        done = []
        for deed in deeds:
            same = (one for one, times in left.items() if times and likeness_of(one, deed.command) >= SAME)
            command = next(same, None)
            if command is not None:
                left[command] -= 1
            done.append(command is not None)
        return done

    def _towards(self, room: str, wanted: Command) -> _Advice | None:
        """Return what leads to a command; None where its things are here and it is not possible: it has no use now."""
        at = place_of_robot(self.state)
        is_there = at == room or not room
        best, alike = self.names.best(wanted, self.observation.possible)
        # What the attempt did with a thing may be done wherever the thing is; another thing may do where it was done.
        is_close = alike >= (ALIKE if is_there else SAME) and (is_there or bool(wanted.arguments))
        if best is not None and is_close:
            because = f"an attempt at a task like this one sent {wanted.text!r} here"
            return _Advice(best, wanted, because, tuple(_exchanged(best, wanted)))
        if at is None or is_there:
            return self._lacking(wanted, room if at is not None else "")
        if any(not_there(name, room) in self.state.items(Section.FACTS) for name in wanted.arguments):
            return _Advice(None, wanted)
        way = self._way(self._next_room(at, room))
        return _Advice(way, wanted, f"{stands_at(at)}, and {wanted.text!r} is for the {room}")

    def _next_room(self, at: str, room: str) -> str:
        """Return the first room on a shortest way to another one, "" where no way is known."""
        with contextlib.suppress(nx.NodeNotFound, nx.NetworkXNoPath):
            return str(nx.shortest_path(self.rooms, at, room)[1])
        return ""

    def _lacking(self, wanted: Command, room: str) -> _Advice | None:
        """Return which things of a command are not here; None where all of them are. room: where it is, "" where that
        is not known."""
        possible = self.observation.possible
        lacking = tuple(not_there(name, room) for name in wanted.arguments if not is_named(name, possible))
        return _Advice(None, wanted, new=lacking if room else ()) if lacking or not room else None

    def _way(self, room: str) -> Command | None:
        """Return the command that leads to a room behind a door, or opens the door."""
        for text in (f"go to {room}", f"open door to {room}") if room else ():
            wanted = self.observation.forms.parse(text)
            best, alike = self.names.best(wanted, self.observation.possible) if wanted is not None else (None, 0.0)
            if alike >= SAME:
                return best
        return None

    def _is_given_up(self, command: Command) -> bool:
        """Return whether a command was refused too often."""
        call = SkillCall(command.text)
        told = failures_of(call, self.state)
        lately = sum(step.call == call and not step.success for step in self.observation.recent)
        return self.detects_loops and max(told[2] if told is not None else 0, lately) >= _MOST_TRIES


def _adapted(command: Command, words: Mapping[str, str], used: Mapping[str, str]) -> Command:
    """Return a command of an attempt with the things of this task, and with those that took others' places."""
    arguments = (_with_words(_with_words(name, words), used) for name in command.arguments)
    return Command(command.form, tuple(arguments))


def _with_words(name: str, words: Mapping[str, str]) -> str:
    if not words:
        return name
    old = "|".join(re.escape(one) for one in sorted(words, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{old})(?!\w)", lambda found: words[found[0].lower()], name, flags=re.IGNORECASE)


def _is_passed(deed: Deed, later: Sequence[Deed], done: Sequence[bool]) -> bool:
    """Return whether what a deed changed was changed again since, as a later deed with the same thing was done."""
    names = deed.command.arguments
    if not deed.outcome.beliefs(names):
        return False
    after = (one.command.arguments for one, was_done in zip(later, done) if was_done)
    return any(bool(others) and words_alike(names[0], others[0]) >= SAME for others in after)


def _exchanged(command: Command, wanted: Command) -> Iterator[str]:
    """Yield beliefs of what takes the place of what an attempt used."""
    for name, other in zip(command.arguments, wanted.arguments):
        if words_alike(name, other) < SAME:
            yield stands_in(name, other)
