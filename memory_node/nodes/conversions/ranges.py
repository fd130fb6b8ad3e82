"""What a value of a message may be: ranges that all later arithmetic, and ROS's own types, survive.

Every error names the field, what was expected and what came, which is cut where it is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M, FloatArray
from memory_node.domain.states import ObjectState

NS = 1_000_000_000
# ROS time ends after 2**31 seconds; a year before that, so that spans that are added to a stamp still fit.
LAST_STAMP_NS = (2**31 - 366 * 86_400) * NS
LABEL_CHARACTERS = 200
TEXT_CHARACTERS = 10_000
# Of one message: changes, detections, arguments, names.
MOST_ITEMS = 1_000
# What 32 bits with a sign hold, as the store counts.
COUNT_LIMIT = 2**31 - 1
# Seconds and metres of a skill: thirty years, and more than twice round the world.
SPAN_LIMIT = 1e9
_SHOWN_CHARACTERS = 60
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Item = TypeVar("Item")
Member = TypeVar("Member", bound=Enum)


def shown(value: object) -> str:
    """Return a value for an error message, cut where it is long."""
    text = repr(value[: _SHOWN_CHARACTERS + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN_CHARACTERS + 3 else f"{text[:_SHOWN_CHARACTERS]}..."


def checked_number(what: str, value: float, low: float, high: float) -> float:
    """Return a number from `low` to `high`; NaN is none."""
    if not low <= value <= high:
        raise InvalidValueError(f"{what}: expected {low:g} to {high:g}, got {value}")
    return float(value)


def checked_count(what: str, value: int, low: int = 0, high: int = COUNT_LIMIT) -> int:
    """Return a whole number from `low` to `high`."""
    if not low <= value <= high:
        raise InvalidValueError(f"{what}: expected {low} to {high}, got {value}")
    return int(value)


def checked_probability(what: str, value: float) -> float:
    """Return a number from 0 to 1."""
    return checked_number(what, value, 0.0, 1.0)


def checked_position(what: str, xyz: Iterable[float]) -> tuple[float, float, float]:
    """Return (x, y, z) in metres: finite, and no farther than any site is large."""
    x, y, z = map(float, xyz)
    # Also false for NaN.
    if not all(abs(value) <= POSITION_LIMIT_M for value in (x, y, z)):
        raise InvalidValueError(f"{what}: expected finite metres within {POSITION_LIMIT_M:g} m, got ({x}, {y}, {z})")
    return x, y, z


def checked_covariance(what: str, matrix: NDArray[Any]) -> FloatArray:
    """Return a covariance (n, n) in square metres: finite, no variance below 0."""
    found = np.asarray(matrix, dtype=np.float64)
    # Also false for NaN.
    if not (np.all(np.abs(found) <= POSITION_LIMIT_M**2) and np.all(np.diag(found) >= 0.0)):
        raise InvalidValueError(f"{what}: expected finite numbers and no variance below 0, got {shown(found.tolist())}")
    return found


def checked_label(what: str, text: str, required: bool = False) -> str:
    """Return a name of at most 200 characters in one line; not blank, and where it is `required` not empty."""
    if len(text) > LABEL_CHARACTERS or _CONTROL.search(text) or (not text.strip() and (text or required)):
        expected = f"{'1' if required else '0'} to {LABEL_CHARACTERS} characters in one line, not all blank"
        raise InvalidValueError(f"{what}: expected {expected}, got {len(text)}: {shown(text)}")
    return text


def checked_id(what: str, text: str) -> str:
    """Return an id: a label that names no other folder, for ids come to stand in paths and addresses."""
    if text.startswith(".") or "/" in text or "\\" in text:
        raise InvalidValueError(f"{what}: expected an id without '/', '\\' and a dot at its begin, got {shown(text)}")
    return checked_label(what, text)


def checked_text(what: str, text: str) -> str:
    """Return free words, at most 10,000 characters."""
    if len(text) > TEXT_CHARACTERS or _UNSTORABLE.search(text):
        raise InvalidValueError(
            f"{what}: expected at most {TEXT_CHARACTERS} characters without NUL, got {len(text)}: {shown(text)}"
        )
    return text


def checked_items(what: str, items: Sequence[Item], most: int = MOST_ITEMS) -> Sequence[Item]:
    """Return a list that is not too long."""
    if len(items) > most:
        raise InvalidValueError(f"{what}: expected at most {most}, got {len(items)}")
    return items


def checked_labels(what: str, texts: Sequence[str], most: int = MOST_ITEMS) -> tuple[str, ...]:
    """Return a list of names."""
    return tuple(checked_label(what, text) for text in checked_items(what, texts, most))


def checked_member(kind: type[Member], what: str, name: str) -> Member:
    """Return the member of an enumeration of texts that a field names."""
    try:
        return kind(name)
    except ValueError:
        raise InvalidValueError(f"{what}: expected one of {', '.join(map(str, kind))}, got {shown(name)}") from None


def checked_states(
    added: tuple[ObjectState, ...], removed: tuple[ObjectState, ...]
) -> tuple[tuple[ObjectState, ...], tuple[ObjectState, ...]]:
    """Return what holds now and what holds no more, where both can be true."""
    both = set(added) & set(removed)
    if both:
        raise InvalidValueError(f"added, removed: expected each state in one of them, got {min(both)} in both")
    for state in added:
        together = {state, *state.opposites} & set(added)
        if len(together) > 1:
            names = " and ".join(sorted(map(str, together)))
            raise InvalidValueError(f"added: expected states that can hold together, got {names}")
    return added, removed
