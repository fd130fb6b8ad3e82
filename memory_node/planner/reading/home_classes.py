"""What memory tells a reader of instructions: the classes and rooms that it holds; evidence, never a mask on names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.names import is_called
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Mention

# A phrase and the states that it claims -> classes of what memory holds of that kind, the most relevant first.
Recall = Callable[[str, tuple[ObjectState, ...]], Sequence[str]]


# "The pen that you took out of the drawer", "the mug again" -> the thing that is meant; None where memory tells none.
Remembered = Callable[[str], Mention | None]


def nothing_remembered(_text: str) -> None:
    """Stand in for a robot that remembers no deed."""


def nothing_recalled(_text: str, _states: object) -> Sequence[str]:
    """Stand in for memory where there is none."""
    return ()


@dataclass(frozen=True)
class HomeClasses:
    """The classes that memory holds, movable things and fixtures; both empty: nothing is known. rooms: by their names.
    people: who is there, by their names in small letters.

    supports: the class of each thing, with that of what it is on or in, "" where that is unknown. held: the
    class of what the hand holds, "" for an empty hand. surveyed: every place was looked at lately: big furniture that
    memory does not hold is not there. remembered: what is told apart by what the robot did with it.
    """

    objects: frozenset[str] = frozenset()
    fixtures: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    held: str = ""
    surveyed: bool = False
    people: Mapping[str, Mention] = field(default_factory=dict)
    supports: tuple[tuple[str, str], ...] = ()
    remembered: Remembered = nothing_remembered

    @property
    def all(self) -> frozenset[str]:
        """Movable things and fixtures together."""
        return self.objects | self.fixtures

    def lying_on(self, places: Collection[str]) -> list[str]:
        """Return the classes of what is on or in furniture of some classes."""
        return [name for name, place in self.supports if place in places]

    def number_of(self, name: str, *places: Collection[str]) -> int:
        """Return how many of a class there are; places: on or in furniture of one of these classes."""
        return sum(one == name and all(place in among for among in places) for one, place in self.supports)

    def has_room(self, name: str) -> bool:
        """Return whether it has a room of a name."""
        return any(is_called(one, name) for one in self.rooms)

    def with_classes(self, names: Collection[str], kinds: ObjectCatalogue) -> HomeClasses:
        """Return the home as if memory held things of some classes, too."""
        movable = frozenset(name for name in names if kinds[name].pickupable)
        return replace(self, objects=self.objects | movable, fixtures=self.fixtures | (frozenset(names) - movable))


def lacks(home: HomeClasses, mention: Mention, kinds: ObjectCatalogue) -> bool:
    """Return whether memory, which knows furniture of this home, holds none of what is meant; no person lacks."""
    names = mention.candidates
    if not (names and home.fixtures) or mention.original_place:
        return False
    return home.all.isdisjoint(names) and kinds.recipient not in names
