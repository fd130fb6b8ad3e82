"""Reads orders in other words: "give the pan a good scrub", "use the knife to cut the bread", "make me a coffee"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command

_MAKING = frozenset(["make", "brew", "prepare", "fix", "run", "do"])
_MEASURE = frozenset(["a", "good", "quick", "thorough", "nice", "bit", "of", "little", "proper"])


class Idioms:
    """Reads idioms as the plain commands that they mean."""

    def __init__(self, commands: CommandReader) -> None:
        self._commands = commands
        self._english = commands.english

    def given(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "give the pan a good scrub"."""
        if words[at] not in ("give", "have", "take", "do", "use"):
            return None
        phrase = self._commands.phrase(words, at + 1)
        if phrase is None:
            return None
        if words[at] == "use":
            return self._used(words, phrase)
        end = phrase.end
        while end < len(words) and words[end] in _MEASURE:
            end += 1
        verb = self._english.base_form(words[end]) if phrase.end < end < len(words) else ""
        found = self._commands.read([verb, *words[phrase.begin : phrase.end], *words[end + 1 :]], 0) if verb else None
        return None if found is None else (found[0], end + found[1] - (phrase.end - phrase.begin))

    def _used(self, words: Sequence[str], tool: NounPhrase) -> tuple[Command, int] | None:
        """Read "use the knife to cut the bread"."""
        if words[tool.end : tool.end + 1] not in (["to"], ["for"]):
            return None
        found = self._commands.read(words, tool.end + 1, participle=True)
        return None if found is None else (replace(found[0], instrument=tool), found[1])

    def made(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "make some toast", "make me a coffee"."""
        if words[at] not in _MAKING:
            return None
        person = "".join(words[at + 1 : at + 2]) in self._english.people
        phrase = self._commands.phrase(words, at + 1 + person)
        names = (phrase.head, *phrase.attributes) if phrase is not None else ()
        made = next((self._english.made[name] for name in names if name in self._english.made), None)
        found = self._commands.read(made.split(), 0) if made is not None else None
        if phrase is None or found is None:
            return None
        return replace(found[0], to_user=person, text=" ".join(words[at : phrase.end])), phrase.end
