"""A label space for a world in which there are things and places that it does not declare."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.alfworld.sentences import read_places
from benchmarks.alfworld.things import classes_of
from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property


def for_text_games(kinds: ObjectCatalogue) -> ObjectCatalogue:
    """Return the kinds with more that may be tried with unknown things: the engine says what cannot be done."""
    return replace(kinds, unknown=kinds.unknown | {Property.HEATABLE, Property.COOLABLE})


def with_unknown_places(first_text: str, kinds: ObjectCatalogue) -> ObjectCatalogue:
    """Return the kinds with those of the places that the first text names; the same object where all are known."""
    classes = dict.fromkeys(classes_of(place, kinds)[0] for place in read_places(first_text))
    unknown = [name for name in classes if name not in kinds]
    return replace(kinds, kinds=(*kinds.kinds, *map(_place, unknown))) if unknown else kinds


def _place(label: str) -> ObjectKind:
    name = spoken(label)
    return ObjectKind(label, name, (name,), properties=frozenset({Property.FIXED}), holds="on")
