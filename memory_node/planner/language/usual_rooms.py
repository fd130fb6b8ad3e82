"""In which rooms an instruction takes place, by what it names, and which class of a generic name is used there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Parts

_ELSEWHERE = 0.1  # the share of things of a class that are in other rooms than the catalogue says (room_kinds.py)
_MUCH_LESS = 0.4  # a class this much less likely than the likeliest is not meant


@dataclass(frozen=True)
class RoomClues:
    """What tells of rooms in an instruction.

    classes: the furniture that it names by names of one class each; what can be carried tells nothing of where it goes.
    rooms: the kinds of rooms that it names.
    """

    classes: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()


@dataclass(frozen=True)
class UsualRooms:
    """Weighs classes by the rooms that the catalogue says they are used in. called: kinds of rooms by other names."""

    kinds: ObjectCatalogue
    called: Mapping[str, str] = field(default_factory=dict)

    def clues(self, parts: Parts) -> RoomClues:
        """Return what commands tell of the rooms where they go on; where a thing is taken from may be elsewhere."""
        commands = [part for part in parts if isinstance(part, Command)]
        phrases = [one for command in commands for one in (*command.targets, *_with_places(_goals(command)))]
        single = [one.called.own or one.called.also for one in phrases if one.called is not None]
        one_class = (names[0] for names in single if len(names) == 1)
        classes = frozenset(name for name in one_class if not self.kinds[name].pickupable)
        return RoomClues(classes, self._rooms_of(phrases))

    def likely(self, among: Sequence[str], clues: RoomClues, phrase: NounPhrase) -> list[str]:
        """Return those of some classes that are used where an instruction takes place; all where nothing tells."""
        own = self._rooms_of([phrase])
        rooms = self._rooms(RoomClues(frozenset(), own) if own else clues)
        shares = {name: sum(rooms[room] * self._share(name, room) for room in rooms) for name in among}
        best = max(shares.values(), default=0.0)
        return [name for name in among if shares[name] > _MUCH_LESS * best] or list(among)

    def _rooms(self, clues: RoomClues) -> Mapping[str, float]:
        """Return how probable each kind of room is, up to a factor."""
        if clues.rooms:
            return dict.fromkeys(clues.rooms, 1.0)
        told = [name for name in clues.classes if self.kinds[name].rooms]
        weights = {room: sum(math.log(self._share(name, room)) for name in told) for room in self.kinds.rooms}
        highest = max(weights.values(), default=0.0)
        return {room: math.exp(weight - highest) for room, weight in weights.items()} if told else {}

    def _share(self, name: str, room: str) -> float:
        """Return the share of things of a class that are in a kind of room."""
        usual = self.kinds[name].rooms
        others = len(self.kinds.rooms) - len(usual)
        if not usual or not others:
            return 1.0 / len(self.kinds.rooms)
        return (1.0 - _ELSEWHERE) / len(usual) if room in usual else _ELSEWHERE / others

    def _rooms_of(self, phrases: Collection[NounPhrase]) -> frozenset[str]:
        named = {self.called.get(one.room, one.room) for one in phrases if one.room}
        return frozenset(named & set(self.kinds.rooms))


def _goals(command: Command) -> list[NounPhrase]:
    return [phrase for phrase in (command.within, command.destination) if phrase is not None]


def _with_places(phrases: Collection[NounPhrase]) -> Iterator[NounPhrase]:
    for phrase in phrases:
        yield phrase
        yield from _with_places([place for _, place in phrase.places])
