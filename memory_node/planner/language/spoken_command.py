"""One command as its phrases: what to do, with what, from where, to where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.noun_phrase import NounPhrase

LEFT_OPEN = "..."  # among the unread words of a command: it breaks off ("take the stool to")


class Place(NamedTuple):
    """A place behind a verb. sense: of its preposition (english.py); preposition: its words."""

    sense: str
    preposition: str
    phrase: NounPhrase


@dataclass
class Arguments:
    """What stands behind a verb. unread: words of no rule."""

    targets: list[NounPhrase] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    alternatives: bool = False
    particle: str = ""
    there: bool = False
    here: bool = False
    back: bool = False
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Command:
    """One command as phrases.

    verb: its word; for TELL what is asked. targets: what it is done with, one after the other; `alternatives`: either
    of them. contents: what the target has in it. within: what it is put into before that goes to the destination ("an
    apple in a bowl on the table"). destination: where that goes, `near`: beside or `under` it. origin: where it is
    taken from. instrument: what is used. light: to look at it with. back: to where it was; away: out of sight. there:
    where the last thing went; here: to the person. unread: words that no rule explains. treatment: the catalogue's that
    the verb names.
    """

    kind: GoalKind
    verb: str
    targets: tuple[NounPhrase, ...] = ()
    alternatives: bool = False
    destination: NounPhrase | None = None
    near: bool = False
    under: bool = False
    origin: NounPhrase | None = None
    instrument: NounPhrase | None = None
    light: NounPhrase | None = None
    contents: NounPhrase | None = None
    within: NounPhrase | None = None
    to_user: bool = False
    away: bool = False
    back: bool = False
    there: bool = False
    here: bool = False
    text: str = ""
    unread: tuple[str, ...] = ()
    treatment: str = ""

    @property
    def spoken_verb(self) -> str:
        """The verb as a question can repeat it: "What shall I ...?"."""
        return "do" if self.verb in ("", "bring me") else self.verb

    @property
    def on_it(self) -> bool:
        """Whether it is done with nothing but "it" or "them"."""
        return [one.pronoun for one in self.targets] in (["it"], ["them"])

    @property
    def phrases(self) -> tuple[NounPhrase, ...]:
        """Every phrase of the command."""
        others = (self.destination, self.origin, self.instrument, self.light, self.contents, self.within)
        return (*self.targets, *(phrase for phrase in others if phrase is not None))


def placed(phrase: NounPhrase, sense: str, place: NounPhrase) -> NounPhrase:
    """Return the phrase of a thing that is at a place."""
    return replace(phrase, places=(*phrase.places, (sense, place)))
