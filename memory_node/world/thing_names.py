"""Short names of the things of one site: class and number ("Mug 2"). A name is given once and never again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from memory_node.catalogue.class_name import folded
from memory_node.domain.scene import SceneObject

# Of a class that no label space declares: a detector may call things anything.
_LONGEST_CLASS = 40
_UNNAMED = "Thing"
THING_NAMES = "thing_names"  # the store's kind of the last number that was given in each class


def name_of_class(class_name: str) -> str:
    """Return what the names of the things of a class begin with."""
    return "".join(letter for letter in class_name if letter.isalnum())[:_LONGEST_CLASS] or _UNNAMED


class ThingNames:
    """Which id each name stands for. Names are found however they are spelt: "side table 2" is SideTable 2."""

    def __init__(self) -> None:
        self._id_of: dict[str, str] = {}
        self._last: dict[str, int] = {}
        self._given: dict[str, int] = {}

    def id_of(self, text: str) -> str:
        """Return the id that a name or an alias stands for, "" for none."""
        return self._id_of.get(_spelling(text), "")

    def give(self, object_id: str, class_name: str) -> str:
        """Return a new name for a thing of a class."""
        word = name_of_class(class_name)
        start = self._last.get(word.casefold(), 0) + 1
        number = next(one for one in itertools.count(start) if not self.id_of(f"{word} {one}"))
        self.note_last({word: number})
        self._given[word] = number
        name = f"{word} {number}"
        self._id_of[_spelling(name)] = object_id
        return name

    def take(self, object_id: str, names: Iterable[str]) -> None:
        """Let names stand for a thing; one that was given to another thing keeps its meaning."""
        for name in filter(None, names):
            self._id_of.setdefault(_spelling(name), object_id)
            word, _, number = name.rpartition(" ")
            if word and number.isascii() and number.isdigit():
                self.note_last({word: int(number)})

    def drop(self, object_id: str, names: Iterable[str]) -> None:
        """Let the names of a thing stand for nothing."""
        for name in names:
            if self.id_of(name) == object_id:
                del self._id_of[_spelling(name)]

    @property
    def last(self) -> dict[str, int]:
        """The last number that was given in each class."""
        return dict(self._last)

    def note_last(self, last: Mapping[str, int]) -> None:
        """Take over the last numbers that were given, by class."""
        for word, number in last.items():
            self._last[word.casefold()] = max(number, self._last.get(word.casefold(), 0))

    def take_given(self) -> dict[str, int]:
        """Return the last number of each class in which names were given since this was asked last."""
        given, self._given = self._given, {}
        return given


def called(reference: str, objects: Sequence[SceneObject]) -> SceneObject | None:
    """Return which of some things an id, a name or an alias stands for, None for none."""
    names, by_id = ThingNames(), {one.id: one for one in objects}
    for one in objects:
        names.take(one.id, (one.name, *one.aliases))
    return by_id.get(reference) or by_id.get(names.id_of(reference))


def _spelling(name: str) -> str:
    return folded(name) or name
