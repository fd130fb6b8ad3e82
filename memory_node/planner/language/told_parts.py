"""Reads what was told by its parts, in whatever order they stand: who, which thing, which place, and how they belong
together. It is asked where no sentence of told_facts.yaml fits, and says the same in the words of one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_node.knowledge.text.words import STOP_WORDS, stem
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_patterns import told_words

_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:['’]s\b)?")
_POSSESSIVE = re.compile(r"['’]s$")
_DETERMINERS = frozenset(
    re.findall(r"\w+", "the that this these those a an some any every each all our my his her their")
)
_PREPOSITIONS = frozenset(["in", "into", "on", "onto", "to", "at", "under", "near", "by", "beside", "behind", "inside"])
# "Only", "no" and the like are part of what is said, and so is when it holds.
_SILENT = STOP_WORDS - frozenset(
    re.findall(r"\w+", "no not nor never cannot without than but or before after under over if when while off out")
)
# Words before a thing that may tell which one it is.
_MOST_ADJECTIVES = 2


@dataclass(frozen=True)
class _Phrase:
    """[begin, end) of a clause's words that name a thing. place: with its preposition, "" for what is no place."""

    begin: int
    end: int
    text: str
    classes: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True)
class _Parts:
    """who: persons. things, places: in their order. rest: the other words that say something."""

    who: tuple[str, ...]
    things: tuple[_Phrase, ...]
    places: tuple[_Phrase, ...]
    rest: tuple[str, ...]


class PartsReader:
    """Reads clauses with persons by one name each. people: their names, in lower case."""

    def __init__(self, words: ClassWords, people: Collection[str]) -> None:
        self._words = words
        self._people = people

    def plain_sentence(self, clause: str) -> str:
        """Return what a clause says in one of the sentences of told_facts.yaml; "" where it has a word too many."""
        tokens = _TOKEN.findall(clause)
        named = not tokens or _POSSESSIVE.search(tokens[0]) is not None
        if not named and self._words.only_begins(tokens[0].lower(), clause):
            tokens[0] = tokens[0].lower()
        parts = self._parts(tokens)
        return next((said for say in _SENTENCES for said in [say(parts, self._words)] if said), "")

    def _parts(self, tokens: list[str]) -> _Parts:
        lower = [_POSSESSIVE.sub("", token.lower()) for token in tokens]
        phrases = list(self._phrases(tokens, lower))
        outside = _outside(phrases, len(tokens))
        persons = [at for at in outside if self._is_person(tokens[at])]
        rest = (lower[at] for at in outside if at not in persons)
        return _Parts(
            tuple(dict.fromkeys(_POSSESSIVE.sub("", tokens[at]) for at in persons)),
            tuple(phrase for phrase in phrases if not phrase.place),
            tuple(phrase for phrase in phrases if phrase.place and phrase.classes),
            tuple(word for word in rest if word not in _SILENT),
        )

    def _phrases(self, tokens: list[str], lower: list[str]) -> Iterator[_Phrase]:
        end_of_place = -1
        for begin, end, classes in self._words.named(lower):
            start = self._start(tokens, lower, begin)
            named = " ".join(tokens[start:end])
            next_to = lower[max(start - 2, 0) : start] == ["next", "to"]
            opens = start - 2 if next_to else start - 1
            behind_preposition = start > 0 and lower[start - 1] in _PREPOSITIONS
            # "In the box by the door": the door only tells which box.
            qualifies = behind_preposition and opens == end_of_place
            if qualifies or (behind_preposition and self._words.holds(classes)):
                yield _Phrase(opens, end, named, () if qualifies else classes, " ".join(tokens[opens:end]))
                end_of_place = end
            else:
                yield _Phrase(start, end, named, classes)

    def _start(self, tokens: list[str], lower: list[str], begin: int) -> int:
        """Return where the phrase of a noun begins: with "the", "his", "Anna's"; at a clause's begin without it."""
        at = begin
        while at and begin - at < _MOST_ADJECTIVES and self._is_adjective(tokens[at - 1], lower[at - 1]):
            at -= 1
        if at == 0:
            return 0
        opens = lower[at - 1] in _DETERMINERS or _POSSESSIVE.search(tokens[at - 1]) is not None
        return at - 1 if opens else begin

    def _is_adjective(self, token: str, lower: str) -> bool:
        known = lower in STOP_WORDS or lower in _DETERMINERS or _POSSESSIVE.search(token) is not None
        return not known and not self._is_person(token)

    def _is_person(self, token: str) -> bool:
        name = _POSSESSIVE.sub("", token)
        return name[:1].isupper() and name.lower() in self._people and not self._words.classes(name)


def _outside(phrases: Sequence[_Phrase], count: int) -> list[int]:
    """Return the places of the words, of so many, that are in no phrase."""
    inside = {at for phrase in phrases for at in range(phrase.begin, phrase.end)}
    return [at for at in range(count) if at not in inside]


def _owned(parts: _Parts, words: ClassWords) -> str:
    if len(parts.who) != 1 or len(parts.things) != 1 or parts.places or not words.carried(parts.things[0].classes):
        return ""
    definite = parts.things[0].text.lower().startswith(("the ", "this ", "that ", "these ", "those "))
    return f"{parts.things[0].text} is {parts.who[0]}'s" if definite and _says(parts.rest, "owned") else ""


def _kept(parts: _Parts, words: ClassWords) -> str:
    if parts.who or not parts.things or len(parts.places) != 1 or not _says(parts.rest, "kept"):
        return ""
    carried = [one for one in parts.things if words.carried(one.classes)]
    return f"{carried[0].text} belongs {parts.places[0].place}" if len(carried) == len(parts.things) == 1 else ""


def _manner(parts: _Parts, words: ClassWords) -> str:
    manners = [word for word in parts.rest if word in told_words().manners]
    others = tuple(word for word in parts.rest if word not in manners)
    if len(parts.who) > 1 or len(parts.things) != 1 or parts.places or len(manners) != 1:
        return ""
    if others and not _says(others, "manner"):
        return ""
    thing, adjective = re.sub(r"^(?:\w+['’]s|his|her|their|every|each|all) ", "", parts.things[0].text), manners[0]
    adjective = told_words().manners[adjective]
    return f"{parts.who[0]} wants {thing} {adjective}" if parts.who else f"{thing} must be {adjective}"


def _meal(parts: _Parts, words: ClassWords) -> str:
    meals = [word for word in parts.rest if word in _cues()["meal"]]
    others = [word for word in parts.rest if word not in meals]
    one_each = len(parts.who) == len(parts.things) == len(set(meals)) == 1 and not parts.places
    if not one_each or not words.edible(parts.things[0].classes) or not all(_is_cue(one, "means") for one in others):
        return ""
    return f"{parts.who[0]}'s {meals[0]} is {_with_article(parts.things[0].text)}"


def _likes(parts: _Parts, words: ClassWords) -> str:
    if len(parts.who) != 1 or len(parts.things) != 1 or parts.places or not _says(parts.rest, "likes"):
        return ""
    thing = parts.things[0]
    return f"{parts.who[0]} likes {_bare(thing.text)}" if words.edible(thing.classes) else ""


def _sits(parts: _Parts, words: ClassWords) -> str:
    if len(parts.who) != 1 or parts.things or len(parts.places) != 1 or not _says(parts.rest, "sits"):
        return ""
    how, _, spot = parts.places[0].place.removeprefix("next ").partition(" ")
    return f"{parts.who[0]} is {how if how in ('at', 'in', 'on', 'by') else 'at'} {spot}"


_SENTENCES = (_owned, _kept, _manner, _meal, _likes, _sits)


def _says(rest: tuple[str, ...], relation: str) -> bool:
    """Return whether words say a relation, and nothing else."""
    fillers = _cues()["nothing"]
    said = [word for word in rest if word not in fillers]
    return bool(said) and all(_is_cue(word, relation) for word in said)


def _is_cue(word: str, relation: str) -> bool:
    return word in _cues()[relation] or stem(word) in _cues()[relation]


def _bare(thing: str) -> str:
    return re.sub(rf"^(?:{'|'.join(sorted(_DETERMINERS))}|\w+['’]s) ", "", thing, flags=re.I)


def _with_article(thing: str) -> str:
    return f"a {_bare(thing)}"


@lru_cache(maxsize=1)
def _cues() -> Mapping[str, frozenset[str]]:
    """Return the words of each relation, also as stems."""
    return {
        relation: frozenset(said) | {stem(word) for word in said} for relation, said in told_words().by_parts.items()
    }
