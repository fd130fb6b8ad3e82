"""Reads the states that a request speaks of: "the clean mug", "the one I cut", "an apple that is cold"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_node.catalogue.class_name import spoken
from memory_node.domain.states import ADJECTIVES, ATTRIBUTES, ObjectState, adjective_of

# What somebody did to a thing, in the past tense.
_DEEDS = {
    ObjectState.CLEANED: ("cleaned", "washed", "rinsed"),
    ObjectState.DIRTY: ("dirtied", "soiled", "used"),
    ObjectState.SLICED: ("sliced", "cut", "chopped"),
    ObjectState.HEATED: ("heated", "warmed", "microwaved"),
    ObjectState.COLD: ("cooled", "chilled", "refrigerated"),
    ObjectState.COOKED: ("cooked", "fried", "boiled", "baked"),
    ObjectState.FILLED: ("filled",),
    ObjectState.USED_UP: ("emptied", "used up", "finished"),
    ObjectState.OPENED: ("opened",),
    ObjectState.CLOSED: ("closed", "shut"),
    ObjectState.BROKEN: ("broke", "cracked", "broken"),
    ObjectState.ON: ("turned on", "switched on"),
    ObjectState.OFF: ("turned off", "switched off"),
}
_DETERMINER = r"(?:the|a|an|some|any|my|your|our|this|that|these|those|\d+|one|two|three|both|all)"
_ADVERB = r"(?:(?:freshly|just|already|very|still|really|now|have|has|had|been|previously)\s+)*"


def _alternatives(words: tuple[str, ...]) -> str:
    return "(?:" + "|".join(word.replace("-", "[- ]").replace(" ", r"\s+") for word in words) + ")"


def _pattern(state: ObjectState) -> re.Pattern[str]:
    adjective = _alternatives(tuple(word for word in ADJECTIVES[state] if word in ATTRIBUTES))
    deed = _alternatives(_DEEDS.get(state, (state.value,)))
    # An adjective follows a determiner, perhaps over another adjective; "clean the mug" is an order, no state.
    attribute = (
        rf"\b{_DETERMINER}\s+{_ADVERB}(?:[a-z]+[, ]\s*(?:and\s+)?)?{adjective}\s+(?!{_DETERMINER}\b|it\b|them\b)[a-z]"
    )
    predicate = rf"\b(?:is|are|was|were|has\s+been|that's|stays?)\s+{_ADVERB}(?:{adjective}|{deed})\b"
    deed_of_somebody = rf"\b(?:i|we|you|he|she|they|robot)(?:'ve)?\s+{_ADVERB}{deed}\b"
    return re.compile(rf"{attribute}|{predicate}|{deed_of_somebody}")


_PATTERNS = {state: _pattern(state) for state in ObjectState}


def described(class_name: str, states: Iterable[ObjectState]) -> str:
    """Return a thing in a few words: "clean mug"."""
    return " ".join([*map(adjective_of, states), spoken(class_name)])


def states_in(text: str) -> tuple[ObjectState, ...]:
    """Return the states that a request asks of its object, in the order of ObjectState."""
    lowered = " ".join(text.lower().split())
    return tuple(state for state, pattern in _PATTERNS.items() if pattern.search(lowered))
