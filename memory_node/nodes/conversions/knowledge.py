"""Messages of what is known."""

from __future__ import annotations

from robot_memory import msg

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode
from memory_node.nodes.conversions.paired import NAMES, TEXTS, Paired, stamp

_PROPOSITION = Paired(
    Proposition, msg.Proposition, concepts=NAMES, sources=TEXTS, stamp_ns=stamp("stamp"), structure=TEXTS
)
proposition_to_msg, proposition_from_msg = _PROPOSITION.to_msg, _PROPOSITION.from_msg


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
