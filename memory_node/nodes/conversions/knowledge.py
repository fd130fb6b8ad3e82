"""Messages of what is known."""

from __future__ import annotations

from typing import Any

from robot_memory import msg

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode
from memory_node.nodes.conversions.geometry import stamp_from_msg, stamp_to_msg


def proposition_to_msg(proposition: Proposition) -> Any:
    """Return a msg/Proposition."""
    return msg.Proposition(
        text=proposition.text,
        concepts=sorted(proposition.concepts),
        sources=list(proposition.sources),
        support=proposition.support,
        stamp=stamp_to_msg(proposition.stamp_ns),
        active=proposition.active,
        made_by=proposition.made_by,
        structure=list(proposition.structure),
    )


def proposition_from_msg(message: Any) -> Proposition:
    """Return the proposition of a msg/Proposition.

    Raises:
        InvalidValueError: it has no text or no source.
    """
    return Proposition(
        message.text,
        frozenset(message.concepts),
        tuple(message.sources),
        stamp_from_msg(message.stamp, "stamp"),
        message.support,
        made_by=message.made_by,
        active=message.active,
        structure=tuple(message.structure),
    )


def mode_named(what: str, name: str) -> Mode | None:
    """Return a kind of memory by its name, None for the empty one.

    Raises:
        InvalidValueError: there is no such kind.
    """
    if not name:
        return None
    try:
        return Mode(name)
    except ValueError:
        raise InvalidValueError(f"{what}: expected one of {', '.join(map(str, Mode))}, got {name!r}") from None
