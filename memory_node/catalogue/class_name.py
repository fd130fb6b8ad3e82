"""How the name of a class is spelt: one class has one name, whoever writes it (AI2-THOR, a detector, a person)."""

from __future__ import annotations

import re
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_F_PLURALS = ("elves", "halves", "calves", "loaves", "leaves", "scarves", "wolves")
_FE_PLURALS = ("knives", "wives")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a class name in lower-case letters and digits only: CounterTop, counter_top and "counter top" are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


@lru_cache(maxsize=4096)
def spoken(name: str) -> str:
    """Return a class name as people write it: CoffeeMachine and coffee_machine give "coffee machine"."""
    return " ".join(_CAMEL.sub(" ", name).replace("_", " ").lower().split())


def singular(word: str) -> str:
    """Return the singular of an English noun in lower case; a word that is no plural stays as it is."""
    if len(word) <= 3 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(_FE_PLURALS):
        return word[:-3] + "fe"
    if word.endswith(_F_PLURALS):
        return word[:-3] + "f"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("oes", "ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
