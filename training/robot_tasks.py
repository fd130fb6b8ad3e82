"""What rewards a policy on a robot: days of life and household tasks, carried out by the frozen offline planner."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Protocol

from benchmarks.choice import sample
from benchmarks.household_cases import load_cases
from benchmarks.household_faults import Chances, Faults
from benchmarks.household_homes import Homes
from benchmarks.household_lives import Lives as HouseholdLives
from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import read_days
from benchmarks.life.day_run import DayRun
from benchmarks.life.home import LifeHomes
from benchmarks.life.lives import Lives
from benchmarks.life.player import RobotPlayer
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.runs import play_day
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.guidance import Compiler, GuidancePort
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.log import NullLog
from memory_node.memory import RobotMemory
from memory_node.planner.open_planner import open_planner

_RECENT, _TAUGHT = "recent", "taught"


class RobotTasks(Protocol):
    """Tasks for a compiler, which may be carried out again and again."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks' names, in their order."""

    def play(self, task: int, compiler: Compiler) -> float:
        """Carry a task out with what a compiler delivers at each step; return how much of it was right, 0 to 1."""

    def close(self) -> None:
        """Throw the memories away."""


class DaysOfLife:
    """Days of `bench life`; right is the share of the judged steps that are.

    The planner forgets preparations by habit, as in `bench household --faults`: otherwise no guidance would be needed.
    """

    def __init__(self, files: list[Path], scenes: Path | None, embedder: TextEmbedder, limit: int, seed: int) -> None:
        homes = LifeHomes(scenes, seed)
        self._days = sample(read_days(files), limit, seed)
        check_days(self._days, homes)
        self._folder = tempfile.TemporaryDirectory(prefix="days")
        self._lives = Lives(homes, embedder, Path(self._folder.name))
        self._planner = open_planner("offline", embedder, fallback=False, asks=True)
        self._seed = seed

    @property
    def names(self) -> tuple[str, ...]:
        """The days' ids."""
        return tuple(day.scenario.id for day in self._days)

    def play(self, task: int, compiler: Compiler) -> float:
        """Live a day; see RobotTasks.

        Raises:
            InvalidValueError: the day is broken, or living it crashed.
        """
        day = self._days[task]
        planner, _ = Faults(seed=self._seed).careless(self._planner, Chances(self._seed, day.scenario.id))

        def run_of(life: RobotLife, folder: Path) -> DayRun:
            player = RobotPlayer(life, planner, by_list=day.scenario.category == _RECENT)
            player.compiler = compiler
            return DayRun(day, life, player, False, folder)

        report = play_day(day, self._lives, "", run_of)
        if report.broken or report.crash:
            raise InvalidValueError(f"{report.id}: {report.broken or report.crash}")
        judged = [step.verdict is not None and step.verdict.right for step in report.judged]
        return sum(judged) / max(len(judged), 1)

    def close(self) -> None:
        """Throw the memories away."""
        self._folder.cleanup()


class HouseholdTasks:
    """Tasks of `bench household --faults`; right is one that succeeds.

    learns: one robot does them all, and takes along what they taught; otherwise each robot is new, so that plays of a
    task differ by the compiler alone.
    """

    def __init__(
        self, files: tuple[Path, Path], suite: str, embedder: TextEmbedder, limit: int, seed: int, learns: bool
    ) -> None:
        scenes, tasks = files
        self._cases = load_cases(tasks, suite, limit, seed)
        self._homes = Homes(scenes, load_catalogue(), seed)
        self._embedder = embedder
        self._planner = open_planner("offline", embedder, fallback=False, asks=False)
        self._seed = seed
        self._learns = learns
        self._robot: tuple[Experience, HouseholdLives] | None = None
        self._compiler: Compiler | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The cases' ids."""
        return tuple(case.id for case in self._cases)

    def play(self, task: int, compiler: Compiler) -> float:
        """Carry a case out; see RobotTasks. Its faults are always the same."""
        self._compiler = compiler
        if self._robot is None or not self._learns:
            self.close()
            self._robot = self._new_robot()
        return float(self._robot[1].run(self._cases[task]).success)

    def close(self) -> None:
        """Throw what was learnt away."""
        if self._robot is not None:
            self._robot[0].close()

    def _new_robot(self) -> tuple[Experience, HouseholdLives]:
        experience = Experience(ExperienceConfig(), NullLog(), system_clock)
        faults = Faults(seed=self._seed)
        parts = ("full+experience", self._homes, self._embedder, self._planner, experience, faults, self._seed)
        return experience, HouseholdLives(*parts, self._guidance)

    def _guidance(self, memory: RobotMemory) -> GuidancePort:
        assert self._compiler is not None, "a compiler is named before a play"
        return memory.guidance.changed(compilers={_TAUGHT: self._compiler}).port(_TAUGHT)


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the tasks of a robot."""
    parser.add_argument("--days", type=Path, nargs="+", metavar="FILE", help="life: days, as `bench life` has them")
    parser.add_argument("--scenes", type=Path, help="household, life: scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, help="household: train tasks (.jsonl or .json, .gz)")
    parser.add_argument("--suite", default="alfred", help="household: the format of the tasks (default alfred)")


def open_tasks(args: argparse.Namespace, embedder: TextEmbedder, learns: bool = False) -> RobotTasks:
    """Open the tasks that the options name. learns: see HouseholdTasks.

    Raises:
        InvalidValueError: their files are not named.
    """
    is_life = args.on == "life"
    needed = {"--days": args.days} if is_life else {"--scenes": args.scenes, "--tasks": args.tasks}
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise InvalidValueError(f"--on {args.on} needs {' and '.join(missing)}")
    if is_life:
        return DaysOfLife(args.days, args.scenes, embedder, args.limit, args.seed)
    return HouseholdTasks((args.scenes, args.tasks), args.suite, embedder, args.limit, args.seed, learns)
