"""What stands in the simulated home, read strictly from config/body_home.yaml: parts, what of them moves, furniture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

import mujoco
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory_node.domain.errors import InvalidValueError, faults_of
from memory_node.domain.resources import read_yaml, resource_path

Triple = tuple[float, float, float]
Rectangle = tuple[float, float, float, float]  # least x and y, greatest x and y (m)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FurnitureEntry(_Entry):
    """One piece of furniture; the file's head tells what each key means."""

    id: str
    type: str
    made: Literal["legs", "bay", "slide", "hinged", "hole", "open_top", "pushed", "seat", "sitter"]
    at: Triple
    size_m: Triple
    color: str
    yaw_deg: float = 0.0
    detail_m: tuple[float, ...] = ()


class SurfaceEntry(_Entry):
    """A rectangle that things are laid on: what carries it, and its height."""

    on: str
    bounds_m: Rectangle
    height_m: float


class KindEntry(_Entry):
    """How things of a class are made."""

    form: Literal["round", "block", "can", "capped", "vessel"]
    size_m: Triple
    color: str
    mass_kg: float = Field(gt=0.0)
    friction: float = Field(default=0.8, gt=0.0)


class HomeEntries(_Entry):
    """The whole file."""

    floor_m: Rectangle
    start: Triple
    wall_height_m: float = Field(gt=0.0)
    walls: tuple[Rectangle, ...]
    colors: dict[str, Triple]
    furniture: tuple[FurnitureEntry, ...]
    surfaces: tuple[SurfaceEntry, ...]
    kinds: dict[str, KindEntry]
    alike: tuple[tuple[str, str], ...]


def read_home(path: Path | None = None) -> HomeEntries:
    """Return what a file says, by default the shipped one.

    Raises:
        InvalidValueError: it says something that cannot be; the message names the keys.
    """
    path = path or resource_path("config/body_home.yaml")
    try:
        return HomeEntries.model_validate(read_yaml(path))
    except ValidationError as error:
        raise InvalidValueError(f"{path}: {'; '.join(faults_of(error)[:5])}") from None


Rgba = tuple[float, float, float, float]
Vector = tuple[float, float, float]


class Form(Enum):
    """The shape of a part, and what its three sizes mean: half sides, (radius, half height) or half axes."""

    BOX = mujoco.mjtGeom.mjGEOM_BOX
    CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
    ELLIPSOID = mujoco.mjtGeom.mjGEOM_ELLIPSOID


@dataclass(frozen=True)
class Part:
    """One rigid primitive: centre in its item's frame (m), half sizes (m), colour; turned about z by yaw_rad."""

    form: Form
    at: Vector
    half: Vector
    rgba: Rgba
    yaw_rad: float = 0.0


class MechanismKind(Enum):
    """What a joint of an item is for."""

    SLIDE = "slide"  # a drawer: out along +x of the item
    HINGE = "hinge"  # a door: about the vertical
    BUTTON = "button"  # springs back; each press switches the item


@dataclass(frozen=True)
class Mechanism:
    """A moving part of an item.

    at: place of the joint in the item's frame. travel: its range, m or rad, from 0. moved: from where it counts as
    opened, or pressed. parts: in the frame of the moving part.
    """

    kind: MechanismKind
    at: Vector
    travel: float
    moved: float
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Item:
    """A thing or a piece of furniture.

    class_name: of the label space; "" for walls, which no detector names. at: its frame in the home, yaw_rad about z.
    mass_kg: None for what stands fast. friction: sliding friction against what it stands on. rolling_m: what keeps
    round things from rolling away, as MuJoCo's coefficient (m).
    """

    id: str
    class_name: str
    at: Vector
    parts: tuple[Part, ...]
    yaw_rad: float = 0.0
    mass_kg: float | None = None
    friction: float = 0.8
    rolling_m: float = 0.0
    mechanism: Mechanism | None = None
    support: str = field(default="", compare=False)

    @property
    def fixed(self) -> bool:
        """Whether it stands fast."""
        return self.mass_kg is None


def box(at: Vector, size: Vector, rgba: Rgba) -> Part:
    """Return a box by its centre and its full sides."""
    return Part(Form.BOX, at, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), rgba)


def cylinder(at: Vector, radius: float, height: float, rgba: Rgba) -> Part:
    """Return an upright cylinder by its centre, radius and full height."""
    return Part(Form.CYLINDER, at, (radius, 0.5 * height, 0.0), rgba)


def ellipsoid(at: Vector, size: Vector, rgba: Rgba) -> Part:
    """Return an ellipsoid by its centre and its full axes."""
    return Part(Form.ELLIPSOID, at, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), rgba)


_STONE: Rgba = (0.45, 0.45, 0.48, 1.0)
_STEEL: Rgba = (0.72, 0.74, 0.77, 1.0)
_PLASTER: Rgba = (0.9, 0.89, 0.86, 1.0)
_SHIRT: Rgba = (0.7, 0.3, 0.3, 1.0)
_SKIN: Rgba = (0.85, 0.7, 0.6, 1.0)
_PANEL_M, _WALL_M, _BOARD_M = 0.018, 0.012, 0.02
_TOP_M, _LEG_M = 0.04, 0.05
# A handle that stands out so far and is so thick, upright, so that a hand that closes sideways takes it.
_HANDLE: Vector = (0.05, 0.014, 0.12)
_BAR_RADIUS_M = 0.009
_BUTTON_TRAVEL_M, _BUTTON_PRESSED_M = 0.012, 0.006
_DRAWER_OPEN_M, _DOOR_OPEN_RAD, _DOOR_TRAVEL_RAD = 0.15, 0.3, 1.6

Made = tuple[tuple[Part, ...], "Mechanism | None"]


def make_furniture(entry: FurnitureEntry, rgba: Rgba) -> Item:
    """Return a piece of furniture.

    Raises:
        InvalidValueError: its `detail_m` has not the numbers that its making needs.
    """
    parts, mechanism = _MAKERS[entry.made](entry, rgba)
    return Item(entry.id, entry.type, entry.at, parts, float(np.radians(entry.yaw_deg)), mechanism=mechanism)


def wall(item_id: str, corners: Rectangle, height_m: float) -> Item:
    """Return a wall by two opposite corners on the floor."""
    x0, y0, x1, y1 = corners
    size = (x1 - x0, y1 - y0, height_m)
    return Item(
        item_id, "", (0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0), (box((0.0, 0.0, 0.5 * height_m), size, _PLASTER),)
    )


def _legs(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a top on four legs."""
    depth, width, height = entry.size_m
    leg = height - _TOP_M
    legs = [
        box((x * (0.5 * depth - 0.04), y * (0.5 * width - 0.04), 0.5 * leg), (_LEG_M, _LEG_M, leg), rgba)
        for x in (-1.0, 1.0)
        for y in (-1.0, 1.0)
    ]
    return (box((0.0, 0.0, height - 0.5 * _TOP_M), (depth, width, _TOP_M), rgba), *legs), None


def _bay(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a kitchen unit with a worktop and a bay for a drawer below it."""
    depth, width, height = entry.size_m
    middle, wide, high = _detail(entry, 3)
    under = height - _TOP_M
    low = under - high
    # Of the panels beside the bay, the one at lower y and the one at higher y.
    before, after = 0.5 * width + middle - 0.5 * wide, 0.5 * width - middle - 0.5 * wide
    parts = (
        box((0.0, 0.0, height - 0.5 * _TOP_M), (depth, width, _TOP_M), _STONE),
        box((0.0, 0.0, 0.5 * low), (depth, width, low), rgba),
        box((0.0, -0.5 * (width - before), low + 0.5 * high), (depth, before, high), rgba),
        box((0.0, 0.5 * (width - after), low + 0.5 * high), (depth, after, high), rgba),
    )
    return parts, None


def _slide(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a drawer, closed; its place is the middle of its front's lower edge."""
    depth, width, height = entry.size_m
    inner, side = width - 0.04, 0.7 * height
    parts = (
        box((0.5 * _PANEL_M, 0.0, 0.5 * height), (_PANEL_M, width, height), rgba),
        box((_PANEL_M + 0.5 * _HANDLE[0], 0.0, 0.5 * height), _HANDLE, _STEEL),
        box((-0.5 * depth, 0.0, _WALL_M), (depth, inner, _WALL_M), rgba),
        box((-0.5 * depth, 0.5 * inner, 0.4 * height), (depth, _WALL_M, side), rgba),
        box((-0.5 * depth, -0.5 * inner, 0.4 * height), (depth, _WALL_M, side), rgba),
        box((-depth, 0.0, 0.4 * height), (_WALL_M, inner, side), rgba),
    )
    travel_m = min(0.8 * depth, 0.35)
    return (), Mechanism(MechanismKind.SLIDE, (0.0, 0.0, 0.0), travel_m, _DRAWER_OPEN_M, parts)


def _hinged(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a box with a hinged door and a handle in the middle of it."""
    depth, width, height = entry.size_m
    half = 0.5 * width
    body = (
        box((-0.5 * (depth - _BOARD_M), 0.0, 0.5 * height), (_BOARD_M, width, height), rgba),
        box((0.0, half - 0.5 * _BOARD_M, 0.5 * height), (depth, _BOARD_M, height), rgba),
        box((0.0, 0.5 * _BOARD_M - half, 0.5 * height), (depth, _BOARD_M, height), rgba),
        box((0.0, 0.0, 0.5 * _BOARD_M), (depth, width, _BOARD_M), rgba),
        box((0.0, 0.0, height - 0.5 * _BOARD_M), (depth, width, _BOARD_M), rgba),
    )
    door = (
        box((0.5 * _PANEL_M + 0.003, half, 0.5 * height), (_PANEL_M, width - 0.01, height - 0.01), rgba),
        *_bar(_PANEL_M, half, 0.5 * height),
    )
    hinge = (0.5 * depth, -half, 0.0)
    return body, Mechanism(MechanismKind.HINGE, hinge, _DOOR_TRAVEL_RAD, _DOOR_OPEN_RAD, door)


def _bar(x: float, y: float, z: float) -> tuple[Part, ...]:
    """Return an upright round handle before a panel, which turns in the fingers as its door does."""
    out, high = _HANDLE[0], 1.5 * _HANDLE[2]
    ends = [box((x + 0.5 * out, y, z + side * 0.5 * high), (out, 0.012, 0.012), _STEEL) for side in (-1.0, 1.0)]
    return (cylinder((x + out - _BAR_RADIUS_M, y, z), _BAR_RADIUS_M, high, _STEEL), *ends)


def _open_top(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return what is open above: a basin, a bin."""
    depth, width, height = entry.size_m
    along, across = 0.5 * (depth - _WALL_M), 0.5 * (width - _WALL_M)
    parts = (
        box((0.0, 0.0, 0.5 * _WALL_M), (depth, width, _WALL_M), rgba),
        box((along, 0.0, 0.5 * height), (_WALL_M, width, height), rgba),
        box((-along, 0.0, 0.5 * height), (_WALL_M, width, height), rgba),
        box((0.0, across, 0.5 * height), (depth, _WALL_M, height), rgba),
        box((0.0, -across, 0.5 * height), (depth, _WALL_M, height), rgba),
    )
    return parts, None


def _hole(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return the unit that a basin hangs in."""
    depth, width, height = entry.size_m
    deep, wide, low = _detail(entry, 3)
    side, edge, rise = 0.5 * (width - wide), 0.5 * (depth - deep), height - low
    middle = low + 0.5 * rise
    parts = (
        box((0.0, 0.0, 0.5 * low), (depth, width, low), rgba),
        box((0.0, 0.5 * (width - side), middle), (depth, side, rise), rgba),
        box((0.0, -0.5 * (width - side), middle), (depth, side, rise), rgba),
        box((0.5 * (depth - edge), 0.0, middle), (edge, wide, rise), rgba),
        box((-0.5 * (depth - edge), 0.0, middle), (edge, wide, rise), rgba),
    )
    return parts, None


def _pushed(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return an appliance that a push on the plate in the middle of its front switches."""
    depth, width, height = entry.size_m
    wide, high = _detail(entry, 2)
    gap = _BUTTON_TRAVEL_M + 0.002
    body = box((-0.5 * gap, 0.0, 0.5 * height), (depth - gap, width, height), rgba)
    push = box((0.0, 0.0, 0.0), (0.006, wide, high), _STEEL)
    front = (0.5 * depth - 0.003, 0.0, 0.5 * height)
    return (body,), Mechanism(MechanismKind.BUTTON, front, _BUTTON_TRAVEL_M, _BUTTON_PRESSED_M, (push,))


def _seat(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a seat with a back."""
    depth, width, height = entry.size_m
    back = 0.2 * depth
    seat = box((0.0, 0.0, 0.25 * height), (depth, width, 0.5 * height), rgba)
    return (seat, box((-0.5 * (depth - back), 0.0, 0.75 * height), (back, width, 0.5 * height), rgba)), None


def _sitter(entry: FurnitureEntry, rgba: Rgba) -> Made:
    """Return a person who sits, with a flat lap at 0.45 of the height."""
    depth, width, height = entry.size_m
    lap, chest = 0.45 * height, 0.35 * height
    parts = (
        box((0.05, 0.0, 0.5 * lap), (0.9 * depth, width, lap), rgba),
        box((-0.12, 0.0, lap + 0.5 * chest), (0.16, 0.8 * width, chest), _SHIRT),
        cylinder((-0.12, 0.0, lap + chest + 0.1 * height), 0.1, 0.2 * height, _SKIN),
    )
    return parts, None


def _detail(entry: FurnitureEntry, count: int) -> tuple[float, ...]:
    if len(entry.detail_m) != count:
        raise InvalidValueError(f"{entry.id}.detail_m: expected {count} numbers, got {len(entry.detail_m)}")
    return entry.detail_m


_MAKERS: dict[str, Callable[[FurnitureEntry, Rgba], Made]] = {
    "legs": _legs,
    "bay": _bay,
    "slide": _slide,
    "hinged": _hinged,
    "hole": _hole,
    "open_top": _open_top,
    "pushed": _pushed,
    "seat": _seat,
    "sitter": _sitter,
}
