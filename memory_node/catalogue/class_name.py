"""Spellings of class names: AI2-THOR, detectors and people write one class in different ways."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memory_node.domain.states import ObjectState

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a class name in lower-case letters and digits only: CounterTop, counter_top and "counter top" are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


@lru_cache(maxsize=4096)
def spoken(name: str) -> str:
    """Return a class name as people write it: CoffeeMachine and coffee_machine give "coffee machine"."""
    return " ".join(_CAMEL.sub(" ", name).replace("_", " ").lower().split())


def described(class_name: str, states: Iterable[ObjectState]) -> str:
    """Return an object in words: its states and its class, "sliced apple"."""
    return " ".join([*(str(state).replace("_", " ") for state in states), spoken(class_name)])
