"""The verbs of instructions and the kinds of goals that they ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.catalogue.treatment import Treatment
from memory_node.domain.goal_labels import GoalKind

_K = GoalKind
_WORDS: dict[GoalKind, str] = {
    _K.PLACE: "put place move set bring carry transfer store leave drop lay return relocate serve deposit insert add "
    "keep stow position hang deliver hand pass give",
    _K.OPEN: "open",
    _K.CLOSE: "close shut",
    _K.FETCH: "take grab get fetch retrieve hold collect gather lift pick",
    _K.FIND: "find locate seek approach visit",
    _K.BREAK: "break smash crack shatter",
    _K.THROW: "throw toss fling discard trash dispose",
    _K.EXAMINE: "examine inspect view read observe study",
    _K.SWITCH_ON: "activate start light",
    _K.SWITCH_OFF: "deactivate stop extinguish",
}
# Longer forms come first: "turn on" before "turn".
_PHRASES: dict[str, GoalKind] = {
    "get rid of": _K.THROW,
    "dispose of": _K.THROW,
    "throw away": _K.THROW,
    "throw out": _K.THROW,
    "look for": _K.FIND,
    "search for": _K.FIND,
    "go to": _K.FIND,
    "walk to": _K.FIND,
    "drive to": _K.FIND,
    "move to": _K.FIND,
    "look at": _K.EXAMINE,
    "pick up": _K.FETCH,
    "take out": _K.FETCH,
    "turn on": _K.SWITCH_ON,
    "switch on": _K.SWITCH_ON,
    "toggle on": _K.SWITCH_ON,
    "turn off": _K.SWITCH_OFF,
    "switch off": _K.SWITCH_OFF,
    "toggle off": _K.SWITCH_OFF,
}
# verb and a particle behind its object: "turn the lamp on", "throw it away"
_SEPARABLE: dict[tuple[str, str], GoalKind] = {
    ("turn", "on"): _K.SWITCH_ON,
    ("switch", "on"): _K.SWITCH_ON,
    ("toggle", "on"): _K.SWITCH_ON,
    ("turn", "off"): _K.SWITCH_OFF,
    ("switch", "off"): _K.SWITCH_OFF,
    ("toggle", "off"): _K.SWITCH_OFF,
    ("throw", "away"): _K.THROW,
    ("throw", "out"): _K.THROW,
    ("take", "out"): _K.FETCH,
    ("pick", "up"): _K.FETCH,
    ("put", "away"): _K.PLACE,
    ("put", "back"): _K.PLACE,
    ("put", "down"): _K.PLACE,
}
# nouns and adjectives that look like verbs when they open a phrase
_NOT_VERBS = frozenset({"light", "clean", "cool", "warm", "open", "empty", "close"})
_AFTER_PARTICLE = frozenset({"in", "into", "on", "onto", "from", "to", "with", "at", "near", "under", "using"})
_DETERMINERS = frozenset({"the", "a", "an", "it", "them", "this", "that", "these", "those", "my", "all", "two", "both"})


@dataclass(frozen=True)
class VerbReading:
    """What a phrase's opening verb asks for. treatment: the catalogue's, where it is one; rest: the other words."""

    kind: GoalKind
    rest: list[str]
    treatment: str = ""


class Verbs:
    """The verbs of instructions: those of every home, and those of a label space's treatments."""

    def __init__(self, treatments: Iterable[Treatment]) -> None:
        meanings = {word: (kind, "") for kind, words in _WORDS.items() for word in words.split()}
        phrases = {phrase: (kind, "") for phrase, kind in _PHRASES.items()}
        separable = {pair: (kind, "") for pair, kind in _SEPARABLE.items()}
        for treatment in treatments:
            for verb in treatment.verbs:
                first, _, particle = verb.partition(" ")
                if not particle:
                    meanings.setdefault(verb, (treatment.goal, treatment.name))
                    continue
                phrases.setdefault(verb, (treatment.goal, treatment.name))
                separable.setdefault((first, particle), (treatment.goal, treatment.name))
        self._meanings, self._phrases, self._separable = meanings, phrases, separable
        # These only mean something with their particle.
        self._bare = frozenset(verb for verb, _ in separable)

    def base_form(self, word: str) -> str:
        """Return "put" for "putting", "slice" for "slicing"; other words as they are."""
        if word in self._meanings or word in self._bare or not word.endswith("ing"):
            return word
        stem = word[:-3]
        forms = (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)
        return next((form for form in forms if form in self._meanings or form in self._bare), word)

    def read(self, words: list[str]) -> VerbReading | None:
        """Return what a phrase's opening verb asks for; None without a verb."""
        if not words:
            return None
        verb = self.base_form(words[0])
        for length in (3, 2):
            found = self._phrases.get(" ".join([verb, *words[1:length]]))
            if len(words) >= length and found is not None:
                return VerbReading(found[0], words[length:], found[1])
        for index, word in enumerate(words[1:], start=1):
            found = self._separable.get((verb, word))
            # "turn the lamp on the desk on": a particle has no noun behind it
            if found is not None and (index + 1 == len(words) or words[index + 1] in _AFTER_PARTICLE):
                return VerbReading(found[0], words[1:index] + words[index + 1 :], found[1])
        found = self._meanings.get(verb)
        return VerbReading(found[0], words[1:], found[1]) if found is not None else None

    def open_command(self, words: list[str]) -> bool:
        """Return whether a phrase that follows a comma or "and" starts a command of its own."""
        if self.read(words) is None:
            return False
        ambiguous = words[0] in _NOT_VERBS
        return not ambiguous or (len(words) > 1 and words[1] in _DETERMINERS)
