"""Which rooms have doors to each other, as texts tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.scienceworld.command_forms import Command
from benchmarks.scienceworld.sentences import RoomSight

# As the engine names doors: "door to the kitchen", "bathroom door", "door".
_DOOR = re.compile(r"\bdoor\b")


@dataclass(frozen=True)
class RoomMap:
    """neighbours: by room, the rooms behind its doors."""

    neighbours: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def seen(self, sight: RoomSight) -> RoomMap:
        """Return the map with the doors that a look around tells of."""
        larger = self
        for other in sight.doors:
            larger = larger.joined(sight.room, other)
        return larger

    def joined(self, room: str, other: str) -> RoomMap:
        """Return the map with a door between two rooms; "" is no room."""
        if not room or not other:
            return self
        doors = dict(self.neighbours)
        for one, behind in ((room, other), (other, room)):
            doors[one] = doors.get(one, frozenset()) | {behind}
        return RoomMap(doors)

    def with_doors_of(self, other: RoomMap) -> RoomMap:
        """Return the map with the doors of another one."""
        rooms = {*self.neighbours, *other.neighbours}
        none: frozenset[str] = frozenset()
        return RoomMap({room: self.neighbours.get(room, none) | other.neighbours.get(room, none) for room in rooms})

    def next_room(self, room: str, goal: str) -> str:
        """Return the first room on a shortest way to another one, "" where no way is known."""
        first: dict[str, str] = {room: ""}
        waiting = [room]
        for one in waiting:
            for other in sorted(self.neighbours.get(one, ())):
                if other not in first:
                    first[other] = first[one] or other
                    waiting.append(other)
        return first.get(goal, "")

    @staticmethod
    def is_door(command: Command) -> bool:
        """Return whether a command is about a door."""
        return any(_DOOR.search(name) for name in command.arguments)
