"""The names under which a language model knows things: those that memory gave them ("Mug 2"). What was found a moment
ago, and what a map has that gives no names, is called after its class until the instruction ends."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject
from memory_node.planner.found_things import FoundThings

# Of a class that no label space declares: a detector may call things anything.
_LONGEST_NAME = 40
_UNNAMED = "Unnamed"


class ShownNames:
    """The names of one instruction, by memory's ids.

    found: what was found by searching, which has names, too.
    """

    def __init__(self, kinds: ObjectCatalogue, found: FoundThings) -> None:
        self._kinds = kinds
        self._found = found
        self._names: dict[str, str] = {}

    @property
    def named_ids(self) -> Collection[str]:
        """Memory's ids of the things that have a name."""
        return self._names.keys()

    def of(self, seen: SceneObject) -> str:
        """Return the name of a thing that memory holds; it gets one where it has none."""
        if seen.id not in self._names:
            # A thing that was found by searching, and that memory has seen meanwhile, keeps its name.
            twin = self._found.of_class(seen.class_name)
            if twin:
                self._found.leave_out(twin)
            taken = seen.name in {*self._names.values(), *self._found.things}
            remembered = "" if taken else seen.name
            self._names[seen.id] = twin or remembered or self.new(seen.class_name)
        return self._names[seen.id]

    def new(self, object_class: str) -> str:
        """Return a name for a thing of a class that no other thing has."""
        kind = self._kinds.get(object_class)
        letters = "".join(letter for letter in object_class if letter.isalnum())[:_LONGEST_NAME]
        plain = kind.name if kind is not None else letters or _UNNAMED
        taken = {*self._names.values(), *self._found.things}
        numbered = (plain if number == 1 else f"{plain} {number}" for number in itertools.count(1))
        return next(name for name in numbered if name not in taken)
