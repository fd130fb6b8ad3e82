"""What stands in the simulated home: its parts as shapes, and what of it moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import mujoco

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
