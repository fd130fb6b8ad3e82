"""Noun phrases: which thing is spoken of, how many, in which state, and what tells it from others."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.domain.nouns import singular
from memory_node.domain.states import ObjectState
from memory_node.planner.language.english import INTO
from memory_node.planner.language.lexicon import Called


@dataclass(frozen=True)
class NounPhrase:
    """What a phrase says of a thing.

    text: as said; the words [begin, end) of the instruction. head: its noun, singular. called: the classes that the
    noun names; None where it names none. group: the classes of a group word ("fruit"), () of one for anything
    ("thing"). room: the name of a room. pronoun: what refers back ("it", "one", "them"). person: the one who speaks.
    count: how many; every: all of them. definite: one that the speaker takes for known. states: claimed of it.
    attributes: other words for it (colours, sizes, what it is made of); owner: whose it is. other: not the one spoken
    of before. in_hand: what the robot holds, whatever that is. pieces: slices of it. handled: something was done with
    it before. described: told by its use or looks instead of a name. peculiar: told from others by words that are
    neither colours nor sizes nor names. places: (sense of the preposition, phrase) of where it is. excluded: what is
    not meant. uncounted: some of them, but not how many. part: the part of it that is spoken of ("lid"). strange: its
    noun is no name, nor a word for a part or a way. compounded: another noun tells what it is: "roll of tape".
    of_other: the name of something else that is carried does: "phone book".
    """

    text: str
    begin: int
    end: int
    head: str = ""
    called: Called | None = None
    group: tuple[str, ...] | None = None
    room: str = ""
    pronoun: str = ""
    person: bool = False
    count: int = 1
    every: bool = False
    plural: bool = False
    definite: bool = False
    states: tuple[ObjectState, ...] = ()
    attributes: tuple[str, ...] = ()
    owner: str = ""
    other: bool = False
    in_hand: bool = False
    pieces: bool = False
    handled: bool = False
    described: bool = False
    peculiar: bool = False
    places: tuple[tuple[str, NounPhrase], ...] = ()
    excluded: tuple[NounPhrase, ...] = ()
    uncounted: bool = False
    part: str = ""
    strange: bool = False
    compounded: bool = False
    of_other: bool = False

    @property
    def only_room(self) -> bool:
        """Whether it means a room itself: not "the bedroom windows"."""
        return bool(self.room) and self.called is None

    @property
    def told_room(self) -> str:
        """The room that a thing is in by its name or by where it is: "the bedroom windows"; "" for none."""
        inside = (place.room for sense, place in self.places if sense == INTO and place.only_room)
        return next(filter(None, (self.room, *inside)), "")

    @property
    def named(self) -> bool:
        """Whether its noun is a name or a group word of the label space, or the name of a room."""
        return self.called is not None or bool(self.group) or bool(self.room)

    @property
    def generic(self) -> bool:
        """Whether several classes answer to the name: "the light", "the table"."""
        return self.called is not None and len(self.called.also) > 1

    @property
    def ruled_out(self) -> frozenset[str]:
        """The classes that are named as not meant; none where the same name stands for both ("not the red cup")."""
        own = frozenset(self.called.all if self.called is not None else ())
        others = [frozenset(one.called.all) for one in self.excluded if one.called is not None]
        return frozenset(name for names in others if not own or not own <= names for name in names)

    @property
    def bare(self) -> bool:
        """Whether it means a thing without a word that tells which: "something", "whatever is on the stool"."""
        told = self.group or self.states or self.attributes or self.excluded or self.handled
        return self.described and not told and singular(self.text.split()[-1]) == self.head

    @property
    def is_water(self) -> bool:
        """Whether it means running water, which is turned on and off at a tap."""
        return self.head == "water" and not self.named

    @property
    def pointed_at(self) -> bool:
        """Whether it is shown rather than told: "that wet towel" is wet, and nobody asks for it to be."""
        return self.text.split()[:1] in (["this"], ["that"], ["these"], ["those"])

    @property
    def refers_back(self) -> bool:
        """Whether it means what was spoken of before: "it", "the other one", "a slice"."""
        return bool(self.pronoun) or (self.pieces and not self.named and not self.head)
