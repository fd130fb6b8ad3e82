"""Reads orders in other words: "give the pan a good scrub", "use the knife to cut the bread", "make me a coffee"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION, WITH
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
        if words[at : at + 2] == ["do", "the"] and words[at + 3 : at + 4] == ["of"]:  # "do the cleaning of the oven"
            return self._nominal(words, at + 2)
        phrase = self._commands.phrase(words, at + 1)
        if phrase is None:
            return None
        if words[at] == "use":
            return self._used(words, phrase)
        thing = end = self._past_place(words, phrase.end)
        while end < len(words) and words[end] in _MEASURE:
            end += 1
        verb = self._english.base_form(words[end]) if thing < end < len(words) else ""
        handed = self._commands.phrase(words, end) if verb else None
        if handed is not None and handed.named and handed.end > end + 1:
            return None  # "give me a hand towel"
        found = self._commands.read([verb, *words[phrase.begin : thing], *words[end + 1 :]], 0) if verb else None
        return None if found is None else (found[0], end + found[1] - (thing - phrase.begin))

    def _past_place(self, words: Sequence[str], at: int) -> int:
        """Return where "in the hall" ends of "give the mirror in the hall a wipe"; the word itself for others."""
        placed = self._english.preposition_at(words, at)
        place = self._commands.phrase(words, at + placed[1]) if placed is not None else None
        return place.end if place is not None else at

    def _nominal(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        base = self._english.base_form(words[at]) if words[at].endswith("ing") else ""
        found = self._commands.read([base, *words[at + 2 :]], 0) if base else None
        return None if found is None else (found[0], at + 1 + found[1])

    def inverted(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "onto the counter with the pot", "off with the lamp", "off to the kitchen with you"."""
        if words[at] in ("on", "off") and words[at + 1 : at + 2] == ["with"]:
            return self._with(["turn"], words, at + 1, [words[at]])
        start = end = at + (words[at] in ("off", "away") and words[at + 1 : at + 2] == ["to"])
        while end < len(words) and (found := self._english.preposition_at(words, end)) is not None and found[0] != WITH:
            place = self._commands.phrase(words, end + found[1])
            if place is None:
                return None
            end = place.end
        if end == start or words[end : end + 1] != ["with"]:
            return None
        if words[end + 1 : end + 2] == ["you"]:
            going = self._commands.read(["go", *words[start:end]], 0)
            return None if going is None else (going[0], end + 2)
        return self._with(["put"], words, end, words[start:end])

    def _with(
        self, verb: Sequence[str], words: Sequence[str], at: int, rest: Sequence[str]
    ) -> tuple[Command, int] | None:
        """Read verb, the thing behind "with", and the rest as if they stood in a command's order."""
        thing = self._commands.phrase(words, at + 1)
        ends = thing is not None and (thing.end >= len(words) or words[thing.end] in PUNCTUATION | {"and", "then"})
        if thing is None or not ends or not (thing.named or thing.refers_back):
            return None
        found = self._commands.read([*verb, *words[thing.begin : thing.end], *rest], 0)
        return None if found is None else (found[0], thing.end)

    def _done(self, words: Sequence[str], phrase: NounPhrase) -> list[str] | None:
        """Return "boil egg" for "a boiled egg"; None for a thing in no such state."""
        said = words[phrase.begin : phrase.end]
        bases = (self._english.base_form(word, participle=True) for word in said if word in self._english.states)
        base = next((base for base in bases if base and base not in said), "")
        return [base, *phrase.head.split()] if base and phrase.called is not None else None

    def _used(self, words: Sequence[str], tool: NounPhrase) -> tuple[Command, int] | None:
        """Read "use the knife to cut the bread"."""
        if words[tool.end : tool.end + 1] not in (["to"], ["for"]):
            return None
        found = self._commands.read(words, tool.end + 1, participle=True)
        return None if found is None else (replace(found[0], instrument=tool), found[1])

    def _cut(self, words: Sequence[str], pieces: NounPhrase) -> tuple[Command, int] | None:
        """Read "[make] slices from the bread", "[make] slices of the bread"."""
        if pieces.named:
            found = self._commands.read(["slice", *pieces.head.split()], 0)
            return None if found is None else (found[0], pieces.end)
        whole = self._commands.phrase(words, pieces.end + 1) if words[pieces.end : pieces.end + 1] == ["from"] else None
        found = self._commands.read(["slice", *words[whole.begin : whole.end]], 0) if whole is not None else None
        return None if whole is None or found is None else (found[0], whole.end)

    def made(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "make some toast", "make me a coffee"."""
        if words[at] not in _MAKING:
            return None
        person = "".join(words[at + 1 : at + 2]) in self._english.people
        phrase = self._commands.phrase(words, at + 1 + person)
        names = (phrase.head, *phrase.attributes) if phrase is not None else ()
        made = next((self._english.made[name].split() for name in names if name in self._english.made), None)
        if made is None and phrase is not None and phrase.pieces:
            return self._cut(words, phrase)
        if made is None and phrase is not None:
            made = self._done(words, phrase)
        found = self._commands.read(made, 0) if made is not None else None
        if phrase is None or found is None:
            return None
        return replace(found[0], to_user=person, text=" ".join(words[at : phrase.end])), phrase.end
