"""Answers questions in words from all memories: the scene now, what was done, what people told, what was read.

Which one is asked follows from the question (PlugMem's GetMode): readers of whole sentences first, which are exact,
and a search of all statements for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.step import Deed
from memory_node.knowledge.answering import NOTHING, KnowledgeAnswer, Mode
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.knowledge.told.fact import ToldFact
from memory_node.questions.done import PlainPast, Way
from memory_node.questions.present import PresentAnswer, PresentQuestions
from memory_node.questions.told import asked_about, told_answer, told_then_answer, unread_about

# What is asked of the scene and not known there is answered by words about a place alone.
_PLACE = re.compile(r"\b(?:in|on|at|under|behind|near|with|inside|beside|to)\b", re.I)
Search = Callable[[str], KnowledgeAnswer]


def household_answer(
    question: str,
    kinds: ObjectCatalogue,
    scenes: Callable[[int], SceneSnapshot],
    facts: Sequence[ToldFact],
    deeds: Sequence[Deed],
    search: Search,
    now_ns: int,
    zone: tzinfo | None = None,
    way: Way | None = None,
    instructions: Mapping[str, str] | None = None,
    unread: Callable[[], Sequence[str]] = tuple,
) -> KnowledgeAnswer:
    """Return the answer to a question; it abstains where nothing is known, and then says what it does not know.

    scenes: the scene as of a stamp, removed things included for 0, which is now. facts: what was told and read; deeds:
    what the robot did, the newest last. search: answers from all statements. zone: of "today", None: the machine's.
    way: see PlainPast; instructions: by episode. unread: finds told statements that share a name with the question and
    that no form reads.
    """
    scene = scenes(0)
    index = BindingFacts(facts, kinds, scene, now_ns, zone)
    questions = PresentQuestions(kinds, scene, scenes, now_ns, zone, index.person_called)
    present = questions.answer(question)
    if present is not None and present.known:
        return of_now(question, present)
    told, asked = told_answer(question, index), asked_about(question)
    place = questions.answer(f"where is {asked}?") if asked else None
    where = f" {place.text}" if place is not None and place.known else ""
    if told is not None:
        told = told.with_unread(unread())
        return KnowledgeAnswer(question, f"{told.text}{where}", Mode.SEMANTIC, 1.0, read=told.facts)
    if said := unread_about(question, index, unread()):
        return KnowledgeAnswer(question, said, Mode.SEMANTIC, 1.0)
    done = PlainPast(kinds, scene, index, deeds, now_ns, zone, way, instructions or {}).answer(question)
    if done:
        return KnowledgeAnswer(question, done, Mode.EPISODIC, 1.0)
    then = told_then_answer(question, index)
    if then is not None:
        return KnowledgeAnswer(question, then.text, Mode.SEMANTIC, 1.0, read=then.facts)
    found = search(question)
    if place is not None and where:
        return of_now(question, place) if found.abstains else replace(found, text=f"{found.text}{where}")
    says_where = any(_PLACE.search(one.text) for one in found.propositions)
    if present is not None and (found.abstains or (present.is_kind and not says_where)):
        return of_now(question, present)
    return found


def of_now(question: str, answer: PresentAnswer) -> KnowledgeAnswer:
    """Return what the scene graph answers as any answer; one that it does not know abstains."""
    text, missing = (answer.text, "") if answer.known else (NOTHING, answer.text)
    return KnowledgeAnswer(question, text, Mode.EPISODIC, answer.confidence, object_ids=answer.ids, missing=missing)
