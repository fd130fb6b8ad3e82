"""The label space of a symbolic home: one class for each word of the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.memento.floor_plan import FloorPlan, class_name_of
from benchmarks.memento.tasks import Home

_HOLDS_IN = ("Cabinet", "Fridge", "Wardrobe", "FilingCabinet", "WasherDryer")


def write_label_space(homes: Sequence[Home], path: Path) -> str:
    """Write the label space of some homes to a file; return its path as a parameter takes it."""
    classes: dict[str, dict[str, Any]] = {}
    for home in homes:
        for furniture in FloorPlan(home).furniture.values():
            holds = "in" if furniture.class_name in _HOLDS_IN else "on"
            classes[furniture.class_name] = {**_entry(furniture.class_name), "is": ["fixed"], "holds": holds}
        for task in (*home.first, *home.single, *home.joint):
            for thing in task.objects:
                name = class_name_of(thing.class_name)
                classes.setdefault(name, {**_entry(name), "is": ["pickupable"], "size_m": [0.1, 0.1, 0.1]})
    path.write_text(yaml.safe_dump({"name": "memento", "classes": classes}), encoding="utf-8")
    return str(path)


def _entry(class_name: str) -> dict[str, Any]:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in class_name).strip()
    return {"names": [words], "gloss": f"a {words}"}
