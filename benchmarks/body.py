"""`bench body`: skills and instructions of a robot with physics, whose simulation decides success, not its report."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.rows import emit
from memory_node.nodes.run import activate_ros


@dataclass(frozen=True)
class RelationCount:
    """Things in view: told: memory has them on or in something; right: as physics does; there: physics does at all."""

    told: int = 0
    right: int = 0
    there: int = 0

    def __add__(self, other: RelationCount) -> RelationCount:
        return RelationCount(self.told + other.told, self.right + other.right, self.there + other.there)

    @property
    def precision(self) -> float | None:
        """Of what memory tells; None where it tells nothing."""
        return self.right / self.told if self.told else None

    @property
    def recall(self) -> float | None:
        """Of what is so; None where nothing is."""
        return self.right / self.there if self.there else None


@dataclass(frozen=True)
class Outcome:
    """The robot's report and the result by physics. claimed: the robot reports success. success: physics confirms it.
    cause: the reason of a failure; "denied" if the robot reports success and physics does not confirm it.
    position_errors_m: of the remembered positions of what the camera saw in the end. relations: of the same things.
    """

    kind: str
    what: str
    claimed: bool
    success: bool
    cause: str
    distance_m: float
    seconds: float
    position_errors_m: tuple[float, ...] = ()
    relations: RelationCount = RelationCount()


_HOME_EVERY = 12  # trials; then another home, with an empty memory
_INSTRUCTIONS_EVERY = 4  # likewise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--trials", type=int, default=12, help="pick-and-put trials (default 12)")
    parser.add_argument("--mechanisms", type=int, default=6, help="open, close and switch trials (default 6)")
    parser.add_argument("--instructions", type=int, default=3, help="instructions for each memory mode (default 3)")
    parser.add_argument("--faults", action="store_true", help="slips, pushed things, shut drawers, lost pictures")


def run(args: argparse.Namespace) -> int:
    """Print a row for each kind of skill, and for instructions with memory and without."""
    emit(_rows(args), args.json)
    return 0


@dataclass
class Tally:
    """What came of the trials of one kind."""

    outcomes: list[Outcome] = field(default_factory=list)

    def row(self, kind: str, memory: str) -> dict[str, Any]:
        """Return the figures of all trials."""
        done = self.outcomes
        causes = Counter(one.cause for one in done if not one.success)
        errors = [error for one in done for error in one.position_errors_m]
        relations = sum((one.relations for one in done), RelationCount())
        return {
            "kind": kind,
            "memory": memory,
            "trials": len(done),
            "success_rate": float(np.mean([one.success for one in done])),
            "false_done": sum(one.claimed and not one.success for one in done),
            "causes": dict(causes.most_common()),
            "distance_m": float(np.mean([one.distance_m for one in done])),
            "seconds": float(np.mean([one.seconds for one in done])),
            "relation_precision": relations.precision,
            "relation_recall": relations.recall,
            "position_error_m": float(np.median(errors)) if errors else None,
            "position_error_p90_m": float(np.quantile(errors, 0.9)) if errors else None,
        }


def _line(one: Outcome) -> str:
    errors_mm = " ".join(f"{1000.0 * error:.0f}" for error in one.position_errors_m)
    result = "done" if one.success else one.cause
    return f"{one.kind:12} {one.what:40} {result}; {one.distance_m:.1f} m, {one.seconds:.0f} s, off by [{errors_mm}] mm"


def _rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    activate_ros()  # the bridge's modules import messages
    from benchmarks.body_life import BodyLife

    tallies: dict[tuple[str, str], Tally] = {}

    def note(outcomes: list[Outcome], memory: str) -> None:
        for one in outcomes:
            tallies.setdefault((one.kind, memory), Tally()).outcomes.append(one)
            print(_line(one), file=sys.stderr, flush=True)

    for first in range(0, args.trials, _HOME_EVERY):
        life = BodyLife(args.seed + first, faults=args.faults)
        for trial in range(first, min(first + _HOME_EVERY, args.trials)):
            note(life.pick_and_put(trial), "full")
        life.close()
    if args.mechanisms:
        life = BodyLife(args.seed + 1000, faults=args.faults)
        for trial in range(args.mechanisms):
            note(life.work_mechanism(trial), "full")
        life.close()
    for mode in ("full", "none") if args.instructions else ():
        for first in range(0, args.instructions, _INSTRUCTIONS_EVERY):
            life = BodyLife(args.seed + 2000 + first, faults=args.faults, knows_home=mode == "full")
            for trial in range(first, min(first + _INSTRUCTIONS_EVERY, args.instructions)):
                note([life.run(trial, mode)], mode)
            life.close()
    for (kind, memory), tally in tallies.items():
        yield tally.row(kind, memory)
