"""Whom and what a pronoun means in what is told, by rules: the one who speaks, or what was named last."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.domain.names import plural
from memory_node.knowledge.text.names import names_in
from memory_node.knowledge.told.clause import LASTING

_SPEAKER = {
    "i": "{}",
    "i'm": "{} is",
    "i am": "{} is",
    "my": "{}'s",
    "mine": "{}'s",
    "me": "{}",
    "i've": "{} has",
    "i have": "{} has",
}
_FIRST_PERSON = re.compile(r"\b(?:(I am|I['’]m|I['’]ve|I have|I|my|mine|me)\b(?:( \w+)\b)?)", re.I)
_OPENING = re.compile(r"^(?:(?:and|but|so|also)\s+)?(she|he|they|it|her|his|their|its)\b(['’]s\b)?", re.I)
_POSSESSIVE = frozenset({"her", "his", "their", "its"})
_OF_THINGS = frozenset({"it", "its"})
_OF_MANY = frozenset({"they", "their", "them"})
# What a clause about a thing is about, or else what it ends with.
_THING_FIRST = re.compile(
    r"^(?P<thing>(?:the|our|my) [\w' -]+?) (?:is|are|was|were|has|have|must|may|should|can|came|comes|went|goes|got|"
    r"gets|stands|stood|lies|lay|hangs|hung|fell|broke|belongs|needs|looks|smells|works|makes|does|will|would|\w+ed)\b",
    re.I,
)
_THING_LAST = re.compile(r"\b(?P<thing>(?:the|our|my) [\w' -]+)$", re.I)
_THING = re.compile(r"\b(?P<thing>(?:the|our|my) [\w'-]+)\b", re.I)
# "It" that means no thing: "it is raining", "it is late", "it is good to know".
_NO_THING = re.compile(r"^it(?:['’]s| is| was) (?:\w+ing|late|early|time|cold|hot|\w+ (?:to|that|for))\b", re.I)
_THING_INSIDE = re.compile(r"\b(?:it|them)\b", re.I)

_PERSON_INSIDE = re.compile(r"\b(?:him|her)\b(?=$|[.,!]| (?:in|on|at|to|when|until|after|before)\b)", re.I)


@dataclass(frozen=True)
class Named:
    """Who and what was named last, as it was written; "" for nothing."""

    person: str = ""
    thing: str = ""

    def after(self, clause: str) -> Named:
        """Return what a pronoun means behind a clause."""
        found = _THING_FIRST.match(clause) or _THING_LAST.search(clause.strip().rstrip(".!")) or _THING.search(clause)
        return Named(last_person(clause, self.person), found["thing"] if found else self.thing)

    def meant_by(self, pronoun: str) -> str:
        """Return whom or what a pronoun at a clause's begin means, "" where nothing was named."""
        if pronoun in _OF_THINGS:
            return self.thing
        if pronoun in _OF_MANY and plural(self.thing.lower()) == self.thing.lower():
            return self.thing or self.person
        return self.person


def told_clauses(text: str) -> list[str]:
    """Return the statements of what was told: a semicolon parts them as a full stop does."""
    return [part.strip() for part in re.split(r"\s*;\s*", text) if part.strip()]


def resolved(clause: str, speaker: str, named: Named) -> str:
    """Return a clause that needs no other: "I" is the speaker, "she" at its begin the one who was named last, "it" and
    "them" the thing.

    Where nobody was named, or nobody is known to speak, the words stay.
    """
    if speaker:
        clause = _FIRST_PERSON.sub(lambda match: _spoken(match[1], match[2] or "", speaker), clause)
    opening = _OPENING.match(clause)
    meant = named.meant_by(opening[1].lower()) if opening else ""
    if opening and meant and not _NO_THING.match(clause):
        possessive = opening[1].lower() in _POSSESSIVE
        said = f"{meant}'s" if possessive else f"{meant} is" if opening[2] else meant
        clause = said + clause[opening.end() :]
    if named.thing and not (opening and opening[1].lower() in _OF_THINGS):
        clause = _THING_INSIDE.sub(named.thing, clause, count=1)
    if named.person and not (opening and meant == named.person):
        clause = _PERSON_INSIDE.sub(named.person, clause, count=1)
    return clause


def last_person(clause: str, before: str) -> str:
    """Return the name, as it is written, that a following pronoun would mean; `before` where the clause has none."""
    found = [
        word for word in re.findall(r"[^\W\d_]+", clause) if word[0].isupper() and word.lower() in names_in(clause)
    ]
    return found[0] if found else before


def _spoken(word: str, verb: str, speaker: str) -> str:
    word = word.lower().replace("’", "'")
    if word == "i" and verb.strip().lower() in LASTING:
        verb += "s"
    return _SPEAKER[word].format(speaker) + verb
