"""Reads what only introduces a command: "could you", "I was hoping that you would", "the next job is to"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION, phrase_at

_MODALS = frozenset(["could", "can", "would", "will", "should", "must", "may", "might"])
_ASKED = frozenset(["you", "somebody", "someone"])
_LONGEST = 14  # words of an introduction


class Introductions:
    """Tells where the command begins that words introduce."""

    def __init__(self, commands: CommandReader) -> None:
        self._commands = commands
        self._english = commands.english

    def end(self, words: Sequence[str], at: int) -> int | None:
        """Return where the command begins that is only introduced here; a question behind a command is no more."""
        for opening in self._english.openings:
            if tuple(words[at : at + len(opening)]) != opening:
                continue
            after = at + len(opening)
            while after < len(words) and (words[after] in self._english.fillers or (not at and words[after] == ",")):
                after += 1
            if after >= len(words) or words[after] in PUNCTUATION:
                return after if at and opening[-1] == "you" else None  # "hand me the cup, will you?"
            starts = bool(self._english.base_form(words[after])) or words[after] in ("i", "make", "have")
            starts |= phrase_at(self._english.assurances, words, after) > 0
            if starts and (opening != ("go",) or self._commands.begins(words, after)):
                return after
        return self._at_length(words, at)

    def _at_length(self, words: Sequence[str], at: int) -> int | None:
        """Return where the command begins behind small words that ask for one: "what you are supposed to do is"."""
        asks, found = False, None
        for end in range(at, min(at + _LONGEST, len(words) - 1)):
            word = words[end]
            if word not in self._english.introducing and not (word == ":" and asks):
                return found
            asks |= word in _ASKED | self._english.assignments
            leads = word in ("to", ":") or (word in _MODALS and words[end - 1] in _ASKED)
            if asks and leads and end > at and self._commands.begins(words, end + 1):
                found = end + 1  # the last: "what you have to [do next is to] ..."
        return found


def asks_for_deed(words: Sequence[str], commands: CommandReader) -> bool:
    """Return whether words that read like a remark ask the robot for a deed: "... whether you could open it"."""
    return any(
        word in _MODALS | {"to"} and "you" in words[max(0, at - 3) : at] and commands.begins(words, at + 1)
        for at, word in enumerate(words[:-1])
    )
