"""The file that says what stands in the body's home, read strictly: config/body_home.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

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
