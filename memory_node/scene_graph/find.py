"""Objects in words."""

from __future__ import annotations

from collections.abc import Iterable

from memory_node.catalogue.class_name import spoken
from memory_node.domain.states import ObjectState


def describe(class_name: str, states: Iterable[ObjectState]) -> str:
    """Return an object in words: its states and its class, "sliced apple"."""
    return " ".join([*(str(state).replace("_", " ") for state in states), spoken(class_name)])
