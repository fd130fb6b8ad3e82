"""Brings what people tell into plain wording: persons by one name each, no contractions, one clause at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memory_node.domain.nouns import singular
from memory_node.knowledge.coreference import Named, resolved
from memory_node.knowledge.text.words import STOP_WORDS, plain_words
from memory_node.planner.language.told_patterns import told_patterns, told_words
from memory_node.planner.language.told_takes_back import without_what_is_taken_back

_CONTRACTIONS = (
    (re.compile(r"\bcan['’]t\b|\bcan not\b", re.I), "cannot"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"(?<=\w)n['’]t\b", re.I), " not"),
    (re.compile(r"\b(he|she|it|that|there)['’]s got\b", re.I), r"\1 has"),
    (re.compile(r"\b(I|we|they|you)['’]ve got\b", re.I), r"\1 have"),
    (re.compile(r"\b(\w+) (has|have) got\b", re.I), r"\1 \2"),
    (re.compile(r"\b(he|she|they|we|I)['’]d (?=(?:like|love|prefer|rather)\b)", re.I), r"\1 would "),
    (re.compile(r"\b(he|she|it|that|there)['’]s\b", re.I), r"\1 is"),
    (re.compile(r"\b(they|we|you)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(they|we|you|I)['’]ve\b", re.I), r"\1 have"),
)
_NAME = r"(?P<name>[A-Z][\w-]*)"
_POSSESSED = re.compile(r"\b(hers|his|theirs)$", re.I)
_CAPITAL = re.compile(r"\b[A-Z][\w-]*")
_SUBJECT = re.compile(
    r"(?i:the|our|my) [\w' -]+?(?= (?:is|are|was|were|has|have|must|may|should|goes?|belongs?|lives?|gets?)\b)"
    r"|[A-Z][\w-]*"
)
_SPEAKER = re.compile(r"\b(?:I|me)\b", re.I)


class People:
    """Gives every person one name, a capitalised word: "the kids" Child, "Aunt Vera" Vera, "my sister Paula" Paula.

    statements: what was told. It says who "my sister" is, and whom it speaks of.
    """

    def __init__(self, statements: Iterable[str]) -> None:
        words = told_words()
        titles, kin = "|".join(words.titles), "|".join(sorted(words.people, key=len, reverse=True))
        whose = r"\b(?:(?i:my|our|his|her|their|the|your)|[A-Z][\w-]*['’]s)"
        self._titled = re.compile(rf"\b(?:{titles})\.? {_NAME}", re.I)
        self._kin_named = re.compile(rf"{whose} (?P<kin>(?i:{kin})),? {_NAME}\b,?")
        self._named_kin = re.compile(rf"\b{_NAME}(?:,| is) (?:my|our|the) (?P<kin>(?i:{kin}))\b")
        self._kin = re.compile(
            rf"(?:\b(?:my|our|the|your|all|a|an) )?(?:old |little |young )?\b(?P<kin>{kin})(?P<many>s?)\b", re.I
        )
        self._kin_of = re.compile(rf"\b{_NAME}['’]s (?P<kin>(?i:{kin}))\b")
        self._names: dict[str, str] = {}
        told = list(statements)
        for pattern in (self._kin_named, self._named_kin):
            for statement in told:
                for match in pattern.finditer(statement):
                    self._names.setdefault(self._noun(match["kin"]), match["name"])
        for statement in told:
            for match in self._kin_of.finditer(statement):
                self._names.setdefault(self._noun(match["kin"]), self._of(match))

    def plain(self, text: str) -> str:
        """Return a text with every person under one name."""
        text = self._kin_named.sub(lambda match: match["name"], text)
        text = self._kin_of.sub(self._of, text)
        text = self._titled.sub(lambda match: self._of_title(match), text)
        return self._kin.sub(self._named, text)

    def said(self, name: str, text: str) -> str:
        """Return how a text calls a person of a name: "the kids" for Child."""
        found = (
            match.group()
            for pattern in (self._kin_named, self._kin_of, self._titled, self._kin)
            for match in pattern.finditer(text)
        )
        return next((said for said in found if self.plain(said) == name), name)

    def as_said(self, text: str, instruction: str) -> str:
        """Return a text with its persons called as an instruction calls them."""
        return _CAPITAL.sub(lambda match: self.said(match.group(), instruction), text)

    def _of(self, match: re.Match[str]) -> str:
        return f"{_capital(self._noun(match['kin']))}Of{match['name']}"

    def _of_title(self, match: re.Match[str]) -> str:
        # A title is capitalised; "sister act" is none.
        return match["name"] if match["name"][0].isupper() else match.group()

    def _noun(self, kin: str) -> str:
        noun = kin.lower()
        return told_words().people.get(noun) or told_words().people.get(singular(noun), noun)

    def _named(self, match: re.Match[str]) -> str:
        noun = self._noun(match["kin"])
        return self._names.get(noun) or _capital(noun)


def _capital(noun: str) -> str:
    return noun.replace(" ", "").capitalize()


def plain_clauses(statement: str, people: People) -> Iterator[str]:
    """Yield the clauses of a statement, each by itself: "Tom is vegan, so he never eats eggs" says two things."""
    patterns, named = told_patterns(), Named()
    said = uncontracted(without_what_is_taken_back(statement.strip()).rstrip(".!"))
    said = patterns.fillers.sub("", patterns.opening.sub("", said)).strip(" ,")
    for part in patterns.parts.split(people.plain(said)):
        whole = resolved(patterns.closing.sub("", part.strip(" ,")), "", named)
        if named.person:
            whole = _POSSESSED.sub(f"{named.person}'s", whole)
        named = named.after(whole)
        yield from _with_their_subject(whole)


def uncontracted(text: str) -> str:
    """Return a text with whole words for contractions: "isn't" as "is not"; possessives stay."""
    for pattern, words in _CONTRACTIONS:
        text = pattern.sub(words, text)
    return text


def people_also_called(text: str) -> tuple[str, ...]:
    """Return the other words for the persons that a text calls by none of their names: "children" for "the kids"."""
    people = told_words().people
    meant = {people[word] for word in map(singular, plain_words(text)) if word in people}
    return tuple(word for word, noun in people.items() if noun in meant)


def persons_in(text: str) -> frozenset[str]:
    """Return the capitalised words of a text that are no function words, in lower case; things may be among them."""
    return (
        frozenset(word.lower() for word in _CAPITAL.findall(text) if singular(word.lower()) not in told_words().times)
        - STOP_WORDS
    )


def speaks_of_speaker(text: str) -> bool:
    """Return whether a text says "I" or "me"; whose "my" mug is says nothing of whom it speaks of."""
    return _SPEAKER.search(text) is not None


def _with_their_subject(clause: str) -> Iterator[str]:
    """Yield a clause with two verbs as two: "Bert stays with us and sleeps on the sofa"."""
    parts = told_patterns().second_verb.split(clause)
    yield parts[0]
    subject = _SUBJECT.match(parts[0])
    for part in parts[1:]:
        yield f"{subject[0]} {part}" if subject else part
