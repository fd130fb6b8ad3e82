"""Floors, rooms and areas under ids that stay while the map grows, and which areas the camera saw."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import Pose, wrap_angle
from memory_node.domain.names import NO_KIND
from memory_node.domain.observation import Frame
from memory_node.domain.scene import Area, Floor, Relation, RelationKind, Room
from memory_node.scene_graph.areas import Ground, area_middles, path_lengths, split_into_areas, split_into_rooms
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.free_space import OccupancyMap, reachable

# Grounds that differ by less in height are one floor.
_ONE_FLOOR_M = 1.0
# An object up to this far below a floor's ground still lies on it (m).
_SUNK_M = 0.25


@dataclass(eq=False)
class Places:
    """Floors, rooms, areas and the navigable edges between areas. Empty until the first map comes.

    Each floor has a ground of its own, the last map that came for its height; grounds are not stored. here: the floor
    that the robot is on, empty while nobody knows.
    """

    config: SceneGraphConfig
    make_id: Callable[[int], str]
    floors: dict[str, Floor] = field(default_factory=dict)
    rooms: dict[str, Room] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)
    paths: dict[tuple[str, str], float] = field(default_factory=dict)
    grounds: dict[str, Ground] = field(default_factory=dict)
    here: str = ""

    def __post_init__(self) -> None:
        # How often areas were laid out or moved, and by floor what `areas_on` found then.
        self._layouts = 0
        self._on_floor: dict[str, tuple[tuple[int, int], list[str], NDArray[np.float64]]] = {}

    def set_map(self, grid: OccupancyMap, stamp_ns: int, robot: tuple[float, float] | None = None) -> None:
        """Lay out areas and rooms on a new or grown map of the floor at its origin's height; those that were there
        before keep their ids.

        robot: where it stands, which tells the reachable part from other free space, together with the areas that were
        looked at; without it all areas do, and before there are any the largest part counts.
        """
        floor = self._floor_with_ground_at(float(grid.map_T_origin.position[2]), stamp_ns)
        coarse = grid.coarser(min(0.1, self.config.area_spacing_m / 8.0))
        free = coarse.free()
        open_cells = reachable(free, coarse.resolution_m, self.config.robot_radius_m, self._seeds(coarse, floor, robot))
        labels = split_into_areas(coarse, open_cells, self.config.area_spacing_m)
        parts, _ = ndimage.label(free)
        connected = free & np.isin(parts, np.unique(parts[open_cells]))
        room_of_cell, room_ids = self._lay_rooms(coarse, connected, floor, stamp_ns)
        area_ids = self._lay_areas(coarse, labels, floor, room_of_cell, room_ids, stamp_ns)
        self.grounds[floor.id] = Ground.of(grid, coarse, labels, area_ids)
        self.here = floor.id

    def floor_at(self, height_m: float) -> str:
        """Return the id of the floor that a height belongs to: the highest whose ground is not above it, else the
        lowest; empty before the first map."""
        under = [floor for floor in self.floors.values() if floor.height_m <= height_m + _SUNK_M]
        if under:
            return max(under, key=lambda floor: floor.height_m).id
        return min(self.floors.values(), key=lambda floor: floor.height_m).id if self.floors else ""

    def area_at(self, x_m: float, y_m: float, z_m: float, seen_from: tuple[float, float] | None = None) -> str:
        """Return the id of the area that a place belongs to, empty when no map says.

        The nearest area to a thing on a counter may lie behind the wall, in the next room. So the first area on the ray
        back to the camera is taken: it belongs to the thing's own room.
        """
        floor_id = self.floor_at(z_m)
        at = np.array([x_m, y_m])
        found = self.grounds[floor_id].area_at(at, seen_from) if floor_id in self.grounds else ""
        if found:
            return found
        ids, positions = self.areas_on(floor_id)
        return ids[int(np.argmin(((positions - at) ** 2).sum(axis=1)))] if ids else ""

    def areas_on(self, floor_id: str) -> tuple[list[str], NDArray[np.float64]]:
        """Return the ids of a floor's areas and their positions (n, 2), kept until they change: every frame asks."""
        laid = (self._layouts, len(self.areas))
        known = self._on_floor.get(floor_id)
        if known is None or known[0] != laid:
            areas = [area for area in self.areas.values() if area.floor_id == floor_id]
            positions = np.array([area.position for area in areas]).reshape(-1, 2)
            known = self._on_floor[floor_id] = (laid, [area.id for area in areas], positions)
        return known[1], known[2]

    def areas_within(self, place: str) -> set[str]:
        """Return the ids of the areas of an area, a room or a floor by its id, or of rooms and floors by their name."""
        named = {place, *(room.id for room in self.rooms.values() if room.name == place)}
        named |= {floor.id for floor in self.floors.values() if floor.name == place}
        return {place, *(area.id for area in self.areas.values() if named & {area.room_id, area.floor_id})}

    def looked_at(self, area_ids: Iterable[str], stamp_ns: int) -> None:
        """Note that areas were in view."""
        for area_id in area_ids:
            if area_id in self.areas:
                self.areas[area_id] = replace(self.areas[area_id], last_viewed_ns=stamp_ns)

    def name_room(self, room_id: str, name: str, by_user: bool) -> None:
        """Name a room; a name that a user gave is not changed by anything else.

        Raises:
            NotFoundError: no such room.
        """
        if room_id not in self.rooms:
            known = ", ".join(f"{room.name} ({room.id})" for room in self.rooms.values()) or "none"
            raise NotFoundError(f"no room {room_id!r} in the scene graph; known: {known:.500}")
        room = self.rooms[room_id]
        if by_user or not room.named_by_user:
            self.rooms[room_id] = replace(room, name=name, named_by_user=by_user or room.named_by_user)

    def free_room_name(self, kind: str = "") -> str:
        """Return a name that no room has: "kitchen", else "kitchen 2" and so on; "room 1" and so on without a kind."""
        taken = {room.name for room in self.rooms.values()}
        first = [kind] if kind else []
        names = itertools.chain(first, (f"{kind or NO_KIND} {n}" for n in itertools.count(1 + len(first))))
        return next(name for name in names if name not in taken)

    def relations(self) -> list[Relation]:
        """Return contains edges (floor to room to area) and navigable edges, both ways."""
        found = [Relation(room.floor_id, RelationKind.CONTAINS, room.id) for room in self.rooms.values()]
        for area in self.areas.values():
            parent = area.room_id or area.floor_id
            if parent:
                found.append(Relation(parent, RelationKind.CONTAINS, area.id))
        for (one, other), length in self.paths.items():
            found.append(Relation(one, RelationKind.NAVIGABLE, other, length))
            found.append(Relation(other, RelationKind.NAVIGABLE, one, length))
        return found

    def copied(self) -> dict[str, dict[Any, Any]]:
        """Return copies of floors, rooms, areas, paths and grounds, for `restore`."""
        return {name: dict(getattr(self, name)) for name in ("floors", "rooms", "areas", "paths", "grounds")}

    def restore(self, copied: Mapping[str, Mapping[Any, Any]]) -> None:
        """Take over what `copied` gave."""
        self._layouts += 1
        for name, kept in copied.items():
            setattr(self, name, dict(kept))

    def moved_by(self, transform: Pose) -> None:
        """Move everything with the map: `transform` is new_map_T_old_map."""
        self._layouts += 1
        for area in self.areas.values():
            self.areas[area.id] = replace(area, position=_moved(transform, area.position))
        for room in self.rooms.values():
            self.rooms[room.id] = replace(room, center=_moved(transform, room.center))
        for floor in self.floors.values():
            self.floors[floor.id] = replace(floor, height_m=floor.height_m + float(transform.position[2]))
        self.grounds = {floor_id: ground.moved_by(transform) for floor_id, ground in self.grounds.items()}

    def _floor_with_ground_at(self, height_m: float, stamp_ns: int) -> Floor:
        for floor in self.floors.values():
            if abs(floor.height_m - height_m) < _ONE_FLOOR_M:
                return floor
        floor = Floor(self.make_id(stamp_ns), f"floor {len(self.floors)}", height_m)
        self.floors[floor.id] = floor
        return floor

    def _seeds(self, grid: OccupancyMap, floor: Floor, robot: tuple[float, float] | None) -> list[tuple[int, int]]:
        here = [area for area in self.areas.values() if area.floor_id == floor.id]
        # Where the robot has looked it has been able to go, whatever door is closed now.
        points = [area.position for area in here if robot is None or area.last_viewed_ns]
        points += [] if robot is None else [robot]
        if not points:
            return []
        rows, columns = grid.to_cell(np.array(points))
        return list(zip(rows.tolist(), columns.tolist()))

    def _lay_rooms(
        self, grid: OccupancyMap, free: NDArray[np.bool_], floor: Floor, stamp_ns: int
    ) -> tuple[NDArray[np.intp], list[str]]:
        labels = split_into_rooms(free, grid.resolution_m, self.config.doorway_m, self.config.min_room_m2)
        count = int(labels.max()) + 1 if labels.size else 0
        middles = area_middles(grid, labels) if count else np.zeros((0, 2))
        sizes = np.bincount(labels[labels >= 0], minlength=count) * grid.resolution_m**2
        here = [room for room in self.rooms.values() if room.floor_id == floor.id]
        claims = _claims(grid, labels, [room.center for room in here])
        ids = []
        for number in range(count):
            old = next((room for room, claim in zip(here, claims) if claim == number), None)
            room_id = old.id if old else self.make_id(stamp_ns)
            name = old.name if old else self.free_room_name()
            center = old.center if old else (float(middles[number, 0]), float(middles[number, 1]))
            self.rooms[room_id] = Room(
                room_id, name, floor.id, center, float(sizes[number]), old.named_by_user if old else False
            )
            ids.append(room_id)
        for room in here:
            if room.id not in ids:
                del self.rooms[room.id]
        return labels, ids

    def _lay_areas(
        self,
        grid: OccupancyMap,
        labels: NDArray[np.intp],
        floor: Floor,
        room_of_cell: NDArray[np.intp],
        room_ids: list[str],
        stamp_ns: int,
    ) -> list[str]:
        """Enter the areas of a floor and the paths between them; return their ids by their number in `labels`."""
        self._layouts += 1
        middles = area_middles(grid, labels)
        here = [area for area in self.areas.values() if area.floor_id == floor.id]
        claims = _claims(grid, labels, [area.position for area in here])
        ids, positions = [], middles.copy()
        for number in range(len(middles)):
            old = next((area for area, claim in zip(here, claims) if claim == number), None)
            if old:
                positions[number] = old.position
            row, column = (int(index[0]) for index in grid.to_cell(positions[number : number + 1]))
            room = int(room_of_cell[row, column])
            ids.append(self._enter_area(old, positions[number], floor, room_ids[room] if room >= 0 else "", stamp_ns))
        gone = {area.id for area in here} - set(ids)
        for area_id in gone:
            del self.areas[area_id]
        on_floor = gone | set(ids)
        self.paths = {ends: length for ends, length in self.paths.items() if not on_floor & set(ends)}
        for (a, b), length in path_lengths(grid, labels, positions).items():
            self.paths[ids[a], ids[b]] = length
        return ids

    def _enter_area(
        self, old: Area | None, position: NDArray[np.float64], floor: Floor, room_id: str, stamp_ns: int
    ) -> str:
        """Enter an area, which goes on under the id and the name of the old one, if any; return its id."""
        area = Area(
            old.id if old else self.make_id(stamp_ns),
            old.name if old else f"area {len(self.areas) + 1}",
            (float(position[0]), float(position[1])),
            floor.id,
            room_id,
            old.last_viewed_ns if old else 0,
        )
        self.areas[area.id] = area
        return area.id


def _claims(grid: OccupancyMap, labels: NDArray[np.intp], positions: list[tuple[float, float]]) -> list[int]:
    """Return for each old position the part that it lies in (-1: none); a part goes to the first that claims it."""
    if not positions:
        return []
    rows, columns = grid.to_cell(np.array(positions))
    claims: list[int] = []
    for row, column in zip(rows.tolist(), columns.tolist()):
        inside = 0 <= row < labels.shape[0] and 0 <= column < labels.shape[1]
        part = int(labels[row, column]) if inside else -1
        claims.append(part if part not in claims else -1)
    return claims


def _moved(transform: Pose, point: tuple[float, float]) -> tuple[float, float]:
    moved = transform.apply([point[0], point[1], 0.0])
    return float(moved[0]), float(moved[1])


_REPEATED_VIEW_WEIGHT = 0.2


class CameraViews:
    """Follows the camera of a robot from frame to frame.

    places: the areas that are marked as looked at.
    """

    def __init__(self, config: SceneGraphConfig, places: Places) -> None:
        self._config = config
        self._places = places
        self._last: Pose | None = None

    def weight(self, map_T_camera: Pose) -> float:
        """Return how much a frame's evidence on existence counts: a camera that stands still repeats its errors."""
        last = self._last
        if last is not None:
            near = float(np.linalg.norm(map_T_camera.position - last.position)) < self._config.view_step_m
            cosine = min(1.0, abs(float(map_T_camera.quaternion @ last.quaternion)))
            if near and abs(wrap_angle(2.0 * float(np.arccos(cosine)))) < self._config.view_step_rad:
                return _REPEATED_VIEW_WEIGHT
        self._last = map_T_camera
        return 1.0

    def note(self, frame: Frame) -> None:
        """Mark the areas that lie in view, up to half the evidence range, as looked at; of a detector that tells no
        image, the one in which it is."""
        ids, positions = self._places.areas_on(self._places.here)
        if not ids:
            return
        if frame.intrinsics is None:
            gaps = np.linalg.norm(positions - frame.map_T_camera.position[:2], axis=1)
            self._places.looked_at([ids[int(np.argmin(gaps))]] if frame.complete else [], frame.stamp_ns)
            return
        axis = frame.map_T_camera.matrix[:2, 2]
        length = float(np.linalg.norm(axis))
        if length < 1e-6:
            return
        reach = 0.5 * self._config.evidence_range_m
        offset = positions - frame.map_T_camera.position[:2]
        ahead = offset @ (axis / length)
        aside = np.abs(offset @ (np.array([-axis[1], axis[0]]) / length))
        half = 0.5 * frame.intrinsics.width / frame.intrinsics.fx
        seen = (ahead > 0.2) & (ahead < reach) & (aside < half * ahead)
        self._places.looked_at([ids[i] for i in np.flatnonzero(seen).tolist()], frame.stamp_ns)
