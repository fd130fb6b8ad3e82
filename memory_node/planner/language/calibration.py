"""How often readings of a given probability are right: what a reader says of itself, made true on kept instructions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from memory_node.planner.language.single_goal_reader import WEIGHTS_FOLDER

Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Calibration:
    """Curves of (what the reader says, how often it is right) by the reading's source; between points straight lines.

    A source without a curve is taken at its word. `memory-node bench instructions --reliability` fits and draws them.
    """

    curves: Mapping[str, Curve] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path = WEIGHTS_FOLDER) -> Calibration:
        """Return the shipped curves; none where there are no trained readers either."""
        path = folder / "calibration.json"
        return cls(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else cls()

    def of(self, source: str, probability: float) -> float:
        """Return the confidence in [0, 1] of a reading."""
        curve = self.curves.get(source)
        if not curve:
            return probability
        said, right = zip(*curve, strict=True)
        return float(np.interp(probability, said, right))
