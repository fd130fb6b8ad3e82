"""What every reader of instructions is given, and what it gives: goals, how sure it is of them, or a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memory_node.planner.goal import Goal
from memory_node.planner.language.asking_back import Question
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.licence import Licence
from memory_node.planner.language.spoken_instruction import Instruction, Parts
from memory_node.planner.language.surroundings import HomeClasses, Recall, nothing_recalled


@dataclass(frozen=True)
class Said:
    """An instruction as readers get it.

    parts: its commands and remarks, with what an answer or a correction leaves out filled in. licence: the classes
    that some word accounts for; licensed: the ones that trained readers may write. home: what memory holds; told: the
    same for trained readers, with what the words name. discourse: what was spoken of before.
    """

    text: str
    instruction: Instruction
    parts: Parts
    licence: Licence
    licensed: frozenset[str]
    home: HomeClasses
    told: HomeClasses
    discourse: Discourse
    recall: Recall = nothing_recalled

    @property
    def plain(self) -> bool:
        """Whether the grammar explains every word, and no thing is told by what no label space knows."""
        return (self.instruction.plain and not self.instruction.described) or self.instruction.answers


@dataclass(frozen=True)
class Reading:
    """The goals that a reader finds. confidence: the probability, in [0, 1], that they are what is asked for.

    question: what the reader has to ask first. names_unknown: something of no known class is asked for. discourse:
    what has been spoken of since. unclear: the index of the part that the question is about.
    """

    source: str
    goals: tuple[Goal, ...] = ()
    confidence: float = 1.0
    question: Question | None = None
    names_unknown: bool = False
    discourse: Discourse | None = None
    unclear: int = 0


class Reader(Protocol):
    """Reads an instruction as goals: the grammar of commands, the trained reader of one goal, that of sequences."""

    def read(self, said: Said) -> Reading:
        """Return what is asked for; a reading without goals where this reader finds nothing."""
