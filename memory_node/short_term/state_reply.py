"""The schema of a vision-language model's reply about an object's state, and how it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.json_reply import first_json_object
from memory_node.domain.states import ObjectState
from memory_node.short_term.state_conflicts import StateClaim

# What each state means to somebody who looks at a picture.
STATE_MEANINGS = {
    ObjectState.HEATED: "hot, for example it steams",
    ObjectState.COOKED: "cooked, fried, baked or toasted",
    ObjectState.SLICED: "cut into pieces, or a piece that was cut off",
    ObjectState.CLEANED: "clean, no dirt or leftovers on it",
    ObjectState.DIRTY: "dirty, stained or with leftovers on it",
    ObjectState.FILLED: "a vessel with something in it",
    ObjectState.USED_UP: "empty or used up",
    ObjectState.ON: "switched on, lit or running",
    ObjectState.OFF: "switched off",
    ObjectState.OPENED: "open",
    ObjectState.CLOSED: "closed",
    ObjectState.COLD: "cold, for example with frost on it",
    ObjectState.BROKEN: "broken or cracked",
}
# KARMA's word for an object in no state of the list: a set without members.
_NONE = "none"
_TEXT_LIMIT = 2000


class StateEstimationError(RobotMemoryError):
    """A model could not be asked about a state, or its reply does not keep to the schema."""


@dataclass(frozen=True)
class StateReply:
    """A checked reply: what was seen, what of it matters, and the claims that follow."""

    description: str
    relevant: str
    claims: tuple[StateClaim, ...]


def parse_state_reply(text: str, stamp_ns: int, source: str = "vlm") -> StateReply:
    """Return the reply that a model's text holds; stamp_ns: when the picture was taken.

    Raises:
        StateEstimationError: there is no JSON object in it, or one that breaks the schema; the message says where.
    """
    document = first_json_object(text)
    if document is None:
        raise StateEstimationError(f"expected a JSON object, got {_shown(text)}")
    states = document.get("states")
    if not isinstance(states, list):
        raise StateEstimationError(f"states: expected a list, got {_shown(states)}")
    claims: dict[ObjectState, StateClaim] = {}
    for entry in states:
        if isinstance(entry, dict) and entry.get("state") == _NONE:
            continue
        claim = _claim(entry, stamp_ns, source)
        if claim.state in claims:
            raise StateEstimationError(f"states: {claim.state} is given twice")
        claims[claim.state] = claim
    return StateReply(_text(document, "description"), _text(document, "relevant"), tuple(claims.values()))


def _claim(entry: Any, stamp_ns: int, source: str) -> StateClaim:
    if not isinstance(entry, dict) or not isinstance(entry.get("state"), str):
        raise StateEstimationError(f"states: expected objects with a state, got {_shown(entry)}")
    try:
        state = ObjectState(entry["state"].strip().lower().replace(" ", "_"))
    except ValueError:
        raise StateEstimationError(f"states: no such state: {_shown(entry['state'])}") from None
    probability = entry.get("probability")
    # A bool is an int to Python, but no probability to us.
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0.0 <= probability <= 1.0:
        raise StateEstimationError(f"probability of {state}: expected 0 to 1, got {_shown(probability)}")
    return StateClaim(state, float(probability), stamp_ns, source)


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str):
        raise StateEstimationError(f"{name}: expected text, got {_shown(value)}")
    return value[:_TEXT_LIMIT]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
