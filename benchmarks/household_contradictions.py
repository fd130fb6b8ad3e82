"""Tells the conditions that an instruction, as published, does not ask for; they still count."""

from __future__ import annotations

import re

from benchmarks.household_conditions import Condition
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.nouns import singular

_PART_ENDS = re.compile(r"[,.;]|\bthen\b")
_LONGEST_NAME = 3


class Wording:
    """The classes that an instruction names, part by part (between commas, full stops and "then")."""

    def __init__(self, instruction: str, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", instruction).lower()
        self._parts = [self._named(part) for part in _PART_ENDS.split(spaced)]

    def contradiction(self, condition: Condition) -> str:
        """Return how a condition contradicts the instruction; "" when it may be what the words mean."""
        subject = condition.classes | self._kinds.alike(condition.classes)
        if not any(part & subject for part in self._parts):
            return "the instruction does not name it"
        # A part that names the place and other things for it leaves no room for this one.
        there = [part for part in self._parts if part & condition.others]
        if there and all(self._movable(part - condition.others) and not part & subject for part in there):
            return "the instruction puts other things there"
        return ""

    def _named(self, part: str) -> frozenset[str]:
        words = [singular(word) for word in re.findall(r"[a-z]+", part)]
        runs = [words[i : i + n] for n in range(1, _LONGEST_NAME + 1) for i in range(len(words) - n + 1)]
        return frozenset(name for run in runs for name in self._kinds.spoken_names.classes(" ".join(run)))

    def _movable(self, names: frozenset[str]) -> bool:
        return any(self._kinds[name].pickupable for name in names)
