"""What was told and no rule reads: whether it may speak against an instruction, or is at least worth saying.

A statement that is not understood is never left out without a word where it is about the same person and thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.nouns import singular
from memory_node.knowledge.text.words import STOP_WORDS, plain_words
from memory_node.planner.language.told_patterns import told_patterns
from memory_node.planner.language.told_wording import persons_in, speaks_of_speaker

_LONGEST_NAME = 3
_PLACED = re.compile(
    r"\b(?:in|on|to|at|by|under|near|beside|behind|inside|from|next to) (?:the |his |her |my |our |their )?"
    r"[\w-]+(?: [\w-]+)?"
)
# What follows a name that begins a statement.
_VERB = re.compile(
    r"is|are|was|were|has|have|had|got|did|cannot|can|must|may|should|will|would|never|always|only|\w+[a-z]s|\w+ed|left|"
    r"lost|took|went|came|broke|said|bought|gave|made|forgot",
    re.I,
)
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|they|them|their)\b", re.I)
# The name of who tells or commands.
SPEAKER = "i"


@dataclass(frozen=True)
class Asked:
    """What an instruction is about. text: persons by one name each. moved: what it handles, in its words. who: persons.
    open_wish: what exactly is left to the robot ("a snack").
    """

    text: str
    moved: str
    who: frozenset[str]
    open_wish: bool


@dataclass(frozen=True)
class NotUnderstood:
    """A clause that no rule read. whole: its statement with persons by one name each; statement: as it was told."""

    clause: str
    whole: str
    statement: str


class ClassWords:
    """The classes that words name, also by a group ("fruit"). kinds: None knows no class."""

    def __init__(self, kinds: ObjectCatalogue | None) -> None:
        self._kinds = kinds

    def classes(self, text: str) -> frozenset[str]:
        """Return every class that a text names."""
        if self._kinds is None:
            return frozenset()
        words = plain_words(text)
        found: set[str] = set()
        at = 0
        while at < len(words):
            # "Glass bottle" is no bottle of wine: the longest name counts.
            lengths = range(min(_LONGEST_NAME, len(words) - at), 0, -1)
            named = ((length, self._called(words[at : at + length])) for length in lengths)
            length, classes = next((one for one in named if one[1]), (1, ()))
            found |= set(classes)
            at += length
        return frozenset(found)

    def _called(self, words: Sequence[str]) -> tuple[str, ...]:
        assert self._kinds is not None
        group = self._kinds.group(singular(words[0])) if len(words) == 1 else ()
        return self._kinds.spoken_names.answering(" ".join(words))[:1] + (group or ())

    def also_called(self, text: str) -> tuple[str, ...]:
        """Return the other names and the groups of the classes that a text names."""
        if self._kinds is None:
            return ()
        classes = self.classes(text)
        names = (name for one in sorted(classes) for name in self._kinds[one].names)
        groups = (group for group, members in self._kinds.groups.items() if classes.intersection(members))
        return tuple(dict.fromkeys((*names, *groups)))

    def can_be(self, thing: str, adjective: str) -> bool:
        """Return whether a thing can be made "warm", "cold", "sliced" or "clean"; what is of no known class, may."""
        if self._kinds is None:
            return True
        needed = {"warm": Property.HEATABLE, "cold": Property.COOLABLE}.get(adjective)
        kinds = [self._kinds[name] for name in self.classes(thing)]
        if adjective == "sliced":
            return not kinds or any(kind.slices for kind in kinds)
        return not kinds or needed is None or any(kind.can(needed) for kind in kinds)

    def edible(self, classes: Collection[str]) -> bool:
        """Return whether one of these classes is eaten."""
        return self._kinds is not None and any(self._kinds[name].can(Property.EDIBLE) for name in classes)


def speaks_against(told: NotUnderstood, asked: Asked, words: ClassWords) -> bool:
    """Return whether a clause may speak against an instruction: it has a word of caution, and is about the same thing
    and, where it is about somebody, about the same person; or about that person and no thing at all.
    """
    if not told_patterns().caution.search(told.clause):
        return False
    # "Look before you put something in" is said of nobody; "nothing for him" of who was named before.
    who = _persons(told.whole, words)
    if not _PRONOUN.search(told.clause):
        who &= persons_in(told.clause) | {SPEAKER}
    if who and not who & asked.who and not _concerns_anybody(told.clause, asked, words):
        return False
    # "Guests get the good plates, never the bowls": the clause names what it forbids.
    if same_thing(told.clause if words.classes(told.clause) else told.whole, asked, words):
        return True
    if not who & asked.who:
        return False
    if told_patterns().timed.search(told.clause) and not told_patterns().timed.search(asked.text):
        return False
    # Where somebody is, is not what is told of them.
    named = words.classes(_PLACED.sub(" ", told.whole))
    if named:
        return asked.open_wish and words.edible(named)
    # What is told of somebody's food says nothing of the newspaper.
    of_food = told_patterns().of_food.search(told.whole) is not None
    return not of_food or asked.open_wish or words.edible(words.classes(asked.moved))


def concerns(told: NotUnderstood, asked: Asked, words: ClassWords) -> bool:
    """Return whether a clause is about the thing that an instruction moves, and about nobody else; or speaks of a
    person whom it names with a word of caution.
    """
    who = _persons(told.whole, words)
    if same_thing(told.whole, asked, words):
        return not who or bool(who & asked.who) or len(words.classes(asked.text) & words.classes(told.whole)) > 1
    return bool(who & asked.who) and told_patterns().caution.search(told.clause) is not None


def same_thing(statement: str, asked: Asked, words: ClassWords) -> bool:
    """Return whether a statement is about a thing or place of an instruction."""
    nouns = {singular(word) for word in plain_words(asked.moved)[-1:]} - STOP_WORDS
    if nouns & {singular(word) for word in plain_words(statement)}:
        return True
    return bool(words.classes(asked.text) & words.classes(statement))


def _concerns_anybody(clause: str, asked: Asked, words: ClassWords) -> bool:
    """Return whether a clause is of what anybody does with a thing: "the landlord does not want candles to be lit"."""
    done = told_patterns().done_by_anybody.search(clause) is not None
    return done and words.classes(clause) <= words.classes(asked.text)


def _persons(statement: str, words: ClassWords) -> frozenset[str]:
    """Return the names of a statement that no thing has, in lower case; "i" where it speaks of who told it."""
    people = {
        word for word in persons_in(statement) if not words.classes(word) and not _is_common(word, statement, words)
    }
    return frozenset(people | ({SPEAKER} if speaks_of_speaker(statement) else set()))


def _is_common(word: str, statement: str, words: ClassWords) -> bool:
    """Return whether a capitalised word only begins the statement: it is no name that a verb or "'s" follows."""
    if not statement.lower().startswith(word):
        return False
    behind = re.match(rf"{re.escape(word)}(['’]s)? (?:\w+ly )?(?P<next>[\w-]+)", statement, re.I)
    return behind is None or bool(words.classes(behind["next"])) or not _VERB.fullmatch(behind["next"])
