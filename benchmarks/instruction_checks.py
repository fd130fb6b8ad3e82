"""Instructions of our own for what people's task sentences lack: indirect, distracting, by looks, in chains."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.goal_effects import effects
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.understanding import Understander

_CHECKS = Path(__file__).parent / "checks"
_FILES = {
    "instruction_checks": ("development", "final"),
    "instruction_checks_persons": ("persons", "persons-final"),
    "instruction_checks_described": ("described", "described-final"),
}
PARTS = tuple(part for parts in _FILES.values() for part in parts)


@dataclass(frozen=True)
class Check:
    """An instruction in a home, and the effects that it asks for; any of `wanted` is right."""

    text: str
    category: str
    home: HomeClasses
    wanted: tuple[tuple[str, ...], ...]


def load_checks(part: str) -> list[Check]:
    """Return one part of checks/instruction_checks*.yaml, whose homes all of them share."""
    files = {name: yaml.safe_load((_CHECKS / f"{name}.yaml").read_text(encoding="utf-8")) for name in _FILES}
    homes = {
        name: HomeClasses(frozenset(home["objects"]), frozenset(home["fixtures"]))
        for file in files.values()
        for name, home in file.get("homes", {}).items()
    }
    categories = next(file[part] for file in files.values() if part in file)
    return [_check(row, category, homes) for category, rows in categories.items() for row in rows]


def _check(row: Mapping[str, Any], category: str, homes: Mapping[str, HomeClasses]) -> Check:
    wanted = (row["want"], *row.get("or", ()))
    return Check(row["say"], category, homes[row["home"]], tuple(tuple(one) for one in wanted))


def measure(checks: Iterable[Check], understander: Understander) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each category and one for all, and a text for each instruction that was misread."""
    outcomes: list[tuple[str, bool, float]] = []
    mistakes: list[str] = []
    for check in checks:
        started = time.perf_counter()
        read = _effects_read(check, understander)
        outcomes.append((check.category, read in check.wanted, 1e3 * (time.perf_counter() - started)))
        if read not in check.wanted:
            mistakes.append(f"{check.text}\n    wanted {'; '.join(check.wanted[0])}\n    read   {'; '.join(read)}")
    categories = list(dict.fromkeys(category for category, _, _ in outcomes))
    rows = [_row(name, [one for one in outcomes if one[0] == name]) for name in categories]
    return [*rows, _row("all", outcomes)], mistakes


def _effects_read(check: Check, understander: Understander) -> tuple[str, ...]:
    return effects(understander.understand(check.text, check.home).goals)


def _row(category: str, outcomes: list[tuple[str, bool, float]]) -> dict[str, Any]:
    return {
        "category": category,
        "instructions": len(outcomes),
        "right": round(float(np.mean([right for _, right, _ in outcomes])), 4),
        "ms_p50": round(float(np.median([spent for _, _, spent in outcomes])), 3),
    }
