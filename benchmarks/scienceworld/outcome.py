"""What a reply to a command says was changed, and the beliefs that follow from that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.scienceworld.sentences import RoomSight, read_room, refusal_of
from memory_node.context.brief_state import Section
from memory_node.context.statements import holds, is_in_state, rests, stands_at
from memory_node.domain.skill import FailureReason
from memory_node.domain.states import ObjectState

_WENT = re.compile(r"^you move to the (?P<room>[^.\n]+)\.", re.IGNORECASE)
_MOVED = re.compile(r"^you move the .+ to the (?P<place>[^.\n]+)\.", re.IGNORECASE)
_BECAME = re.compile(r"\bis now (?P<state>open|closed|activated|deactivated)\b", re.IGNORECASE)
_STATES = {
    "open": ObjectState.OPENED,
    "closed": ObjectState.CLOSED,
    "activated": ObjectState.ON,
    "deactivated": ObjectState.OFF,
}
# What the engine calls the hand.
_HAND = "inventory"


@dataclass(frozen=True)
class Outcome:
    """What came of a command. reason: why it was refused. room: where it led, place: where a thing was moved to,
    state: what its first thing is now, None for no change of that. sight: a look around."""

    reason: FailureReason = FailureReason.NONE
    room: str = ""
    place: str = ""
    state: ObjectState | None = None
    sight: RoomSight | None = None

    @classmethod
    def read(cls, reply: str) -> Outcome:
        """Return what a reply says."""
        sight = read_room(reply)
        if sight is not None:
            return cls(sight=sight)
        text = reply.strip()
        if (went := _WENT.match(text)) is not None:
            return cls(room=went["room"].strip().lower())
        if (moved := _MOVED.match(text)) is not None:
            return cls(place=moved["place"].strip().lower())
        if (became := _BECAME.search(text)) is not None:
            return cls(state=_STATES[became["state"].lower()])
        return cls(reason=refusal_of(text))

    @property
    def taken(self) -> bool:
        """Whether the hand holds the thing now."""
        return self.place == _HAND

    def beliefs(self, names: Sequence[str]) -> tuple[tuple[Section, str], ...]:
        """Return what is so afterwards, in the sentences of a brief state. names: those of the command."""
        if self.room:
            return ((Section.AGENT, stands_at(self.room)),)
        if not names or self.reason is not FailureReason.NONE:
            return ()
        name = names[0].lower()
        if self.taken:
            return ((Section.AGENT, holds(name)),)
        if self.place:
            return ((Section.LOCATIONS, rests(name, self.place)),)
        return ((Section.FACTS, is_in_state(name, self.state)),) if self.state is not None else ()
