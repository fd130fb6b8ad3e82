"""How far the readers of instructions can be trusted: fitted on the parts that were read, drawn on those kept back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import plain_commands
from benchmarks.instruction_checks import PARTS, load_checks
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.planner.language.calibration import Calibration, Curve
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.understanding import Understander

SOURCES = ("commands", "model", "sequence")
_FITTED = ("model",)  # the grammar says 1 or asks; what the reader of sequences says is true as it is
_DRAWN = ("model", "sequence")
_IN_A_BIN = 18


@dataclass(frozen=True)
class Reading:
    """A reading: which reader's it is, what that says of it, and whether it is right. kept: of a part kept back."""

    source: str
    said: float
    right: bool
    kept: bool


def read_all(understander: Understander, kinds: ObjectCatalogue) -> list[Reading]:
    """Read every check and plain command with a reader that takes whatever it finds likeliest."""
    return [
        Reading(found.source, found.confidence, effects(found.goals) in wanted, kept)
        for text, home, wanted, kept in _instructions(kinds)
        if (found := understander.understand(text, home, conversation=Conversation())).goals
    ]


def _instructions(kinds: ObjectCatalogue) -> Iterator[tuple[str, HomeClasses, tuple[tuple[str, ...], ...], bool]]:
    for part in PARTS:
        for check in load_checks(part):
            yield check.text, check.home, check.wanted, part.endswith("final")
    for part in plain_commands.PARTS:
        for turn in plain_commands.load_commands(part, kinds):
            yield turn.text, plain_commands.home_in("known", turn, kinds), turn.wanted, part == "final"


def fitted(readings: Iterable[Reading]) -> Calibration:
    """Return a rising curve for each trained reader through bins of the readings that were not kept back."""
    learnt = [one for one in readings if not one.kept]
    return Calibration({source: _curve([one for one in learnt if one.source == source]) for source in _FITTED})


def _curve(readings: Sequence[Reading]) -> Curve:
    ordered = sorted(readings, key=lambda one: one.said)
    bins = np.array_split(np.arange(len(ordered)), max(2, len(ordered) // _IN_A_BIN))
    said = [float(np.mean([ordered[index].said for index in one])) for one in bins]
    # One right and one wrong more in each bin: a few readings do not make a reader sure.
    right = [(sum(ordered[index].right for index in one) + 1) / (len(one) + 2) for one in bins]
    rising = _never_falling(right, [len(one) for one in bins])
    return [(round(x, 4), round(float(y), 4)) for x, y in zip(said, rising)]


def _never_falling(values: Sequence[float], weights: Sequence[int]) -> list[float]:
    """Return the nearest values, by weighted squares, that never fall: neighbours that do are averaged.

    scipy.optimize.isotonic_regression does the same, from scipy 1.12 on.
    """
    levels: list[tuple[float, int, int]] = []  # value, weight, how many
    for value, weight in zip(values, weights):
        level = (value, weight, 1)
        while levels and levels[-1][0] > level[0]:
            before, mass, count = levels.pop()
            whole = mass + level[1]
            level = ((before * mass + level[0] * level[1]) / whole, whole, count + level[2])
        levels.append(level)
    return [value for value, _, count in levels for _ in range(count)]


def write(calibration: Calibration, path: Path) -> None:
    """Write curves as calibration.json."""
    path.write_text(json.dumps(calibration.curves) + "\n", encoding="utf-8")


def rows_of(readings: Sequence[Reading], calibration: Calibration) -> Iterator[dict[str, Any]]:
    """Yield a row for each reader on what was kept back. error: mean distance of confidence and share right in bins."""
    for source in SOURCES:
        kept = [one for one in readings if one.kept and one.source == source]
        if kept:
            right = np.array([one.right for one in kept])
            said = np.array([one.said for one in kept])
            confidence = np.array([calibration.of(source, one.said) for one in kept])
            yield {
                "source": source,
                "readings": len(kept),
                "right": round(float(right.mean()), 4),
                "error_said": round(_error(said, right), 4),
                "error_calibrated": round(_error(confidence, right), 4),
            }


def _error(confidence: np.ndarray[Any, Any], right: np.ndarray[Any, Any], bins: int = 5) -> float:
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split(order, bins)
    return float(
        sum(len(part) * abs(confidence[part].mean() - right[part].mean()) for part in parts if len(part)) / len(order)
    )


def draw(readings: Sequence[Reading], calibration: Calibration, path: Path) -> None:
    """Draw share right over confidence for what was kept back, before and after calibration."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(_DRAWN), figsize=(8, 4), sharey=True)
    for axis, source in zip(axes, _DRAWN):
        kept = [one for one in readings if one.kept and one.source == source]
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for label, values, marker in (
            ("as said", [one.said for one in kept], "o"),
            ("calibrated", [calibration.of(source, one.said) for one in kept], "s"),
        ):
            order = np.argsort(values, kind="stable")
            bins = [part for part in np.array_split(order, 5) if len(part)]
            x = [np.mean([values[index] for index in part]) for part in bins]
            y = [np.mean([kept[index].right for index in part]) for part in bins]
            axis.plot(x, y, marker=marker, label=label)
        title = {"model": "reader of one goal", "sequence": "reader of sequences"}[source]
        axis.set(title=f"{title} ({len(kept)} readings)", xlabel="confidence", xlim=(0, 1), ylim=(0, 1.02))
    axes[0].set_ylabel("share that is right")
    axes[0].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
