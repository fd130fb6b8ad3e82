"""A label space for a world whose things it mostly does not declare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property

# What may be tried with a thing of which nothing is known: the engine says what cannot be done.
_MAY_BE_TRIED = frozenset(
    {
        Property.PICKUPABLE,
        Property.OPENABLE,
        Property.TOGGLEABLE,
        Property.FILLABLE,
        Property.HEATABLE,
        Property.COOLABLE,
    }
)
# Words that stand before a noun phrase or behind it, and tell no thing from others.
_AROUND = "a|an|the|this|that|it|its|in|into|on|onto|to|of|from|with|at|by|and|or|is|are|some|any|not|nor"
# A noun with one word before it ("red box"), where the phrase ends.
_PHRASE = re.compile(rf"\b(?!(?:{_AROUND}) )(?P<label>[a-z]+ (?P<noun>[a-z]+))(?=[^a-z ]|$| (?:{_AROUND})\b)")


@dataclass(frozen=True, eq=False)
class LessonKinds(ObjectCatalogue):
    """Kinds in which what nobody declares is a thing with which everything may be tried."""

    @classmethod
    def of(cls, kinds: ObjectCatalogue, task: str = "") -> LessonKinds:
        """Return the kinds of a label space so. What a task tells from others by a word more ("the red box") is a kind
        of its own."""
        values = {field.name: getattr(kinds, field.name) for field in fields(ObjectCatalogue)}
        named = tuple(_named_in(task, kinds))
        return cls(**{**values, "kinds": (*kinds.kinds, *named), "unknown": kinds.unknown | _MAY_BE_TRIED})

    def __getitem__(self, name: str) -> ObjectKind:
        # Whatever else it is, something may be put into it.
        return self.find(name) or replace(ObjectKind.unknown(name, self.unknown), holds="in")

    def class_of(self, name: str) -> str:
        """Return the class of a thing of the text: its own, that of its last words ("metal pot"), else its name."""
        words = name.split()
        for start in range(len(words)):
            label = " ".join(words[start:])
            found = self.find(label)
            if found is not None:
                return found.name
            answering = self.spoken_names.answering(label)
            if answering:
                return answering[0]
        return name


def _named_in(task: str, kinds: ObjectCatalogue) -> Iterator[ObjectKind]:
    found = {match["label"]: match["noun"] for match in _PHRASE.finditer(task.lower())}
    for label, noun in found.items():
        kind = kinds.find(noun) or next((kinds[name] for name in kinds.spoken_names.answering(noun)), None)
        if kind is not None and kinds.find(label) is None:
            yield replace(kind, name=label, gloss=label, names=(label,), described=(), everyday=False, stands_for=())
