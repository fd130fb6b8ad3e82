"""Attempts at other variations that succeeded, as memory: what is retrieved of them for a task (MemCompiler's M)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.attempts import MOST_RETRIEVED
from benchmarks.alfworld.transcripts import as_one_text
from benchmarks.scienceworld.command_forms import Command, CommandForms
from benchmarks.scienceworld.sentences import Outcome
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason


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
