"""The reader of plain sentences: goals, an answer or a question; None for what it does not read whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import Recalled
from memory_node.domain.clock import Clock
from memory_node.domain.scene import SceneSnapshot
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.knowledge.text import on_one_line
from memory_node.lessons.expectations import Expectations
from memory_node.planner.reading.commands import as_liked, commands_of, goal_of
from memory_node.planner.reading.conversation import UnclearError
from memory_node.planner.reading.references import References, UnreadableError
from memory_node.planner.reading.resumption import all_left, goals_left, without
from memory_node.planner.reading.understanding import Understanding
from memory_node.questions.going_on import asks_what_is_left, going_on
from memory_node.questions.told import told_answer, told_then_answer

SOURCE = "plain forms"
_WHERE = re.compile(r"^[Ww]here(?: is|'s) (?P<who>[A-Z][\w-]*|my [a-z]+)$")
_IN_ROOM = re.compile(r"^what(?: is|'s) in (?P<room>.+)$", re.I)
_TELL = re.compile(
    r"^(?:please )?(?:(?:(?:remember|note) that|just so you know,?) (?P<fact>.+)|(?P<back>forget that .+))$", re.I
)


@dataclass(frozen=True)
class Known:
    """What a reader is told of what was told, of what the robot did, and of what it was interrupted in.

    lessons: what earlier tries taught, None where that is not used. clock: now. tell: takes over a told fact and
    returns what was made of it, in words. ask: answers a question from all memories; None: nobody does.
    """

    recalled: Recalled
    clock: Clock
    tell: Callable[[str], str]
    lessons: Expectations | None = None
    ask: Callable[[str], KnowledgeAnswer] | None = None


def references_of(kinds: ObjectCatalogue, scene: SceneSnapshot, known: Known) -> References:
    """Return what words mean by what is known now."""
    past, way = known.recalled, known.lessons.way if known.lessons is not None else None
    return References(kinds, scene, past.facts, past.deeds, known.clock(), past.zone, way=way, asked=past.asked)


class PlainReader:
    """kinds: the label space whose classes words may name."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds

    def read(self, text: str, scene: SceneSnapshot, known: Known) -> Understanding | None:
        """Return what a sentence asks for; None where it is none of the plain forms, or memory lacks what it needs."""
        words = on_one_line(text).strip(" .!?")
        try:
            return _read(words, text, references_of(self._kinds, scene, known), known)
        except UnclearError as unclear:
            return Understanding(question=unclear.question, source=SOURCE, confidence=0.0)
        except UnreadableError:
            return None


def _read(words: str, text: str, references: References, known: Known) -> Understanding:
    said = _TELL.match(words)
    if said is not None:
        return Understanding(source=SOURCE, answer=known.tell(said["fact"] or said["back"]))
    resumed = going_on(words)
    if resumed is not None or asks_what_is_left(words):
        if resumed is None:
            return Understanding(source=SOURCE, answer=_what_is_left(known.recalled, references))
        left = goals_left(known.recalled, references)
        if resumed.left:
            left = without(left, resumed.left, references)
        answer = "" if left else "Nothing is left to do."
        return Understanding(left, SOURCE, answer=answer, notes=tuple(references.notes))
    where, within = _WHERE.match(words), _IN_ROOM.match(words)
    now = references.present.person(where["who"]) if where is not None else None
    now = references.present.room(within["room"]) if within is not None else now
    now = references.present.having(words) if now is None else now
    answer = now.text if now is not None else ""
    if not answer:
        told = told_answer(text, references.binding)
        answer = told.text if told is not None else references.plain_past.answer(text)
        then = told_then_answer(text, references.binding) if not answer else None
        answer = then.text if then is not None else answer
    if answer:
        return Understanding(source=SOURCE, answer=answer)
    goals = tuple(goal_of(one, references) for command in commands_of(text) for one in as_liked(command, references))
    return Understanding(goals, SOURCE, question=references.unseen, notes=tuple(references.notes))


def _what_is_left(recalled: Recalled, references: References) -> str:
    try:
        names = "; ".join(goal.text for goal in all_left(recalled, references))
    except UnclearError:  # words that the plain forms do not read: the instruction itself
        names = recalled.unfinished[0].instruction.strip(" .!")
    return f"Still to do: {names}." if names else "Nothing is left to do."
