"""`memory-node bench world`: is what memory believes of a home so, after each of many legal skill calls?"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.alfred_home import AlfredScenes
from benchmarks.household_cases import Case, load_cases
from benchmarks.household_homes import Homes
from benchmarks.rows import emit
from benchmarks.world.played import HANDLED, SEEN, HomePlay, Played
from benchmarks.world.truth import Score
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.sim.home_file import load_home, shipped_homes
from memory_node.sim.world import World


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--scenes", type=Path, metavar="FILE", help="scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="ALFRED's tasks, whose things furnish the plans")
    parser.add_argument("--sequences", type=int, default=1, metavar="N", help="sequences in each home (default 1)")
    parser.add_argument("--calls", type=int, default=100, metavar="N", help="calls of each sequence (default 100)")
    parser.add_argument("--limit", type=int, default=0, help="so many homes, evenly spread (default: all)")


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    kinds, embedder = load_catalogue(), CachingEmbedder(MiniLmEmbedder())
    homes = _Homes(args.scenes, args.tasks, args.seed)
    names = homes.names if not args.limit else homes.names[:: max(1, len(homes.names) // args.limit)][: args.limit]
    total = Played()
    with progress_bar() as bar:
        task = bar.add_task("all homes", total=len(names) * args.sequences)
        for name in names:
            home = Played()
            for number in range(args.sequences):
                play = HomePlay(homes.world(name), kinds, embedder, f"{args.seed} {name} {number}")
                played = play.play(args.calls, homes.tasks(name))
                _add(home, played)
                bar.advance(task)
            emit(list(_rows(name, home)), args.json)
            _add(total, home)
    emit(list(_rows("all", total)), args.json)
    return 0


def _add(total: Played, played: Played) -> None:
    total.ms += played.ms
    total.listed, total.needed = total.listed + played.listed, total.needed + played.needed
    for name, score in played.scores.items():
        total.scores.setdefault(name, Score()).add(score)


def _rows(home: str, played: Played) -> Iterator[dict[str, Any]]:
    p50 = round(statistics.median(played.ms), 3) if played.ms else None
    for name in (SEEN, HANDLED):
        relevant = round(played.listed / played.needed, 4) if played.needed else None
        figures = played.scores[name].figures()
        yield {"home": home, "set": name, **figures, "relevant_listed": relevant, "ms_p50": p50}


class _Homes:
    """The shipped homes and, with their file, the floor plans: furnished by a task's things, else by the classes that
    occur in them."""

    def __init__(self, scenes: Path | None, tasks: Path | None, seed: int) -> None:
        self._plans = AlfredScenes(scenes) if scenes is not None else None
        self._furnished = Homes(scenes, load_catalogue(), seed) if scenes is not None else None
        cases = load_cases(tasks, "alfred", 0, seed) if tasks is not None else []
        self._cases: dict[str, list[Case]] = {}
        for case in cases:
            self._cases.setdefault(case.floor_plan, []).append(case)
        if tasks is not None and scenes is None:
            print("--tasks furnish floor plans: give --scenes, too", file=sys.stderr)

    @property
    def names(self) -> list[str]:
        """The homes' names, the shipped ones first."""
        return [*shipped_homes(), *(self._plans.floor_plans if self._plans is not None else ())]

    def world(self, name: str) -> World:
        """Return a home as it is at first."""
        if name in shipped_homes():
            return load_home(name)
        assert self._furnished is not None
        return self._furnished.world(next(iter(self._cases.get(name, ())), Case(name, "", name, "")))

    def tasks(self, name: str) -> list[Mapping[str, Any]]:
        """Return the rows of the tasks in a home."""
        return [case.task for case in self._cases.get(name, ())]
