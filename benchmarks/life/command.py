"""`memory-node bench life`: days in a simulated home on which each memory must count."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import Day, read_days
from benchmarks.life.day_run import DayReport
from benchmarks.life.home import LifeHomes, listed
from benchmarks.life.life_rows import (
    Setting,
    draw_matrix,
    draw_sweep,
    print_matrix,
    rows_of,
    scenario_row,
    with_reduced_exploration,
)
from benchmarks.life.lives import Lives
from benchmarks.life.player import Player
from benchmarks.life.players import LLM, NAMES, OFFLINE, Players, seeds_of
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.shuffle import Shuffling
from benchmarks.life.switches import EACH, KARMA, MEMORIES, POLICIES, CacheSetting
from benchmarks.model_figures import add_planner_arguments
from benchmarks.ranking.ranked_planner import BY_CHANCE
from benchmarks.rows import chosen, emit, sample
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.short_term.config import ShortTermConfig

_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    files = parser.add_mutually_exclusive_group(required=True)
    files.add_argument("--days", type=Path, nargs="+", metavar="FILE", help="scenarios (.yaml, .gz)")
    files.add_argument("--list-home", metavar="HOME", help="print a home's rooms, and what stands where, for a writer")
    parser.add_argument("--scenes", type=Path, metavar="FILE", help="scenes.json.gz, for homes that are floor plans")
    parser.add_argument("--check", action="store_true", help="only check the files")
    parser.add_argument(
        "--planner",
        choices=NAMES,
        default=OFFLINE,
        help="who plans; to prove days: scripted remembers everything, idle does nothing",
    )
    parser.add_argument("--goals", action="store_true", help="give instructions as typed goals, where there are any")
    parser.add_argument(
        "--without",
        choices=(*MEMORIES, KARMA, EACH),
        metavar="MEMORY",
        help=f"with a memory off: {', '.join((*MEMORIES, KARMA))}; each: everything, then each of them off",
    )
    parser.add_argument(
        "--policy", nargs="+", choices=POLICIES, help="sweep over replacement policies of the short-term memory"
    )
    parser.add_argument("--capacity", nargs="+", type=int, metavar="N", help="sweep over its capacity (things)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="a sample of N scenarios (default: all)")
    parser.add_argument("--only", nargs="+", default=(), metavar="ID", help="these scenarios")
    parser.add_argument(
        "--shuffled",
        action="store_true",
        help="rows in which one memory holds what it held in the next scenario of the category, for each memory",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw success by setting and category")
    parser.add_argument("--each-scenario", action="store_true", help="a row for each scenario, too")
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    homes = LifeHomes(args.scenes, args.seed)
    if args.list_home:
        print("\n".join(listed(homes.home(args.list_home))))
        return 0
    days: Sequence[Day]
    days, faults = read_days(args.days)
    crowded = check_days(days, homes, faults)
    if args.check:
        for text in crowded:
            print(text, file=sys.stderr)
        print(f"{len(days)} scenarios are sound", file=sys.stderr)
        return 0
    days = chosen(days, args.only, lambda day: day.scenario.id)
    runs = _played(sample(days, args.limit, args.seed), homes, args)
    for text in runs.told():
        print(text, file=sys.stderr)
    if args.each_scenario:
        emit(runs.scenario_rows, args.json)
    emit(runs.rows, args.json)
    if not args.json and not (args.policy or args.capacity):
        print_matrix(runs.rows)
    if args.plot and runs.rows:
        draw = draw_sweep if args.policy or args.capacity else draw_matrix
        draw(runs.rows, args.plot)
        print(args.plot, file=sys.stderr)
    return _INTERRUPTED if runs.interrupted else runs.status


def _played(days: Sequence[Day], homes: LifeHomes, args: argparse.Namespace) -> Runs:
    embedder = CachingEmbedder(MiniLmEmbedder())
    players = Players(args, embedder)
    with tempfile.TemporaryDirectory(prefix="life") as folder:
        lives = Lives(homes, embedder, Path(folder))

        def shuffled_player(life: RobotLife, day: Day) -> Player:
            return players.player(args.planner, life, day, 0)

        shuffling = Shuffling(days, lives, shuffled_player, args.goals)

        def play(setting: Setting, day: Day, seed: int) -> DayReport:
            if setting.shuffled:
                return shuffling.play(day, setting.shuffled)
            run_of = players.run(setting.planner, day, seed, args.goals)
            return lives.play(day, setting.without, run_of, setting.cache)

        return play_all(days, settings_of(args), play)


def settings_of(args: argparse.Namespace) -> list[Setting]:
    """Return the settings that the options ask for, in the order of their rows."""
    if args.policy or args.capacity:
        return _sweep(args)
    without = ("", *MEMORIES, KARMA) if args.without == EACH else (args.without or "",)
    settings = [Setting(args.planner, one, seeds=seeds_of(args.planner)) for one in without]
    settings += [Setting(args.planner, shuffled=one) for one in MEMORIES if args.shuffled]
    # Whatever a model comes to, chance stands beside it.
    return settings + [Setting(one, seeds=seeds_of(one)) for one in BY_CHANCE if args.planner == LLM]


def _sweep(args: argparse.Namespace) -> list[Setting]:
    """Return the settings of a sweep: first one that forgets what can be moved, for comparison."""
    if args.without or args.shuffled:
        raise InvalidValueError("--policy and --capacity: nothing else is switched off or shuffled in a sweep")
    shipped = ShortTermConfig()
    policies, capacities = args.policy or [shipped.policy], args.capacity or [shipped.capacity]
    caches = [CacheSetting(policy, capacity) for policy in policies for capacity in capacities]
    return [
        Setting(args.planner, KARMA, cache=caches[-1]),
        *(Setting(args.planner, cache=cache) for cache in caches),
    ]


@dataclass
class Runs:
    """What was played. reports: by setting; interrupted: not all of it was played."""

    reports: dict[Setting, list[DayReport]] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows by setting and category."""
        rows = [row for setting, reports in self.reports.items() for row in rows_of(setting, reports)]
        return with_reduced_exploration(rows)

    @property
    def scenario_rows(self) -> list[dict[str, Any]]:
        """A row for each scenario that was played."""
        return [scenario_row(setting, one) for setting, reports in self.reports.items() for one in reports]

    def told(self) -> Iterator[str]:
        """Yield what went wrong with scenarios, each text once."""
        texts = dict.fromkeys(one.trouble.rstrip() for reports in self.reports.values() for one in reports)
        yield from filter(None, texts)

    @property
    def status(self) -> int:
        """The exit status: 1 where a scenario is broken."""
        return int(any(one.broken for reports in self.reports.values() for one in reports))


def play_all(days: Sequence[Day], settings: Sequence[Setting], play: Callable[[Setting, Day, int], DayReport]) -> Runs:
    """Return what came of all scenarios under all settings; Ctrl-C ends it early. play: gets a seed's number, too."""
    runs = Runs()
    try:
        with progress_bar() as bar:
            for setting in settings:
                reports = runs.reports.setdefault(setting, [])
                plays = [(seed, day) for seed in range(setting.seeds) for day in days]
                task = bar.add_task(setting.name, total=len(plays))
                for number, (seed, day) in enumerate(plays, 1):
                    reports.append(play(setting, day, seed))
                    bar.advance(task)
                    if bar.disable:
                        _tell(setting, number, len(plays), reports[-1])
    except KeyboardInterrupt:
        runs.interrupted = True
        runs.reports = {setting: reports for setting, reports in runs.reports.items() if reports}
    return runs


def _tell(setting: Setting, number: int, count: int, report: DayReport) -> None:
    """Say how far it is where no progress bar can be shown."""
    said = "broken" if report.broken else "crash" if report.crash else "right" if report.right else "wrong"
    print(f"{setting.name}: {number}/{count} {report.id}: {said}", file=sys.stderr, flush=True)
