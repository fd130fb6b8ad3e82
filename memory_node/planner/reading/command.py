"""What is said in an instruction, as phrases: commands, and remarks that only speak of things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.noun_phrase import NounPhrase

_UNREAD_WORDS = 6  # that a question repeats


@dataclass(frozen=True)
class Command:
    """One command as phrases.

    verb: its word; for TELL what is asked. targets: what it is done with, one after the other; `alternatives`: either
    of them. destination: where that goes, `near`: beside or `under` it. origin: where it is taken from. instrument:
    what is used. light: to look at it with. way: "back" to where it was, "away" out of sight, "bin". there: where the
    last thing went; here: to the person, as to_user. treatment: the catalogue's that the verb names.
    vessel: what it is put into before that goes to the destination ("an apple in a bowl on the table"). condition: a
    question (TELL) and whether "yes" to it lets the command be done, or "no"; None: it is done in any case.
    """

    kind: GoalKind
    verb: str
    targets: tuple[NounPhrase, ...] = ()
    alternatives: bool = False
    destination: NounPhrase | None = None
    vessel: NounPhrase | None = None
    near: bool = False
    under: bool = False
    origin: NounPhrase | None = None
    instrument: NounPhrase | None = None
    light: NounPhrase | None = None
    to_user: bool = False
    way: str = ""
    there: bool = False
    text: str = ""
    treatment: str = ""
    condition: tuple[Command, bool] | None = None

    @property
    def phrases(self) -> tuple[NounPhrase, ...]:
        """Every phrase of the command."""
        others = (self.destination, self.vessel, self.origin, self.instrument, self.light)
        return (*self.targets, *(phrase for phrase in others if phrase is not None))

    def given_to(self, person: NounPhrase) -> Command | None:
        """Return the command for somebody else, who gets another such thing: "the same for Karl"; None where it is
        for nobody."""
        if self.kind is not GoalKind.PLACE or not (self.to_user or self.destination):
            return None
        targets = tuple(replace(one, other=one.called is not None) for one in self.targets)
        return replace(self, targets=targets, destination=person, near=False, to_user=False, way="")


@dataclass(frozen=True)
class Remark:
    """Things that are only spoken of: what they are said to be asks for nothing.

    unread: the words of a clause that no form explains; "" where one does.
    """

    phrases: tuple[NounPhrase, ...] = ()
    unread: str = ""


Part = Command | Remark
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Fragment:
    """What may answer a question or correct the last command. place: (preposition's sense, phrase). agrees: "yes".

    corrects: it begins with "no", "I mean"; adds: "and the cup, too"; particle: "off".
    """

    thing: NounPhrase | None = None
    also: tuple[NounPhrase, ...] = ()
    place: tuple[str, NounPhrase] | None = None
    particle: str = ""
    agrees: bool = False
    corrects: bool = False


@dataclass(frozen=True)
class Instruction:
    """An instruction as it was read.

    put_off: a time or a condition that the robot cannot wait for. fragment: what it may be instead of commands.
    """

    words: tuple[str, ...]
    parts: Parts = ()
    put_off: str = ""
    ends: bool = False
    fragment: Fragment | None = None

    @property
    def unread(self) -> str:
        """The first words that no form explains; "" where every word is explained."""
        clauses = (part.unread for part in self.parts if isinstance(part, Remark))
        return " ".join(next(filter(None, clauses), "").split()[:_UNREAD_WORDS])

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands among the parts."""
        return tuple(part for part in self.parts if isinstance(part, Command))


def named_classes(phrases: Sequence[NounPhrase]) -> list[str]:
    """Return the class that each named phrase means first."""
    return [one.called.all[0] for one in phrases if one.called is not None]
