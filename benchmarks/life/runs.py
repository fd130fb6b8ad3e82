"""Plays all scenarios under one setting after the other, and keeps what it has when it is interrupted."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.life.day_file import Day
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.life_rows import Setting, rows_of, scenario_row, with_reduced_exploration
from benchmarks.life.lives import Lives
from benchmarks.life.placing import NoRoomError
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.sweep import CacheSetting
from memory_node.app.progress import progress_bar

MakeRun = Callable[[RobotLife, Path], DayRun]


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
        found = (one for reports in self.reports.values() for one in reports)
        texts = (
            text for one in found for text in (one.broken, one.crash and f"{one.id} crashed:\n{one.crash}") if text
        )
        yield from dict.fromkeys(texts)

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


def play_day(day: Day, lives: Lives, without: str, make_run: MakeRun, cache: CacheSetting | None = None) -> DayReport:
    """Return what came of one scenario; whatever raises on the way is in the report."""
    report = DayReport(day.scenario.id, day.scenario.category)
    try:
        life, folder = lives.begin(day.scenario, without, cache)
    except NoRoomError as error:
        report.broken = day.fault((), str(error))
        return report
    except Exception:
        report.crash = traceback.format_exc()
        return report
    try:
        return make_run(life, folder).play()
    finally:
        life.close()
