"""Puts commands into the order of doing where "before ...", "after ...", "once ..." or "when ..." tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import PUNCTUATION
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Heard
from memory_node.planner.language.wanted_states import WantedStates

_MARKS = frozenset(["before", "after", "once", "when"])
# Behind these no thing is missing, or they may as well mean "hurry": "run and get the cloth".
_NEEDS_NO_THING = frozenset(
    {GoalKind.STOP, GoalKind.WAIT, GoalKind.GO, GoalKind.DROP, GoalKind.TELL, GoalKind.SWITCH_ON}
)
_FINISHED = frozenset({GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL, GoalKind.SLICE, GoalKind.FILL})
_FINISHING = frozenset(["you", "have", "are", "finish", "done", "finished", "had", "that", "i", "am"])


class DoingOrder:
    """Reads the commands behind words of order."""

    def __init__(self, commands: CommandReader, wanted: WantedStates) -> None:
        self._commands = commands
        self._english = commands.english
        self._wanted = wanted

    def read(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take the command behind a word of order into what was heard; return where it ends, None where none is."""
        if words[at] not in _MARKS:
            return None
        start = at + 1
        if "".join(words[start : start + 1]) in self._english.subjects - {"you"}:
            return self._due(words, at, heard) if words[at] == "before" else None
        if self._sums_up(words, start):
            return start + 1
        found = self._inner(words, start) or (self._finished(words, start) if words[at] != "before" else None)
        if found is None:
            return None
        inner, end = found
        said = heard.parts[-1] if heard.parts else None
        if isinstance(said, Command):
            heard.parts[-1:] = [said, inner] if words[at] == "before" else _in_order(inner, said)
            return end
        if words[at] == "before":
            return self._main(words, end, inner, heard)
        heard.parts.append(inner)
        return end

    def put_first(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "[put the eggs in the fridge,] but wash them first" before what was said."""
        said = heard.parts[-1] if heard.parts else None
        found = self._commands.read(words, at) if isinstance(said, Command) else None
        if found is None or not isinstance(said, Command):
            return None
        command, end = found
        first = (
            {"first", "before", "beforehand"} & set(words[end - 1 : end + 1])
            and bool(command.targets)
            and command.targets[0].refers_back
        )
        if not first:
            return None
        heard.parts[-1:] = _in_order(command, said)
        return end

    def share(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "wash and slice the apple": both are done with what only the second verb names."""
        found = self._commands.read(words, at)
        if found is None or not _lacks_thing(found[0]) or words[found[1] : found[1] + 1] not in (["and"], [","]):
            return None
        then, end = self._following(words, found[1] + 1)
        if not then or not then[0].targets or then[0].targets[0].refers_back:
            return None
        things = then[0].targets
        several = len(things) > 1 or any(one.plural or one.every or one.count > 1 for one in things)
        word = "them" if several else "it"
        again = NounPhrase(word, 0, 0, pronoun=word, plural=several)
        heard.parts += [replace(found[0], targets=things), replace(then[0], targets=(again,)), *then[1:]]
        return end

    def _following(self, words: Sequence[str], at: int) -> tuple[list[Command], int]:
        """Return the commands that begin at a word and share their thing, or the one that does; and where they end."""
        while at < len(words) and words[at] in ("and", "then"):
            at += 1
        end = self.share(words, at, heard := Heard()) if at < len(words) else None
        if end is not None:
            return [part for part in heard.parts if isinstance(part, Command)], end
        found = self._commands.read(words, at) if at < len(words) else None
        return ([found[0]], found[1]) if found is not None else ([], at)

    def _due(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Read "[the bowl should be washed] before it goes on the table"."""
        later = self._wanted.passive(words, at + 1)
        if later is None or not heard.parts or not isinstance(heard.parts[-1], Command):
            return None
        heard.parts.append(later[0])
        return later[1]

    def _sums_up(self, words: Sequence[str], at: int) -> bool:
        """Return whether "that" stands for all that was said: "after that, wash it"; not so "after that is washed"."""
        following = "".join(words[at + 1 : at + 2])
        if words[at : at + 1] not in (["that"], ["this"]):
            return False
        return self._english.is_verb(following) or not self._english.base_form(following, participle=True)

    def _inner(self, words: Sequence[str], start: int) -> tuple[Command, int] | None:
        """Read "washing it" or "you have washed it" behind the word of order."""
        at = start
        while at < len(words) and words[at] in _FINISHING:
            at += 1
        if at >= len(words) or (at == start and not words[at].endswith("ing")):
            return None
        return self._commands.read(words, at, participle=True)

    def _finished(self, words: Sequence[str], at: int) -> tuple[Command, int] | None:
        """Read "the bread is toasted" behind "once": it is to be toasted first."""
        phrase = self._commands.phrase(words, at)
        if (
            phrase is None
            or not (phrase.named or phrase.pronoun == "it")
            or words[phrase.end : phrase.end + 1] not in (["is"], ["are"], ["has"])
        ):
            return None
        end = phrase.end + 1
        end += words[end : end + 1] == ["been"]
        base = self._english.base_form(words[end], participle=True) if end < len(words) else ""
        found = self._commands.read([base, *words[phrase.begin : phrase.end]], 0) if base != words[end] else None
        return (found[0], end + 1) if found is not None and found[0].kind in _FINISHED else None

    def _main(self, words: Sequence[str], at: int, inner: Command, heard: Heard) -> int | None:
        """Read the command behind "before washing it, ...": it is done first."""
        while at < len(words) and words[at] in PUNCTUATION | self._english.fillers:
            at += 1
        main = self._commands.read(words, at)
        if main is None:
            return None
        heard.parts += _in_order(main[0], inner)
        return main[1]


def _in_order(first: Command, second: Command) -> list[Command]:
    """Return two commands of which the second was said first: "it" in the first one means the second one's thing."""
    if first.targets and first.targets[0].refers_back and second.targets and not second.targets[0].refers_back:
        thing = second.targets[0]
        second = replace(second, targets=(first.targets[0], *second.targets[1:]))
        first = replace(first, targets=(thing, *first.targets[1:]))
    elif first.destination is not None and first.destination.refers_back and second.targets and second.targets[0].named:
        first = replace(first, destination=second.targets[0])  # "close the safe after you put the watch in it"
    elif _is_put_in(first) and second.targets and second.targets[0].named:
        first = replace(first, destination=second.targets[0])  # "start the dishwasher after putting the plate in"
    return [first, second]


def _is_put_in(command: Command) -> bool:
    """Return whether a thing is put into something that its command does not name."""
    return command.kind is GoalKind.PLACE and command.destination is None and command.text.split()[-1:] == ["in"]


def _lacks_thing(command: Command) -> bool:
    """Return whether a command that needs a thing names none."""
    told = command.phrases or command.unread or command.there or command.here
    return not told and command.kind not in _NEEDS_NO_THING
