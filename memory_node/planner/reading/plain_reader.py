"""The reader of plain sentences: goals, an answer or a question; None for what it does not read whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.clock import Clock
from memory_node.domain.deed import Deed
from memory_node.domain.goal_labels import GOALS, GoalKind
from memory_node.domain.scene import SceneSnapshot
from memory_node.lessons.expectations import Expectations
from memory_node.planner.goal import Goal
from memory_node.planner.reading.commands import commands_of, goal_of
from memory_node.planner.reading.references import References, UnclearError, UnreadableError
from memory_node.questions.phrase import phrase_of
from memory_node.questions.told import told_answer

_GO_ON = re.compile(
    r"^(?:please )?(?:go on|continue|carry on|resume|keep going|go ahead)(?:,? but leave (?P<left>.+))?$", re.I
)
_LEFT = re.compile(r"^what(?: is|'s) (?:still )?left(?: to do)?$", re.I)
_TELL = re.compile(r"^(?:please )?(?:(?:remember|note) that (?P<fact>.+)|(?P<back>forget that .+))$", re.I)
_PLACED = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})


@dataclass(frozen=True)
class Known:
    """What a reader is told of what was told, of what the robot did, and of what it was interrupted in.

    lessons: what earlier tries taught, None where that is not used. clock: now; zone: of the local time, None
    for the machine's. tell: takes over a told fact and returns what was made of it, in words.
    """

    recalled: Recalled
    clock: Clock
    tell: Callable[[str], str]
    zone: tzinfo | None = None
    lessons: Expectations | None = None


@dataclass(frozen=True)
class PlainReading:
    """What a sentence asks for: goals, or an answer, or a question back. notes: what was taken for what."""

    goals: tuple[Goal, ...] = ()
    answer: str = ""
    question: str = ""
    notes: tuple[str, ...] = ()


class PlainReader:
    """kinds: the label space whose classes words may name."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds

    def read(self, text: str, scene: SceneSnapshot, known: Known) -> PlainReading | None:
        """Return what a sentence asks for; None where it is none of the plain forms, or memory lacks what it needs."""
        words = " ".join(text.replace("’", "'").split()).strip(" .!?")
        past = known.recalled
        references = References(self._kinds, scene, past.facts, past.deeds, known.clock(), known.zone)
        try:
            return self._read(words, text, references, known)
        except UnclearError as unclear:
            return PlainReading(question=str(unclear))
        except UnreadableError:
            return None

    def _read(self, words: str, text: str, references: References, known: Known) -> PlainReading:
        said = _TELL.match(words)
        if said is not None:
            return PlainReading(answer=known.tell(said["fact"] or said["back"]))
        going_on = _GO_ON.match(words)
        if going_on is not None or _LEFT.match(words):
            left = self._left(references, known)
            if going_on is None:
                names = "; ".join(goal.text for goal in left)
                return PlainReading(answer=f"Still to do: {names}." if left else "Nothing is left to do.")
            kept = _without(left, going_on["left"], self._kinds)
            return PlainReading(kept, answer="" if kept else "Nothing is left to do.")
        told = told_answer(text, references.binding)
        answer = told.text if told is not None else references.plain_past.answer(text)
        if answer:
            return PlainReading(answer=answer)
        goals = tuple(goal_of(command, references) for command in commands_of(text))
        return PlainReading(goals, notes=tuple(references.notes))

    def _left(self, references: References, known: Known) -> tuple[Goal, ...]:
        """Return the goals of the interrupted instruction that are not met yet.

        Raises:
            UnreadableError: none was interrupted, or it was in no plain words.
        """
        unfinished = [one for one in known.recalled.unfinished if not _GO_ON.match(one.instruction.strip(" .!"))]
        if not unfinished:
            raise UnreadableError("nothing was interrupted")
        task = unfinished[0]
        done = [deed for deed in references.deeds if deed.stamp_ns >= task.started_ns]
        left = []
        for command in commands_of(task.instruction):
            goal = goal_of(command, references)
            if not any(_is_met(goal, deed) for deed in done):
                left.append(goal)
        return tuple(left)


def _is_met(goal: Goal, deed: Deed) -> bool:
    """Return whether a deed was what a goal asks for."""
    thing = goal.target
    is_thing = deed.object_id == thing.thing_id if thing.thing_id else deed.object_class in thing.candidates
    if not is_thing:
        return False
    if goal.kind in _PLACED and goal.destination is not None:
        place = goal.destination
        there = deed.to_id == place.thing_id if place.thing_id else deed.to_class in place.candidates
        return deed.skill in ("PutObject", "ThrowObject") and there
    # Who took a thing has not looked at it in the light yet.
    return deed.skill in GOALS[goal.kind].skills and goal.light is None


def _without(goals: Sequence[Goal], words: str | None, kinds: ObjectCatalogue) -> tuple[Goal, ...]:
    """Return goals without those for a thing that is to be left."""
    if not words:
        return tuple(goals)
    left = phrase_of(words, kinds)
    if left is None or left.pronoun:
        raise UnreadableError(words)
    return tuple(goal for goal in goals if goal.target.object_class not in left.classes)
