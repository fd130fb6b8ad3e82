"""Reads words that belong to a verb, or tell what it brings about: "turn it on", "wipe it clean"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.language.english import PUNCTUATION, English, VerbSense
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase_reader import NounPhraseReader
from memory_node.planner.language.spoken_command import Arguments

_RESULTS = {
    GoalKind.CLEAN: ObjectState.CLEANED,
    GoalKind.HEAT: ObjectState.HEATED,
    GoalKind.COOL: ObjectState.COLD,
    GoalKind.OPEN: ObjectState.OPENED,
    GoalKind.CLOSE: ObjectState.CLOSED,
}


@dataclass
class SoFar:
    """The words behind a verb as they are read; see Arguments."""

    sense: VerbSense
    found: Arguments = field(default_factory=Arguments)


class VerbParticles:
    """Its rules return where what they take ends, None where they take nothing.

    is_purpose: whether "to" stands before a deed at a word.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        english: English,
        phrases: NounPhraseReader,
        is_purpose: Callable[[Sequence[str], int], bool],
    ) -> None:
        self._lexicon = lexicon
        self._english = english
        self._phrases = phrases
        self._is_purpose = is_purpose

    def particle(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take a word that belongs to the verb: "turn the lamp on", "pick it up off the floor"."""
        word, found = words[at], reading.found
        if word not in self._english.particles - {"in"} or found.particle:
            return None
        for_somebody = word == "up" and bool(found.places) and found.places[-1].phrase.person  # "warm me up an apple"
        to_some_end = reading.sense.kind is None and self._is_purpose(words, at + 1)  # "switch it on to see better"
        opens_place = self._opens_place(words, at) and not to_some_end and not self._moves_it(words, at, reading)
        if not (found.targets or for_somebody) or opens_place:
            return None
        if word in ("on", "off") and self._english.with_particle(reading.sense.word, word) is None:
            return self._switched(words, at, reading)
        found.particle = word
        return at + 1

    def _switched(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take the end of "stick the telly on" and "take the pan off": what has a switch is switched."""
        target, sense, word = reading.found.targets[-1], reading.sense, words[at]
        if not (self.is_last(words, at + 1) or self._in_room(words, at + 1)):
            return None
        switched = target.called is not None and self._lexicon.is_switched(target.called)
        switched |= word == "off" and target.pronoun == "it"  # "the light, put it off"
        if switched and sense.kind in (GoalKind.PLACE, None):
            reading.sense = self._english.with_particle("turn", word) or sense
        elif sense.kind is not GoalKind.FETCH or word != "off":
            return None
        reading.found.particle = word
        return at + 1

    def goes_on(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take what a thing is doing: "stop that alarm clock beeping"."""
        targets = reading.found.targets
        told = bool(targets) and targets[-1].end == at and targets[-1].named and words[at].endswith("ing")
        return at + 1 if told and self.is_last(words, at + 1) and not self._english.base_form(words[at]) else None

    def _moves_it(self, words: Sequence[str], at: int, reading: SoFar) -> bool:
        """Return whether a blind is moved and a room named: "pull the blinds down in the office"."""
        sense = self._english.with_particle(reading.sense.word, words[at])
        moved = sense is not None and sense.kind in (GoalKind.OPEN, GoalKind.CLOSE)
        return moved and self._in_room(words, at + 1)

    def _in_room(self, words: Sequence[str], at: int) -> bool:
        """Return whether "in" and a room stand at a word."""
        phrase = self._phrases.read(words, at + 1) if words[at : at + 1] == ["in"] else None
        return phrase is not None and bool(phrase.room)

    def _opens_place(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word that may be a particle opens a place: "out the microwave", "off the floor"."""
        word = words[at]
        if word == "out" and self._english.determiners & set(words[at + 1 : at + 2]):
            return True
        placed = self._english.preposition_at(words, at)
        if placed is None or word == "back":
            return placed is not None
        if self._phrases.read(words, at + placed[1]) is None:
            return False
        return word not in ("up", "down", "out", "away") or placed[1] > 1

    def resulting_state(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take a state that belongs to the verb, or that it brings about: "pull the curtains shut", "wipe it clean"."""
        word, found, sense = words[at], reading.found, reading.sense
        if not found.targets or word not in self._english.states:
            return None
        if self._english.with_particle(sense.word, word) is not None:
            found.particle = word
            return at + 1
        brought_about = sense.kind is not None and _RESULTS.get(sense.kind) is self._english.states[word]
        return at + 1 if brought_about and self.is_last(words, at + 1) else None

    def treated(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take what is to be done with a thing that is put "on to boil" or "in to warm"."""
        if not reading.found.targets or words[at] not in ("on", "in") or words[at + 1 : at + 2] != ["to"]:
            return None
        verb = self._english.verb_at(words, at + 2)
        if verb is None or verb[1] != 1 or not self.is_last(words, at + 3):
            return None
        reading.sense = verb[0]
        return at + 3

    def put_in(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take the last word of "open the drawer, put the spoon in"."""
        if words[at] not in ("in", "inside") or not reading.found.targets or not self.is_last(words, at + 1):
            return None
        reading.found.there = True
        return at + 1

    def is_last(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command ends before a word."""
        return at >= len(words) or words[at] in PUNCTUATION | {"and", "then"} | self._english.fillers

    def left_undone(self, words: Sequence[str], at: int, _reading: SoFar) -> int | None:
        """Take what is not to happen on the way: "[put it there] without breaking anything"."""
        if words[at] != "without" or not "".join(words[at + 1 : at + 2]).endswith("ing"):
            return None
        end = at + 2
        while end < len(words) and words[end] not in PUNCTUATION | {"and", "then"}:
            end += 1
        return end
