"""The commands of a lesson taken apart by the forms that the engine prints, and how alike their names are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np

from memory_node.domain.ports import TextEmbedder

_LISTED = re.compile(r"Commands have these forms: (?P<forms>[^.\n]+)\.")
# As the engine names doors: "door to the kitchen", "bathroom door", "door".
_DOOR = re.compile(r"\bdoor\b")
_SLOT = re.compile(r"\b(?:OBJ|LOC)\b")


@dataclass(frozen=True)
class Command:
    """A command taken apart. form: with OBJ for each name, arguments: the names, in order."""

    form: str
    arguments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is sent."""
        names = iter(self.arguments)
        return _SLOT.sub(lambda _: next(names), self.form)

    @property
    def is_about_a_door(self) -> bool:
        """Whether a name is a door's."""
        return any(_DOOR.search(name) for name in self.arguments)


class CommandForms:
    """The forms that a first text tells of.

    text: the first text of a lesson; one that tells of no forms knows only commands without names.
    """

    def __init__(self, text: str) -> None:
        listed = _LISTED.search(text)
        forms = [form.strip() for form in listed["forms"].split(";")] if listed is not None else []
        # A form with more words of its own says more exactly which command it is.
        forms.sort(key=lambda form: len(_SLOT.sub("", form)), reverse=True)
        self._patterns = [(form, _pattern(form)) for form in forms]
        self._known: dict[str, Command | None] = {}

    def parse(self, text: str) -> Command | None:
        """Return a command taken apart; None where it has none of the forms."""
        if text not in self._known:
            self._known[text] = self._parsed(text)
        return self._known[text]

    def _parsed(self, text: str) -> Command | None:
        for form, pattern in self._patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                return Command(form, match.groups())
        return None


def _pattern(form: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, _SLOT.split(form))))


# At least so alike are two names of one thing, by their words.
SAME = 0.9
# Of a pot and a cup MiniLM makes 0.44 to 0.53, of a pot and a table 0.3, of a blue jay and an orange 0.4.
ALIKE = 0.44
_WORDS = re.compile(r"[a-z0-9]+")
_SMALL = frozenset({"a", "an", "the", "in", "on", "to", "of"})
_ONE_IS_LONGER = 0.95
_TASK_WORDS = re.compile(r"[\w()'-]+")
# Tasks that share fewer words are of different kinds: what stands in one place means nothing.
_LEAST_ALIKE = 0.5
# A name has no more words.
_LONGEST_NAME = 4


@dataclass(frozen=True)
class NameLikeness:
    """Compares names by their words; by their vectors, too, where a thing is not here and another may do."""

    embedder: TextEmbedder

    def best(self, wanted: Command, possible: Iterable[Command]) -> tuple[Command | None, float]:
        """Return the possible command that is most like a wanted one, and how alike its names are, in [0, 1].

        It has the same form. A command is as alike as the least alike of its names. Nothing takes the place of a thing
        that any possible command names.
        """
        commands = tuple(possible)
        options = [one for one in commands if one.form == wanted.form]
        if not options:
            return None, 0.0
        found = _best([(one, likeness_of(wanted, one)) for one in options])
        if found[1] >= SAME or not wanted.arguments:
            return found
        slots = [
            self._slot(name, [one.arguments[number] for one in options], is_named(name, commands))
            for number, name in enumerate(wanted.arguments)
        ]
        return _best([(one, min(slot[number] for slot in slots)) for number, one in enumerate(options)])

    def _slot(self, name: str, others: Sequence[str], is_here: bool) -> list[float]:
        """Return how alike the names of one place in the commands are."""
        alike = {other: words_alike(name, other) for other in others}
        if is_here:
            return [alike[other] if alike[other] >= SAME else 0.0 for other in others]
        vectors = np.asarray(self.embedder.embed([name, *alike]), np.float64)
        for other, cosine in zip(alike, vectors[1:] @ vectors[0]):
            alike[other] = max(alike[other], float(cosine))
        return [alike[other] for other in others]


def is_named(name: str, possible: Iterable[Command]) -> bool:
    """Return whether any possible command names a thing: it is here."""
    return any(words_alike(name, other) >= SAME for other in {other for one in possible for other in one.arguments})


def likeness_of(one: Command, other: Command) -> float:
    """Return how alike two commands are by the words of their names, in [0, 1]; 0 for other forms."""
    if one.form != other.form:
        return 0.0
    return min(map(words_alike, one.arguments, other.arguments), default=1.0)


@lru_cache(maxsize=100_000)
def words_alike(one: str, other: str) -> float:
    """Return how alike two names are by their words: the engine tells one thing from others by words that it puts
    behind the name ("thermometer in inventory")."""
    first, second = one.lower(), other.lower()
    if first == second:
        return 1.0
    if first.startswith(f"{second} ") or second.startswith(f"{first} "):
        return _ONE_IS_LONGER
    words, others = (set(_WORDS.findall(name)) - _SMALL for name in (first, second))
    return len(words & others) / max(len(words | others), 1)


def swapped_words(task: str, other: str) -> dict[str, str]:
    """Return what `other` says in the place of each word or name of `task` ({"red": "green"}); {} for tasks of
    different kinds."""
    words, others = _TASK_WORDS.findall(task.lower()), _TASK_WORDS.findall(other.lower())
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return {}
    return {
        " ".join(words[a:b]): " ".join(others[c:d])
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag == "replace" and max(b - a, d - c) <= _LONGEST_NAME
    }


def _best(scored: Sequence[tuple[Command, float]]) -> tuple[Command, float]:
    """Return the most alike; of several the one with the fewest letters, which says least besides."""
    return max(scored, key=lambda one: (one[1], -len(one[0].text)))
