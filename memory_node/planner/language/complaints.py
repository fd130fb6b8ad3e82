"""Reads what is amiss as the command that mends it: "the fridge should not be open", "the table needs two plates"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import NEAR, PUNCTUATION
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.wanted_states import STATES, Read, WantedStates

_K = GoalKind
# What ends a state that one of these kinds brings about.
_ENDED_BY = {_K.OPEN: _K.CLOSE, _K.CLOSE: _K.OPEN, _K.SWITCH_ON: _K.SWITCH_OFF, _K.SWITCH_OFF: _K.SWITCH_ON}
_NOT_BE = ["not", "be"]


class Complaints:
    """Reads complaints. wanted: tells states from places."""

    def __init__(self, commands: CommandReader, wanted: WantedStates) -> None:
        self._commands = commands
        self._english = commands.english
        self._wanted = wanted

    def left(self, words: Sequence[str], at: int) -> Read | None:
        """Read "somebody left the tap running": it is to be turned off."""
        somebody = words[at] in ("somebody", "someone") or words[at] in self._english.subjects
        if not somebody or words[at + 1 : at + 2] != ["left"]:
            return None
        phrase = self._commands.phrase(words, at + 2)
        kind = self._ending(words, phrase.end) if phrase is not None and phrase.named else None
        if phrase is None or kind not in (_K.CLOSE, _K.SWITCH_OFF):
            return None
        return Command(kind, "", (phrase,), text=" ".join(words[at : phrase.end + 1])), phrase.end + 1

    def undue(self, words: Sequence[str], at: int) -> Read | None:
        """Read "the fridge should not be standing open": it is to be closed."""
        phrase = self._topic(words, at)
        if phrase is None or words[phrase.end] not in self._english.obliging:
            return None
        state = phrase.end + 3
        if words[phrase.end + 1 : state] != _NOT_BE:
            return None
        while state < len(words) and words[state] in self._english.posed:
            state += 1
        kind = self._ending(words, state)
        if kind is None:
            return None
        end = state + 1
        while end < len(words) and words[end] not in PUNCTUATION | {"and", "then"}:  # "... like that"
            end += 1
        return Command(kind, "", (phrase,), text=" ".join(words[at:end])), end

    def lacking(self, words: Sequence[str], at: int) -> Read | None:
        """Read "the dining table needs three plates on it"."""
        place = self._topic(words, at)
        if place is None or words[place.end] not in ("needs", "need"):
            return None
        thing = self._commands.phrase(words, place.end + 1)
        found = self._english.preposition_at(words, thing.end) if thing is not None and thing.named else None
        if thing is None or found is None:
            return None
        again = self._commands.phrase(words, thing.end + found[1])
        if again is None or again.pronoun not in ("it", "them"):
            return None
        text = " ".join(words[at : again.end])
        return Command(_K.PLACE, "put", (thing,), destination=place, near=found[0] == NEAR, text=text), again.end

    def _topic(self, words: Sequence[str], at: int) -> NounPhrase | None:
        """Return the thing that a sentence begins with, with the places that tell it, if more words follow."""
        phrase = self._commands.phrase(words, at)
        phrase = self._wanted.told_by_places(words, phrase) if phrase is not None else None
        return phrase if phrase is not None and phrase.end < len(words) else None

    def _ending(self, words: Sequence[str], at: int) -> GoalKind | None:
        """Return what ends the state that stands at a word; None where none does."""
        if not self._wanted.is_state(words, at) or words[at] not in STATES:
            return None
        return _ENDED_BY.get(STATES[words[at]])
