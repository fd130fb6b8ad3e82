"""A snapshot of the short-term memory that survives a restart within a time limit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.resources import create_private
from memory_node.domain.states import StateBelief

_FORMAT = 1
_PLAIN = (
    "object_id",
    "object_class",
    "stamp_ns",
    "frame_id",
    "image_path",
    "source",
    "area_id",
    "support_id",
    "existence",
    "class_probability",
    "yaw_rad",
    "last_missed_ns",
    "inside",
    "room_name",
)


# Snapshots of the first releases lack them.
_LATER = ("support_class", "used_ns")


class SnapshotError(RobotMemoryError):
    """A snapshot's file does not hold what a snapshot holds."""


def write_snapshot(path: Path, units: Iterable[MemoryUnit], stamp_ns: int) -> None:
    """Write the units, coldest first, whole or not at all. Embeddings are left out: they are made again when asked."""
    document = {"format": _FORMAT, "stamp_ns": stamp_ns, "units": [_unit_to_json(unit) for unit in units]}
    scratch = path.with_name(path.name + ".part")
    create_private(scratch)
    scratch.write_text(json.dumps(document), encoding="utf-8")
    os.replace(scratch, path)


def read_snapshot(path: Path, now_ns: int, max_age_s: float) -> tuple[MemoryUnit, ...]:
    """Return the units of a snapshot; none when there is no file or it is older than `max_age_s`.

    Raises:
        SnapshotError: the file is damaged or of another format.
    """
    if not path.is_file():
        return ()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            raise SnapshotError(f"{path}: expected format {_FORMAT}, got {document['format']}")
        if now_ns - int(document["stamp_ns"]) > max_age_s * 1e9:
            return ()
        return tuple(_unit_from_json(value) for value in document["units"])
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"{path}: not a snapshot of the short-term memory ({error}); remove it") from error


def _unit_to_json(unit: MemoryUnit) -> dict[str, Any]:
    return {
        **{name: getattr(unit, name) for name in (*_PLAIN, *_LATER)},
        "position": unit.position.tolist(),
        "covariance": unit.covariance.tolist(),
        "size": unit.size.tolist(),
        "states": [belief.as_row() for belief in unit.states],
    }


def _unit_from_json(value: dict[str, Any]) -> MemoryUnit:
    return MemoryUnit(
        **{name: value[name] for name in _PLAIN},
        **{name: value[name] for name in _LATER if name in value},
        position=np.array(value["position"]),
        covariance=np.array(value["covariance"]),
        size=np.array(value["size"]),
        states=tuple(map(StateBelief.of_row, value["states"])),
    )
