"""The closed set of object states that memory speaks about (KARMA's list and its opposites), what people call them, and
how far they are believed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.text_enum import TextEnum


class ObjectState(TextEnum):
    """What can be true of an object; a thing carries a set of these."""

    HEATED = "heated"
    COOKED = "cooked"
    SLICED = "sliced"
    CLEANED = "cleaned"
    DIRTY = "dirty"
    FILLED = "filled"
    USED_UP = "used_up"
    ON = "on"
    OFF = "off"
    OPENED = "opened"
    CLOSED = "closed"
    COLD = "cold"
    BROKEN = "broken"
    WIPED = "wiped"

    @property
    def contrary(self) -> ObjectState | None:
        """The one state that is known of what is not in this one; None where only not knowing is left."""
        return next((other for group in EXCLUSIVE if self in group for other in group - {self}), None)

    @property
    def opposites(self) -> frozenset[ObjectState]:
        """The states that cannot hold together with this one."""
        return _OPPOSITES[self]


# Confirming one of these ends the belief in the others.
EXCLUSIVE: tuple[frozenset[ObjectState], ...] = (
    frozenset({ObjectState.ON, ObjectState.OFF}),
    frozenset({ObjectState.OPENED, ObjectState.CLOSED}),
    frozenset({ObjectState.CLEANED, ObjectState.DIRTY}),
    frozenset({ObjectState.HEATED, ObjectState.COLD}),
    frozenset({ObjectState.FILLED, ObjectState.USED_UP}),
    frozenset({ObjectState.WIPED, ObjectState.DIRTY}),
)
_OPPOSITES = {
    state: frozenset(other for group in EXCLUSIVE if state in group for other in group - {state})
    for state in ObjectState
}

# What is cooked was hot since it was cold; what was cooked before may be cold.
_ENDED_BY_BECOMING = {ObjectState.COOKED: frozenset({ObjectState.COLD})}

# What each state looks like in a picture, and what people call it: the first word is what answers say. Words of deeds
# ("washed") stand among them where they tell the state, too.
_DECLARED: dict[ObjectState, tuple[str, str]] = {
    ObjectState.CLEANED: ("clean, no dirt or leftovers on it", "clean cleaned washed rinsed spotless"),
    ObjectState.DIRTY: (
        "dirty, stained or with leftovers on it",
        "dirty unwashed soiled filthy muddy greasy dusty sticky stained used",
    ),
    ObjectState.SLICED: ("cut into pieces, or a piece that was cut off", "sliced cut chopped cut-up"),
    ObjectState.HEATED: ("hot, for example it steams", "hot heated warm warmed microwaved"),
    ObjectState.COLD: ("cold, for example with frost on it", "cold chilled cooled cool refrigerated"),
    ObjectState.COOKED: ("cooked, fried, baked or toasted", "cooked fried boiled baked toasted"),
    ObjectState.FILLED: ("a vessel with something in it", "full filled"),
    ObjectState.USED_UP: ("empty or used up", "empty emptied used-up used_up"),
    ObjectState.OPENED: ("open", "open opened"),
    ObjectState.CLOSED: ("closed", "closed shut"),
    ObjectState.BROKEN: ("broken or cracked", "broken cracked smashed shattered"),
    ObjectState.WIPED: ("a surface without spills, crumbs or dust on it", "wiped"),
    ObjectState.ON: ("switched on, lit or running", "on running lit switched-on"),
    ObjectState.OFF: ("switched off", "off unlit switched-off"),
}
STATE_MEANINGS = {state: _DECLARED[state][0] for state in ObjectState}
ADJECTIVES = {state: tuple(words.split()) for state, (_, words) in _DECLARED.items()}
STATE_CALLED: dict[str, ObjectState] = {word: state for state, words in ADJECTIVES.items() for word in words}
# These say nothing of the thing before which they stand: "on the table", "running shoes".
_NEVER_BEFORE_A_NOUN = frozenset({"on", "off", "running"})
ATTRIBUTES: dict[str, ObjectState] = {
    word: state for word, state in STATE_CALLED.items() if word not in _NEVER_BEFORE_A_NOUN
}


def adjective_of(state: ObjectState) -> str:
    """Return what people call a thing in that state: "clean" for CLEANED."""
    return ADJECTIVES[state][0]


@dataclass(frozen=True)
class StateBelief:
    """One state with its probability in [0, 1] and the stamp (ns) at which it was last confirmed.

    source: who said so last (skill, user, vlm), "" where it is not known.
    """

    state: ObjectState
    probability: float
    confirmed_ns: int
    source: str = ""

    def __post_init__(self) -> None:
        if not 0.0 <= self.probability <= 1.0:
            raise InvalidValueError(f"StateBelief.probability: expected 0 to 1, got {self.probability}")

    def as_row(self) -> tuple[str, float, int] | tuple[str, float, int, str]:
        """Return it as it is written down: state, probability, stamp, and the source where it is known."""
        row = (self.state.value, self.probability, self.confirmed_ns)
        return (*row, self.source) if self.source else row

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> StateBelief:
        """Return what was written down by `as_row`.

        Raises:
            InvalidValueError: it is no such row.
        """
        try:
            name, probability, confirmed_ns, *source = row
            return cls(_BY_NAME[name], float(probability), int(confirmed_ns), *map(str, source))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidValueError(f"state {row!r:.80}: expected a state, 0 to 1, a stamp and a source") from error


_BY_NAME = {state.value: state for state in ObjectState}


# Whether something is open or closed.
DOORS = frozenset({ObjectState.OPENED, ObjectState.CLOSED})


def believed(beliefs: Iterable[StateBelief]) -> tuple[ObjectState, ...]:
    """Return the states that are more probable than not, in the order of the beliefs."""
    return tuple(belief.state for belief in beliefs if belief.probability >= 0.5)


def door_of(beliefs: Iterable[StateBelief]) -> ObjectState | None:
    """Return whether a thing is believed opened or closed, None where that is not known."""
    return next((state for state in believed(beliefs) if state in DOORS), None)


def with_state(beliefs: tuple[StateBelief, ...], new: StateBelief) -> tuple[StateBelief, ...]:
    """Return the beliefs after `new`: it replaces its own older entry and ends what it excludes, or what was so before
    and cannot have stayed when it became so."""
    ended = {new.state, *new.state.opposites}
    if all(belief.state is not new.state for belief in beliefs):
        gone = _ENDED_BY_BECOMING.get(new.state, frozenset())
        ended |= {belief.state for belief in beliefs if belief.state in gone and belief.confirmed_ns < new.confirmed_ns}
    return (*(belief for belief in beliefs if belief.state not in ended), new)


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability between 0 and 1, both excluded."""
    return math.log(probability / (1.0 - probability))
