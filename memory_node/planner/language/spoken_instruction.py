"""One instruction as the grammar reads it: its commands and remarks, and the words that are neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_node.planner.language.fragments import Fragment
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command


@dataclass(frozen=True)
class Remark:
    """Things that are spoken of without a command: "there is a phone on the bed, ...".

    stands_first: its thing is what the next command is about: "the vase, you put on the shelf".
    """

    phrases: tuple[NounPhrase, ...]
    stands_first: bool = False


Parts = tuple[Command | Remark, ...]  # of an instruction, in the order of doing


def named_targets(parts: Parts) -> list[str]:
    """Return the classes of what commands are to handle, as far as the words tell it."""
    targets = (one for part in parts if isinstance(part, Command) for one in part.targets)
    return [one.called.all[0] for one in targets if one.called is not None and not one.generic]


_ENDING = frozenset(["stop", "quit", "halt", "cancel", "abort", "pause"])


@dataclass(frozen=True)
class Instruction:
    """An instruction as the grammar reads it.

    words: all of them; kept: without what was taken back. parts: commands and remarks in the order of doing. aside:
    words of what is not to be done, and of why. unread: words that no rule explains. fragment: what stands in place of
    commands. taken_back: something is. asks: it is a question about how things are. put_off: the time or the condition
    that a command is put off to, "" where all is to be done at once.
    """

    words: tuple[str, ...]
    kept: tuple[str, ...] = ()
    parts: Parts = ()
    aside: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    fragment: Fragment | None = None
    taken_back: bool = False
    asks: bool = False
    put_off: str = ""

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands among the parts."""
        return tuple(part for part in self.parts if isinstance(part, Command))

    @property
    def answers(self) -> bool:
        """Whether it is only part of a command, such as the answer to a question."""
        return self.fragment is not None and not self.fragment.orders

    @property
    def plain(self) -> bool:
        """Whether every word is accounted for."""
        return bool(self.commands) and not any(unread_runs(self))

    @property
    def denies(self) -> bool:
        """Whether something is denied that no rule explains."""
        words = self.unread if self.commands else (*self.unread, *self.aside)
        ended = any(command.verb in _ENDING and command.unread for command in self.commands)  # "stop washing the mug"
        return ended or bool({"not", "never", "no"} & set(words))

    @property
    def strange_nouns(self) -> tuple[str, ...]:
        """The nouns in commands that name no class, with the unknown words before them: "salad tongs"."""
        phrases = (phrase for command in self.commands for phrase in command.phrases)
        strange = (
            one
            for one in phrases
            if one.head and not (one.pronoun or one.person or one.described or one.named) and one.group is None
        )
        return tuple(" ".join((*one.attributes, one.head) if one.peculiar else (one.head,)) for one in strange)

    @property
    def described(self) -> bool:
        """Whether words tell a thing by what no label space knows: "the shallow bowl with the chipped rim"."""
        return any(phrase.peculiar for command in self.commands for phrase in command.phrases)


@dataclass
class Heard:
    """What has been read of an instruction so far; see Instruction. spans: words [begin, end), and whether they ask
    for something, or say what no rule explains."""

    parts: list[Command | Remark] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    spans: list[tuple[int, int, bool]] = field(default_factory=list)

    @property
    def commands(self) -> list[Command]:
        """The commands among the parts."""
        return [part for part in self.parts if isinstance(part, Command)]


def unread_runs(read: Instruction | Heard) -> tuple[Sequence[str], ...]:
    """Return the words that no rule explains: those beside the commands, then those of each command."""
    return (read.unread, *(command.unread for command in read.commands))
