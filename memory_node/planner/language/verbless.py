"""Reads commands without a verb: "mug to the sink", "lights off", "bread and apple: in the fridge"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import FOR, PUNCTUATION
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.wanted_states import Read, WantedStates

_K = GoalKind
_SWITCHED = (["on"], ["off"], ["out"], ["open"], ["closed"], ["shut"])


class Verbless:
    """Takes things and where they go, or the state that they are to be in. wanted: reads states."""

    def __init__(self, commands: CommandReader, wanted: WantedStates) -> None:
        self._commands = commands
        self._english = commands.english
        self._wanted = wanted

    def read(self, words: Sequence[str], at: int) -> Read | None:
        """Read "mug to the sink", "lights off", "bread and apple: in the fridge"."""
        phrase = self._commands.phrase(words, at)
        if phrase is None or phrase.end >= len(words) or self._may_be_ordered(words, phrase):
            return None
        if phrase.pronoun == "one" and words[phrase.end] in ("on", "off"):  # "and the other one on"
            return self._ended(words, at, phrase)
        return self._named(words, at, phrase) if phrase.named else None

    def _named(self, words: Sequence[str], at: int, phrase: NounPhrase) -> Read | None:
        found = self._ended(words, at, phrase) or self._listed(words, phrase)
        if found is not None:
            return found
        placed = self._english.preposition_at(words, phrase.end)
        if placed is None:
            return None
        person = self._commands.phrase(words, phrase.end + placed[1])
        if placed[0] == FOR and person is not None and person.person:  # "a towel for me"
            text = " ".join(words[at : person.end])
            return Command(_K.PLACE, "bring", (phrase,), to_user=True, text=text), person.end
        found = self._wanted.as_command(words, "put", phrase, phrase.end)
        if found is None or found[0].unread:
            return None
        if found[1] < len(words) and words[found[1]] not in PUNCTUATION | {"and", "then", "or"}:
            return None
        return None if phrase.definite and self._is_topic(words, found[1]) else found

    def _is_topic(self, words: Sequence[str], end: int) -> bool:
        """Return whether only the next words say what is to be done: "the tomato on the counter, wash it"."""
        ordered = self._commands.read(words, end + 1) if words[end : end + 1] == [","] else None
        return ordered is not None and ordered[0].on_it

    def _ended(self, words: Sequence[str], at: int, phrase: NounPhrase) -> Read | None:
        """Read the one word behind a thing: "phone here", "lights off"."""
        word = words[phrase.end]
        if word == "here":
            text = " ".join(words[at : phrase.end + 1])
            return Command(_K.PLACE, "bring", (phrase,), to_user=True, text=text), phrase.end + 1
        if [word] in _SWITCHED and self._wanted.is_state(words, phrase.end):
            goes_on = at > 0 and words[at - 1] in ("and", "then")  # "could you turn the TV on and the stove off?"
            asks = words[phrase.end + 1 : phrase.end + 2] == ["?"] and not goes_on  # "stove off?"
            found = self._wanted.state(words, phrase, phrase.end)
            return (replace(found[0], kind=_K.TELL, verb=word), found[1]) if asks else found
        return None

    def _may_be_ordered(self, words: Sequence[str], phrase: NounPhrase) -> bool:
        """Return whether an unknown word before a noun may as well be an unknown verb: "marinate four tomatoes"."""
        first, english = words[phrase.begin], self._english
        begins = first in english.determiners | english.every or first in english.numbers or first in english.states
        return phrase.peculiar and not begins and first not in phrase.head.split()

    def _listed(self, words: Sequence[str], first: NounPhrase) -> Read | None:
        """Read several things and where they go."""
        phrases, end = [first], first.end
        while end < len(words) and words[end] in (",", "and"):
            phrase = self._commands.phrase(words, end + 1 + (words[end + 1 : end + 2] == ["and"]))
            if phrase is None or not phrase.named:
                break
            phrases.append(phrase)
            end = phrase.end
        rest = end
        while rest < len(words) and words[rest] in (":", "-", ",", "all", "both", "go", "goes"):
            rest += 1
        if len(phrases) == 1 or rest >= len(words) or self._english.preposition_at(words, rest) is None:
            return None
        return self._wanted.as_command(words, "put", replace(first, end=end), rest)
