"""What was told and no rule reads: whether it may speak against an instruction, or is at least worth saying.

A statement that is not understood is never left out without a word where it is about the same person and thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memory_node.domain.nouns import singular
from memory_node.knowledge.text.words import STOP_WORDS, plain_words
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_patterns import told_patterns
from memory_node.planner.language.told_places import head
from memory_node.planner.language.told_wording import persons_in, speaks_of_speaker

_PLACED = re.compile(
    r"\b(?:in|on|to|at|by|under|near|beside|behind|inside|from|next to) (?:the |his |her |my |our |their )?"
    r"[\w-]+(?: [\w-]+)?"
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


# Whether a clause has what may speak against something.
Cautious = Callable[[str], bool]


def cautious_by_words(clause: str) -> bool:
    """Return whether a clause has a word of caution."""
    return told_patterns().caution.search(clause) is not None


@dataclass(frozen=True)
class NotUnderstood:
    """A clause that no rule read. whole: its statement with persons by one name each; statement: as it was told."""

    clause: str
    whole: str
    statement: str


def speaks_against(told: NotUnderstood, asked: Asked, words: ClassWords, is_cautious: Cautious) -> bool:
    """Return whether a clause may speak against an instruction: it is one of caution, and about the same thing and,
    where it is about somebody, about the same person; or about that person and no thing at all.
    """
    return _bears_on(told, asked, words) and is_cautious(told.clause)


def _bears_on(told: NotUnderstood, asked: Asked, words: ClassWords) -> bool:
    # "Look before you put something in" is said of nobody; "nothing for him" of who was named before.
    who = _persons(told.whole, asked, words)
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
    named = words.classes(_PLACED.sub(lambda place: _thing_in(place.group(), words), told.whole))
    if named:
        return asked.open_wish and words.edible(named)
    # What is told of somebody's food says nothing of the newspaper.
    of_food = told_patterns().of_food.search(told.whole) is not None
    return not of_food or asked.open_wish or words.edible(words.classes(asked.moved))


def concerns(told: NotUnderstood, asked: Asked, words: ClassWords, is_cautious: Cautious) -> bool:
    """Return whether a clause is about the thing that an instruction moves, and about nobody else; or about the same
    person, and no thing or with caution.
    """
    who = _persons(told.whole, asked, words)
    if same_thing(told.whole, asked, words):
        return (
            not who
            or not asked.who
            or bool(who & asked.who)
            or len(words.classes(asked.text) & words.classes(told.whole)) > 1
        )
    return bool(who & asked.who) and (not words.classes(told.whole) or is_cautious(told.clause))


def same_thing(statement: str, asked: Asked, words: ClassWords) -> bool:
    """Return whether a statement is about a thing or place of an instruction."""
    nouns = {singular(word) for word in plain_words(asked.moved) if word not in STOP_WORDS}
    nouns = {head(asked.moved)} & nouns
    if nouns & {singular(word) for word in plain_words(statement)}:
        return True
    return bool(words.classes(asked.text) & words.classes(statement))


def _concerns_anybody(clause: str, asked: Asked, words: ClassWords) -> bool:
    """Return whether a clause is of what anybody does with a thing: "the landlord does not want candles to be lit"."""
    done = told_patterns().done_by_anybody.search(clause) is not None
    return done and words.classes(clause) <= words.classes(asked.text)


def _thing_in(place: str, words: ClassWords) -> str:
    """Return the words of a place that is none: "from wine"."""
    classes = words.classes(place)
    return place if words.carried(classes) and not words.holds(classes) else " "


def _persons(statement: str, asked: Asked, words: ClassWords) -> frozenset[str]:
    """Return the names of a statement that no thing has, in lower case; "i" where it speaks of who told it."""
    people = {
        word
        for word in persons_in(statement)
        if not words.classes(word) and (word in asked.who or not words.only_begins(word, statement))
    }
    return frozenset(people | ({SPEAKER} if speaks_of_speaker(statement) else set()))
