"""The simulated site of `bench scene`: rooms with furniture and things on it, that are moved and taken away."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memory_node.domain.geometry import OrientedBox

ROOM_M = (6.0, 5.0, 2.6)
_WALL_GAP_M = 0.4
# class -> least and largest size (m) along x, y, z
FURNITURE = {
    "table": ((2.0, 0.8, 0.72), (2.4, 0.9, 0.78)),
    "counter": ((2.0, 0.6, 0.88), (2.4, 0.7, 0.94)),
    "sideboard": ((1.8, 0.5, 0.6), (2.3, 0.6, 0.8)),
}
THINGS = {
    "mug": ((0.08, 0.08, 0.09), (0.09, 0.09, 0.11)),
    "bowl": ((0.14, 0.14, 0.06), (0.18, 0.18, 0.08)),
    "plate": ((0.2, 0.2, 0.025), (0.26, 0.26, 0.03)),
    "book": ((0.2, 0.14, 0.03), (0.28, 0.2, 0.05)),
    "cereal box": ((0.19, 0.06, 0.26), (0.22, 0.08, 0.32)),
    "bottle": ((0.06, 0.06, 0.2), (0.08, 0.08, 0.3)),
    "can": ((0.065, 0.065, 0.11), (0.07, 0.07, 0.13)),
    "apple": ((0.07, 0.07, 0.07), (0.085, 0.085, 0.08)),
    "pot": ((0.2, 0.2, 0.12), (0.26, 0.24, 0.18)),
    "toaster": ((0.26, 0.16, 0.18), (0.3, 0.2, 0.2)),
    "laptop": ((0.32, 0.22, 0.025), (0.36, 0.25, 0.03)),
    "vase": ((0.1, 0.1, 0.2), (0.14, 0.14, 0.28)),
    "remote control": ((0.16, 0.045, 0.025), (0.2, 0.055, 0.03)),
    "tissue box": ((0.22, 0.11, 0.08), (0.24, 0.13, 0.1)),
    "toy": ((0.1, 0.08, 0.12), (0.16, 0.12, 0.2)),
    "lamp": ((0.14, 0.14, 0.3), (0.2, 0.2, 0.42)),
}
# What a detector takes for what.
ALIKE = {
    "mug": "can", "can": "mug", "bowl": "pot", "pot": "bowl", "plate": "laptop", "laptop": "plate",
    "book": "tissue box", "tissue box": "book", "cereal box": "book", "bottle": "vase", "vase": "bottle",
    "apple": "toy", "toy": "apple", "toaster": "tissue box", "remote control": "book", "lamp": "vase",
    "table": "sideboard", "counter": "sideboard", "sideboard": "table",
}  # fmt: skip


@dataclass(eq=False)
class Thing:
    """One true object. room: number of the room that it is in."""

    number: int
    class_name: str
    box: OrientedBox
    room: int
    furniture: bool = False


@dataclass(eq=False)
class Site:
    """Rooms in a row, each with its things; `gone` holds what was taken away."""

    things: dict[int, Thing] = field(default_factory=dict)
    gone: dict[int, Thing] = field(default_factory=dict)
    rooms: int = 0
    _in_room: dict[int, dict[int, Thing]] = field(default_factory=dict)

    def in_room(self, room: int) -> list[Thing]:
        """Return what is in a room now."""
        return list(self._in_room.get(room, {}).values())

    def put(self, thing: Thing) -> None:
        """Set a thing down in its room."""
        self.things[thing.number] = thing
        self._in_room.setdefault(thing.room, {})[thing.number] = thing

    def take(self, thing: Thing) -> None:
        """Pick a thing up from its room."""
        del self.things[thing.number], self._in_room[thing.room][thing.number]


def room_corner(room: int) -> tuple[float, float]:
    """Return the lower corner (x, y) of a room; rooms stand in rows of ten."""
    return (room % 10) * (ROOM_M[0] + _WALL_GAP_M), (room // 10) * (ROOM_M[1] + _WALL_GAP_M)


def build_site(objects: int, per_room: int, generator: np.random.Generator) -> Site:
    """Return a site of `objects` things, furniture included, about `per_room` in each room."""
    site = Site()
    while len(site.things) < objects:
        room = site.rooms
        site.rooms += 1
        want = min(per_room, objects - len(site.things))
        for furniture in _furnish(room, generator)[: max(1, want)]:
            _add(site, *furniture, room, furniture=True)
        missed = 0
        while want - len(site.in_room(room)) > 0 and missed < 40:
            missed += not place_thing(site, room, generator)
    return site


def place_thing(site: Site, room: int, generator: np.random.Generator, thing: Thing | None = None) -> bool:
    """Put a new thing, or one taken from elsewhere, on free furniture of a room; False when no free spot was found."""
    name = thing.class_name if thing else str(generator.choice(list(THINGS)))
    size = thing.box.size if thing else _size_of(name, THINGS, generator)
    supports = [other for other in site.in_room(room) if other.furniture]
    others = [other.box for other in site.in_room(room) if not other.furniture]
    taken = np.array([box.center[:2] for box in others]).reshape(-1, 2)
    taken_reach = np.array([0.5 * np.hypot(*box.size[:2]) for box in others])
    reach = 0.5 * float(np.hypot(*size[:2]))
    for _ in range(30):
        support = supports[int(generator.integers(len(supports)))].box
        yaw = float(generator.uniform(-np.pi, np.pi))
        room_x, room_y = 0.5 * support.size[0] - reach, 0.5 * support.size[1] - 0.7 * reach
        if room_x <= 0.0 or room_y <= 0.0:
            continue
        u, v = generator.uniform(-room_x, room_x), generator.uniform(-room_y, room_y)
        cos, sin = np.cos(support.yaw_rad), np.sin(support.yaw_rad)
        at = support.center[:2] + np.array([cos * u - sin * v, sin * u + cos * v])
        if (((taken - at) ** 2).sum(axis=1) > (taken_reach + reach) ** 2).all():
            box = OrientedBox(np.array([*at, support.top_m + 0.5 * size[2]]), size, yaw)
            if thing:
                thing.box, thing.room = box, room
                site.put(thing)
            else:
                _add(site, name, box, room)
            return True
    return False


def rearrange(
    site: Site, rooms: list[int], generator: np.random.Generator, moved: float, removed: float
) -> tuple[list[Thing], list[Thing]]:
    """Move and take away shares of the small things of some rooms; return the moved and the removed ones."""
    small = [thing for room in rooms for thing in site.in_room(room) if not thing.furniture]
    order = generator.permutation(len(small))
    split = round(moved * len(small)), round((moved + removed) * len(small))
    moves = [small[i] for i in order[: split[0]]]
    taken = [small[i] for i in order[split[0] : split[1]]]
    for thing in taken:
        site.take(thing)
        site.gone[thing.number] = thing
    shifted = []
    for thing in moves:
        before = thing.box.center
        site.take(thing)
        target = int(generator.choice(rooms))
        if not place_thing(site, target, generator, thing):
            site.put(thing)
        elif np.linalg.norm(thing.box.center - before) > 0.3:
            shifted.append(thing)
    return shifted, taken


def _add(site: Site, name: str, box: OrientedBox, room: int, furniture: bool = False) -> None:
    site.put(Thing(len(site.things) + len(site.gone), name, box, room, furniture))


def _size_of(name: str, table: dict[str, tuple], generator: np.random.Generator) -> np.ndarray:
    least, largest = table[name]
    return np.asarray(generator.uniform(least, largest))


def _furnish(room: int, generator: np.random.Generator) -> list[tuple[str, OrientedBox]]:
    """Return furniture along the four walls, two pieces at the long ones."""
    x, y = room_corner(room)
    length, width, _ = ROOM_M
    spots = [(0.28, 0.0, 0), (0.72, 0.0, 0), (0.28, 1.0, 2), (0.72, 1.0, 2), (0.0, 0.5, 3), (1.0, 0.5, 1)]
    made = []
    for along, up, side in spots:
        name = str(generator.choice(list(FURNITURE)))
        size = _size_of(name, FURNITURE, generator)
        yaw = side * 0.5 * np.pi + generator.normal(0.0, 0.03)
        inset = 0.5 * size[1] + 0.08
        cx = x + (inset if along == 0.0 else length - inset if along == 1.0 else along * length)
        cy = y + (inset if up == 0.0 else width - inset if up == 1.0 else up * width)
        made.append((name, OrientedBox(np.array([cx, cy, 0.5 * size[2]]), size, yaw)))
    return made
