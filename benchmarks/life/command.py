"""`memory-node bench life`: days in a simulated home on which each memory must count."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import Day, read_days
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.home import LifeHomes
from benchmarks.life.life_rows import Setting, rows_of, scenario_row
from benchmarks.life.lives import Lives
from benchmarks.life.player import RobotPlayer
from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.planner.open_planner import open_planner
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--days", type=Path, nargs="+", required=True, metavar="FILE", help="scenarios (.yaml, .gz)")
    parser.add_argument("--scenes", type=Path, metavar="FILE", help="scenes.json.gz of the floor plans")
    parser.add_argument("--check", action="store_true", help="only say whether the files are sound")
    parser.add_argument("--planner", choices=("offline",), default="offline")
    parser.add_argument("--goals", action="store_true", help="give instructions as typed goals, where there are any")
    parser.add_argument("--limit", type=int, default=0, help="a sample of so many scenarios (default: all)")
    parser.add_argument("--each-scenario", action="store_true", help="a row for each scenario, too")


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    days: Sequence[Day] = read_days(args.days)
    homes = LifeHomes(args.scenes, args.seed)
    check_days(days, homes)
    if args.check:
        print(f"{len(days)} scenarios are sound", file=sys.stderr)
        return 0
    days = sample(days, args.limit, args.seed)
    embedder = CachingEmbedder(MiniLmEmbedder())
    setting = Setting(args.planner)
    planner = open_planner(args.planner, embedder)
    reports: list[DayReport] = []
    with tempfile.TemporaryDirectory() as folder, progress_bar() as bar:
        lives = Lives(homes, embedder, Path(folder))
        task = bar.add_task("everything", total=len(days))
        for day in days:
            life, own = lives.begin(day.scenario)
            try:
                reports.append(DayRun(day, life, RobotPlayer(life, planner), args.goals, own).play())
            finally:
                life.close()
            bar.advance(task)
    if args.each_scenario:
        emit([scenario_row(setting, report) for report in reports], args.json)
    emit(list(rows_of(setting, reports)), args.json)
    return tell_broken(reports)


def sample(days: Sequence[Day], limit: int, seed: int) -> Sequence[Day]:
    """Return some of the scenarios in order; limit 0: all."""
    if not limit or limit >= len(days):
        return days
    return [days[index] for index in sorted(random.Random(seed).sample(range(len(days)), limit))]


def tell_broken(reports: Sequence[DayReport]) -> int:
    """Tell which scenarios say nothing and which crashed; return the exit status."""
    for report in reports:
        for text in filter(None, (report.broken, report.crash and f"{report.id}:\n{report.crash}", report.failed)):
            print(text, file=sys.stderr)
    return int(any(report.broken for report in reports))
