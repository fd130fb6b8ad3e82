"""A language model reads what people tell into facts; what its reply adds to the words is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memory_node.knowledge.text.words import stems
from memory_node.knowledge.told.fact import NOTHING, Relation, Term, ToldFact
from memory_node.knowledge.told.forms import Read, TellingReader
from memory_node.knowledge.told.times import until_of
from memory_node.llm.ask import ask_by_prompt
from memory_node.llm.chat import ChatModel, Deadline, LlmError, RejectedReplyError

_MOST_KNOWN = 30
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

    def read(self, sentence: str, told_ns: int, teller: str = "") -> Read:
        """Return the facts of one sentence; told_ns: when it was told."""
        by_forms = self._forms.read(sentence, told_ns, teller)
        if by_forms.facts:  # a plain sentence needs no model
            return by_forms
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
        except LlmError:
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
        return self._forms.thing(words) or Term(words) if words else NOTHING


_OF_PERSONS = frozenset({Relation.AVOIDS, Relation.LIKES, Relation.SLEEPS})
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
    "is": "the object, in words, is true of the subject",
}
