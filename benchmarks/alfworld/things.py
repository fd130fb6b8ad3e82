"""What the robot has read of the things in a text game: their names, classes and places."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchmarks.alfworld.sentences import label_of
from benchmarks.alfworld.site import Site
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.names import singular
from memory_node.domain.skill import ObjectReference

_SAME_SPOT_M = 0.75
# A name that more classes answer to is generic, unless people mean one of them by it: "bottle", but not "cup".
_GENERIC = 2


@dataclass(frozen=True)
class Thing:
    """One name of the text. classes: what the label may mean, best first. place: where it is, its own name for a place,
    "" in the hand."""

    name: str
    classes: tuple[str, ...]
    place: str
    position: tuple[float, float, float]

    @property
    def object_class(self) -> str:
        """The class that it is reported as."""
        return self.classes[0]

    @property
    def is_place(self) -> bool:
        """Whether one goes to it by its own name."""
        return self.place == self.name

    def may_be(self, object_class: str) -> bool:
        """Return whether it may be of a class, however that is spelt."""
        return folded(object_class) in map(folded, self.classes)


def classes_of(name: str, kinds: ObjectCatalogue) -> tuple[str, ...]:
    """Return the classes that a name of the text may mean, best first; a label that nobody knows is its own class, in
    the singular, as people's words are read."""
    label = label_of(name)
    known, answering = kinds.find(label), kinds.spoken_names.answering(label)
    if known is not None and (known.everyday or len(answering) <= _GENERIC):
        return (known.name,)
    return answering or (" ".join(map(singular, label.split())),)


@dataclass
class Things:
    """The things by name; `used` counts the slots given out at each place."""

    kinds: ObjectCatalogue
    site: Site
    by_name: dict[str, Thing] = field(default_factory=dict)
    _used: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in self.site.places:
            classes = classes_of(place, self.kinds)
            self.by_name[place] = Thing(place, classes, place, self.site.position(place))

    def put(self, name: str, place: str) -> Thing:
        """Return a thing after it was seen or put at a place, "" for the hand."""
        known = self.by_name.get(name)
        classes = known.classes if known is not None else classes_of(name, self.kinds)
        position = known.position if known is not None else (0.0, 0.0, 0.0)
        if place:
            number = self._used.get(place, 0)
            self._used[place] = number + 1
            position = self.site.slot(place, number)
        thing = self.by_name[name] = Thing(name, classes, place, position)
        return thing

    def at(self, place: str) -> list[Thing]:
        """Return the things that lie at a place."""
        return [thing for thing in self.by_name.values() if thing.place == place and not thing.is_place]

    def of_class(self, object_class: str) -> list[Thing]:
        """Return the things that may be of a class."""
        return [thing for thing in self.by_name.values() if thing.may_be(object_class)]

    def meant(self, text: str) -> Thing | None:
        """Return the thing that an argument of a skill means: a name, a class, or a class at a position; None for none.

        Of several of a class the one at the position counts; without a position any does.
        """
        if text in self.by_name:
            return self.by_name[text]
        try:
            reference = ObjectReference.parse(text)
        except InvalidValueError:
            return None
        candidates = self.of_class(reference.object_class)
        position = reference.position
        if position is None:
            return candidates[0] if candidates else None
        near = [(math.dist(thing.position, position), thing.name) for thing in candidates]
        distance, name = min(near, default=(math.inf, ""))
        return self.by_name[name] if distance <= _SAME_SPOT_M else None
