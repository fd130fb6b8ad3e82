"""The simulated site of `bench scene`: rooms with things, and a camera in them with what the sensors make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.perception.detection import Detection
from memory_node.sim.noise import DetectionNoise, noisy_depth

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


CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
_NEAR_M = 0.1
_PALETTE = np.random.default_rng(3).integers(40, 256, (256, 3)).astype(np.uint8)  # a colour for each thing
_FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


@dataclass(frozen=True, eq=False)
class View:
    """What a perfect camera sees: depth (h, w) in metres and the number of the thing at each pixel (-1 none)."""

    depth_m: NDArray[np.float32]
    number: NDArray[np.int32]
    map_T_camera: Pose


def render(things: Sequence[Thing], room: int, map_T_camera: Pose) -> View:
    """Render a room's things, walls, floor and ceiling. Inverse depth is linear in the pixel on every plane."""
    matrix = np.linalg.inv(map_T_camera.matrix)
    nearness = _walls(room, map_T_camera)
    number = np.full(nearness.shape, -1, np.int32)
    for thing in things:
        corners = thing.box.corners() @ matrix[:3, :3].T + matrix[:3, 3]
        if corners[:, 2].max() > _NEAR_M:
            for face in _FACES:
                _draw_face(corners[list(face)], thing.number, nearness, number)
    with np.errstate(divide="ignore"):
        depth = np.where(nearness > 0.0, 1.0 / nearness, 0.0)
    return View(depth.astype(np.float32), number, map_T_camera)


def _walls(room: int, map_T_camera: Pose) -> NDArray[np.float64]:
    """Return the inverse depth (h, w) of the inside of a room: the nearest of its six planes along each ray."""
    x, y = room_corner(room)
    turn = map_T_camera.matrix[:3, :3]
    eye = map_T_camera.position
    nearness = np.zeros((CAMERA.height, CAMERA.width))
    u = ((np.arange(CAMERA.width) - CAMERA.cx) / CAMERA.fx)[None]
    v = ((np.arange(CAMERA.height) - CAMERA.cy) / CAMERA.fy)[:, None]
    for axis, low, high in ((0, x, x + ROOM_M[0]), (1, y, y + ROOM_M[1]), (2, 0.0, ROOM_M[2])):
        ray = turn[axis, 0] * u + turn[axis, 1] * v + turn[axis, 2]
        np.maximum(nearness, ray / (low - eye[axis]), out=nearness)
        np.maximum(nearness, ray / (high - eye[axis]), out=nearness)
    return nearness


def _draw_face(
    corners: NDArray[np.float64], thing: int, nearness: NDArray[np.float64], number: NDArray[np.int32]
) -> None:
    corners = _clipped(corners)
    if len(corners) < 3:
        return
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    offset = float(normal @ corners[0])
    if abs(offset) < 1e-9:
        return
    pixel = corners[:, :2] / corners[:, 2:] * [CAMERA.fx, CAMERA.fy] + [CAMERA.cx, CAMERA.cy]
    low = np.maximum(np.floor(pixel.min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(pixel.max(axis=0)).astype(int) + 1, [CAMERA.width, CAMERA.height])
    if (high <= low).any():
        return
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    cv2.fillConvexPoly(mask, np.rint((pixel - low) * 16).astype(np.int32), 1, shift=4)
    a, b, c = normal[0] / CAMERA.fx, normal[1] / CAMERA.fy, normal[2]
    columns = np.arange(low[0], high[0]) - CAMERA.cx
    rows = np.arange(low[1], high[1]) - CAMERA.cy
    here = (a * columns[None] + b * rows[:, None] + c) / offset
    window = np.s_[low[1] : high[1], low[0] : high[0]]
    nearer = (mask > 0) & (here > nearness[window])
    nearness[window][nearer] = here[nearer]
    number[window][nearer] = thing


def _clipped(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the polygon (n, 3) cut at the near plane (Sutherland and Hodgman 1974)."""
    if (corners[:, 2] >= _NEAR_M).all():
        return corners
    kept = []
    for one, other in zip(corners, np.roll(corners, -1, axis=0)):
        if one[2] >= _NEAR_M:
            kept.append(one)
        if (one[2] >= _NEAR_M) != (other[2] >= _NEAR_M):
            kept.append(one + (other - one) * (_NEAR_M - one[2]) / (other[2] - one[2]))
    return np.array(kept).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class Shot:
    """What noisy sensors give at one moment: depth (h, w) in metres, detections, the instance image (h, w) that they
    number into, and colour (h, w, 3)."""

    view: View
    depth_m: NDArray[np.float32]
    detections: list[Detection]
    labels: NDArray[np.int32]
    color: NDArray[np.uint8]


def shoot(site: Site, room: int, map_T_camera: Pose, noise: DetectionNoise, generator: np.random.Generator) -> Shot:
    """Return what a camera in a room gives."""
    view = render(site.in_room(room), room, map_T_camera)
    depth_m = noisy_depth(view.depth_m, noise, generator)
    detections, labels = detect(view, site.things, noise, generator)
    # OpenCV 4.5 takes a scalar of four channels for an image of three.
    color = np.asarray(cv2.multiply(_PALETTE[view.number & 255], np.full(4, 0.9)), dtype=np.uint8)
    return Shot(view, depth_m, detections, labels, color)


def detect(
    view: View, things: dict[int, Thing], noise: DetectionNoise, generator: np.random.Generator
) -> tuple[list[Detection], NDArray[np.int32]]:
    """Return detections and the instance image (h, w) that they number into: misses, ghosts, wrong labels, ragged
    masks."""
    shown = _ragged(view.number, noise.mask_edge_px, generator)
    sizes = np.bincount(shown[shown >= 0], minlength=int(shown.max()) + 1)
    instance = np.zeros(len(sizes) + 1, np.int32)
    detections: list[Detection] = []
    for number in np.flatnonzero(sizes >= noise.min_pixels).tolist():
        distance = float(np.linalg.norm(things[number].box.center - view.map_T_camera.position))
        if distance > noise.max_range_m or generator.random() < noise.miss_probability:
            continue
        name = things[number].class_name
        if generator.random() < noise.class_confusion_probability:
            name = ALIKE[name]
        score = float(np.clip(generator.normal(noise.score_mean, noise.score_sigma), 0.05, 1.0))
        detections.append(Detection({name: score}, instance=len(detections) + 1))
        instance[number] = len(detections)
    labels = instance[shown]  # -1, no thing, is the last entry: 0
    for _ in range(int(generator.poisson(noise.false_positive_rate))):
        width, height = generator.integers(15, 90, 2)
        left, top = generator.integers(0, CAMERA.width - width), generator.integers(0, CAMERA.height - height)
        name = str(generator.choice(list(THINGS)))
        detections.append(Detection({name: float(generator.uniform(0.4, 0.8))}, instance=len(detections) + 1))
        labels[top : top + height, left : left + width] = len(detections)
    return detections, labels


def _ragged(number: NDArray[np.int32], most_px: int, generator: np.random.Generator) -> NDArray[np.int32]:
    """Return the instances (h, w) with outlines shifted by up to `most_px`, differently from patch to patch."""
    if most_px == 0:
        return number
    height, width = number.shape
    rows, columns = np.indices(number.shape, dtype=np.int32)
    shift = generator.integers(-most_px, most_px + 1, (2, height // 16 + 1, width // 16 + 1))
    shift = shift.repeat(16, axis=1).repeat(16, axis=2)[:, :height, :width]
    return number[np.clip(rows + shift[0], 0, height - 1), np.clip(columns + shift[1], 0, width - 1)]
