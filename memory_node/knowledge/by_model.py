"""PlugMem's modules as calls of a language model, each asked, checked and repaired by llm.ask; off without a model.

It reads what is told, decides what becomes of two like statements, and answers from statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memory_node.knowledge.answering import NOTHING, KnowledgeAnswer, Mode, dated, mode_of
from memory_node.knowledge.documents import file_of
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text import LONGEST_SENTENCE, stems
from memory_node.knowledge.told.fact import NO_TERM, Relation, Term, ToldFact, until_of
from memory_node.knowledge.told.forms import Read, TellingReader
from memory_node.knowledge.updating import Update, added_by
from memory_node.llm.ask import Schema, ask_by_prompt
from memory_node.llm.chat import ChatModel, Deadline, LlmError, RejectedReplyError

_MOST_KNOWN = 30
# Sentences of a document that a model reads; one may have a million.
_MOST_OF_DOCUMENT = 200
# Relations whose subject is a thing: a class of the label space.
_OF_THINGS = frozenset({Relation.NEVER, Relation.BROKEN, Relation.BELONGS, Relation.OWNED, Relation.CONTAINS})
_Words = Annotated[str, Field(max_length=200)]


class StatedFact(BaseModel):
    """One fact of a reply; see told.fact.ToldFact."""

    relation: Relation
    subject: Annotated[str, Field(min_length=1, max_length=200)]
    object: _Words = ""
    verb: _Words = ""
    holds: bool = True
    until: _Words = ""
    part_of_day: Literal["", "morning", "afternoon", "evening", "night"] = ""


class StatedFacts(BaseModel):
    """The reply."""

    facts: Annotated[list[StatedFact], Field(max_length=10)]


class ModelTellingReader:
    """Reads sentences as TellingReader does; those that the model fails at are read by the forms.

    known: what was told of the persons and things of a sentence, which tells the model whom words mean. timeout_s: for
    one sentence, corrections included.
    """

    def __init__(
        self,
        model: ChatModel,
        forms: TellingReader,
        known: Callable[[str], Sequence[str]],
        zone: tzinfo | None = None,
        timeout_s: float = 30.0,
        max_repairs: int = 1,
    ) -> None:
        self._model, self._forms, self._known, self._zone = model, forms, known, zone
        self._timeout_s, self._max_repairs = timeout_s, max_repairs
        self._asked: Counter[str] = Counter()

    def read(self, sentence: str, told_ns: int, teller: str = "", document: str = "", unit: int = 0) -> Read:
        """Return the facts of one sentence; told_ns: when it was told.

        document: the session in which it stands, "" where a person says it; of a file only sentences that name a thing
        are read, and no more than 200. unit: its place there: after a restart those before it count as read.
        """
        by_forms = self._forms.read(sentence, told_ns, teller)
        if by_forms.facts:  # a plain sentence needs no model
            return by_forms
        if document:
            document = file_of(document)
            self._asked.setdefault(document, unit)
            if self._asked[document] >= _MOST_OF_DOCUMENT or not self._forms.names_thing(sentence):
                return by_forms
            self._asked[document] += 1
        known = list(self._known(sentence))[:_MOST_KNOWN]

        said = set(stems(" ".join([sentence, teller, *known])))

        def facts_of(reply: StatedFacts) -> tuple[ToldFact, ...]:
            return tuple(self._fact(one, sentence, said, told_ns, teller) for one in reply.facts)

        words = {"sentence": sentence, "teller": teller, "known": known, "relations": _MEANINGS}
        deadline = Deadline(self._timeout_s)
        try:
            facts = ask_by_prompt(
                self._model, StatedFacts, "told_facts.j2", deadline, self._max_repairs, facts_of, **words
            )
        except RejectedReplyError:
            return by_forms
        except LlmError:
            if document:  # it is away: the rest of a document does not wait for it sentence by sentence
                self._asked[document] = _MOST_OF_DOCUMENT
            return by_forms
        return Read(sentence, facts)

    def _fact(self, one: StatedFact, sentence: str, said: set[str], told_ns: int, teller: str) -> ToldFact:
        """Return a stated fact with its terms grounded.

        Raises:
            RejectedReplyError: it says what was not said, or names no thing where one is needed.
        """
        for name, words in (("subject", one.subject), ("object", one.object), ("verb", one.verb)):
            strange = [word for word in stems(words) if word not in said]
            if strange:
                raise RejectedReplyError("unfounded", f"{name} {words!r}: nobody said {', '.join(strange)}")
        subject = self._forms.thing(one.subject) if one.relation not in _OF_PERSONS else None
        if subject is None and one.relation in _OF_THINGS:
            raise RejectedReplyError("unknown", f"subject {one.subject!r}: it is no kind of thing that the robot knows")
        until = until_of(one.until, told_ns, self._zone) if one.until else 0
        if until is None:
            raise RejectedReplyError("time", f"until {one.until!r}: expected a day, a clock time or a part of the day")
        if one.relation is Relation.NEVER and not one.verb:
            raise RejectedReplyError("verb", "relation never: expected the verb of what must not be done")
        return ToldFact(
            one.relation,
            subject or Term(one.subject),
            self._object(one.object),
            one.verb.lower(),
            one.holds,
            until_ns=until,
            part_of_day=one.part_of_day,
            told_ns=told_ns,
            teller=teller,
            text=sentence.strip(),
        )

    def _object(self, words: str) -> Term:
        return self._forms.thing(words) or Term(words) if words else NO_TERM


_OF_PERSONS = frozenset({Relation.AVOIDS, Relation.LIKES, Relation.SLEEPS, Relation.DOES})
_MEANINGS = {
    "never": "`verb` must not be done with the subject, a thing; object: where, if only there",
    "broken": "the subject, a thing, cannot be used; holds false: it works again",
    "belongs": "the subject, a thing, has its place in or on the object",
    "owned": "the subject, a thing, is the object's, a person",
    "at": "the subject, a thing or person, is in or on the object",
    "called": "the subject, a role or a name of a thing, is the person or thing of the object",
    "avoids": "the subject, a person, must not have or does not want the object, a food or thing",
    "likes": "the subject, a person, likes the object",
    "contains": "the subject, a food, has the object in it",
    "sleeps": "the subject, a person, sleeps in the object",
    "does": "the subject, a person, usually does the object, in words",
    "means": 'the subject, a verb, is done as the object, an order, says; "it" is the thing',
    "is": "the object, in words, is true of the subject",
}


class Merging(BaseModel):
    """The reply. merged: of two that say the same, or go well together, the one statement that says it all."""

    relationship: Literal["same", "topic", "conflict", "apart"]
    merged: Annotated[str, Field(max_length=LONGEST_SENTENCE)] = ""


@dataclass(frozen=True)
class ModelJudge:
    """Judges two statements as an UpdateJudge does (PlugMem C.5); where the model fails both stay.

    timeout_s: for one pair, corrections included.
    """

    model: ChatModel
    timeout_s: float = 30.0
    max_repairs: int = 1

    def __call__(self, earlier: Proposition, later: Proposition) -> Update:
        """Return what becomes of them; a merged statement has the words of both, and no name, number or denial of
        either is lost or comes in."""

        def checked(reply: Merging) -> Update:
            if reply.relationship == "apart":
                return Update("weak")
            if reply.relationship == "conflict":
                return Update("conflict", deactivate_earlier=True)
            merged = " ".join(reply.merged.split()).removeprefix(f"{later.subject}: ")
            new = set(stems(merged)) - set(stems(f"{earlier.text} {later.text}"))
            wrong = sorted(new) + added_by(merged, earlier.text, later.text)
            if not merged or wrong:
                raise RejectedReplyError(
                    "added", f"merged {merged!r:.100}: neither says {', '.join(wrong) or 'nothing'}"
                )
            if lost := [mark for one in (earlier, later) for mark in added_by(one.statement, merged)]:
                raise RejectedReplyError("lost", f"merged {merged!r:.100}: it does not say {', '.join(lost)}")
            text = f"{later.subject}: {merged}" if later.subject else merged
            if any(one.structure and one.text != text for one in (earlier, later)):
                return Update("weak")  # what was read stays
            kind = "same" if text in (earlier.text, later.text) else reply.relationship
            return Update(kind, text, text != earlier.text, text != later.text)

        said = {"earlier": earlier.text, "later": later.text}
        try:
            return ask_by_prompt(
                self.model, Merging, "memory_merge.j2", Deadline(self.timeout_s), self.max_repairs, checked, **said
            )
        except LlmError:
            return Update("weak")


_MOST = 40  # statements that it reads


class ChosenMode(BaseModel):
    """The reply to: which kind of memory?"""

    mode: Mode


class NextSearch(BaseModel):
    """The reply to: is it enough, or what is looked for next? query: "" where nothing else would help."""

    enough: bool
    query: Annotated[str, Field(max_length=300)] = ""


class Reasoned(BaseModel):
    """The reply to: what is the answer? uses: numbers of the statements that it follows from, from 1; none: unknown."""

    answer: Annotated[str, Field(max_length=1000)]
    uses: Annotated[list[int], Field(max_length=_MOST)]


# Returns what up to k steps say to a query, best first.
FindStatements = Callable[[str, int], Sequence[Proposition]]


@dataclass(frozen=True)
class ModelAnswers:
    """Answers questions by a model.

    find: searches; hops: searches for one question at most (T_max of PlugMem); timeout_s: for one question, all calls
    and corrections included; zone: of the days of statements.
    """

    model: ChatModel
    find: FindStatements
    hops: int = 2
    timeout_s: float = 60.0
    max_repairs: int = 1
    zone: tzinfo | None = None

    def mode(self, question: str, deadline: Deadline) -> Mode:
        """Return the one kind of memory that a question wants; by rules where the model fails."""
        try:
            return self._asked(ChosenMode, "memory_mode.j2", deadline, question=question).mode
        except LlmError:
            return mode_of(question)

    def answer(self, question: str, k: int, otherwise: Callable[[Mode], KnowledgeAnswer]) -> KnowledgeAnswer:
        """Return what follows from the statements; otherwise: answers in the mode where the model fails."""
        deadline = Deadline(self.timeout_s)
        mode = self.mode(question, deadline)
        if mode is Mode.PROCEDURAL:
            return otherwise(mode)
        try:
            found = self._found(question, k, deadline)
            reply = self._reasoned(question, found, deadline)
        except LlmError:
            return otherwise(mode)
        used = tuple(found[number - 1] for number in dict.fromkeys(reply.uses))
        if not used:
            return KnowledgeAnswer(question, NOTHING, mode, 0.0)
        return replace(KnowledgeAnswer(question, reply.answer.strip(), mode, 1.0), propositions=used)

    def _found(self, question: str, k: int, deadline: Deadline) -> list[Proposition]:
        """Return the statements of at most `hops` searches; the model stops as soon as they are enough."""
        found, asked = {one.text: one for one in self.find(question, k)}, {question.lower()}
        for _ in range(self.hops - 1):
            lines = [dated(one, self.zone) for one in found.values()]
            plan = self._asked(NextSearch, "memory_search.j2", deadline, question=question, statements=lines)
            query = " ".join(plan.query.split())
            if plan.enough or not query or query.lower() in asked:
                break
            asked.add(query.lower())
            found |= {one.text: one for one in self.find(query, k) if one.text not in found}
        return list(found.values())[:_MOST]

    def _reasoned(self, question: str, found: Sequence[Proposition], deadline: Deadline) -> Reasoned:
        def check(reply: Reasoned) -> None:
            strange = [number for number in reply.uses if not 1 <= number <= len(found)]
            if strange:
                raise RejectedReplyError("unfounded", f"uses {strange}: expected numbers from 1 to {len(found)}")
            if reply.uses and not reply.answer.strip():
                raise RejectedReplyError("empty", "answer: expected words where statements are used")

        lines = [dated(one, self.zone) for one in found]
        return self._asked(Reasoned, "memory_answer.j2", deadline, check, question=question, statements=lines)

    def _asked(
        self,
        schema: type[Schema],
        prompt: str,
        deadline: Deadline,
        check: Callable[[Schema], None] = lambda _: None,
        **said: object,
    ) -> Schema:
        def checked(reply: Schema) -> Schema:
            check(reply)
            return reply

        return ask_by_prompt(self.model, schema, prompt, deadline, self.max_repairs, checked, **said)
