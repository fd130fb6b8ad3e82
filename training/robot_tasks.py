"""What rewards a policy on a robot: days of life and household tasks, carried out by the frozen offline planner."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from benchmarks.household_cases import load_cases
from benchmarks.household_faults import Chances, Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives as HouseholdLives
from benchmarks.household_life import guided_by_rules
from benchmarks.life.day_file import Day
from benchmarks.life.day_form import Answer, Ask, Do, GoalForm
from benchmarks.life.day_run import DayRun
from benchmarks.life.lives import opened_days
from benchmarks.life.player import RobotPlayer
from benchmarks.life.robot_life import RobotLife
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.guidance import Compiler, GuidancePort
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog, Lesson
from memory_node.lessons.optimizer.attempt import Attempt, attempt_of
from memory_node.memory import RobotMemory
from memory_node.planner.executor import InstructionResult
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import PlanProgress

_RECENT = "recent"
_LESSON_S = 60.0


@dataclass(frozen=True)
class Played:
    """How a task went. right: how much of it was, 0 to 1; calls: skills that were tried. attempt: its last episode."""

    right: float
    calls: int
    attempt: Attempt | None


class RobotTasks(Protocol):
    """Tasks for a policy, which may be carried out again and again."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks' names, in their order."""

    @property
    def texts(self) -> tuple[str, ...]:
        """What the tasks ask for; of a day its last judged step."""

    def play(self, task: int, compiler: Compiler | None = None, lessons: Sequence[Lesson] = ()) -> Played:
        """Carry a task out. compiler: what says something at each step, None for the rules. lessons: that the robot
        knows besides its own."""

    def close(self) -> None:
        """Throw the memories away."""


class _RememberedPlayer(RobotPlayer):
    """Keeps its last episode."""

    attempt: Attempt | None = None

    def execute(
        self, words: str, goals: Sequence[GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Carry out an instruction; see Player."""
        memory = self._life.memory
        result = super().execute(words, goals, note, limit)
        for episode in memory.past.episodes(1):
            self.attempt = attempt_of(episode, memory.past.episode(episode.id).steps)
        return result


class DaysOfLife:
    """Days of `bench life`; right is the share of the judged steps that are.

    The planner forgets preparations by habit, as in `bench household --faults`: otherwise no guidance would be needed.
    """

    def __init__(self, files: list[Path], scenes: Path | None, embedder: TextEmbedder, limit: int, seed: int) -> None:
        self._opened = ExitStack()
        self._days, self._lives = self._opened.enter_context(opened_days(files, scenes, embedder, limit, seed))
        self._planner = open_planner("offline", embedder, fallback=False, asks=True)
        self._seed = seed

    @property
    def names(self) -> tuple[str, ...]:
        """The days' ids."""
        return tuple(day.scenario.id for day in self._days)

    @property
    def texts(self) -> tuple[str, ...]:
        """The words of each day's last judged step."""
        return tuple(_judged(day)[-1].words for day in self._days)

    def play(self, task: int, compiler: Compiler | None = None, lessons: Sequence[Lesson] = ()) -> Played:
        """Live a day; see RobotTasks.

        Raises:
            InvalidValueError: the day is broken, or living it crashed.
        """
        day = self._days[task]
        planner, _ = Faults(seed=self._seed).careless(self._planner, Chances(self._seed, day.scenario.id))

        players: list[_RememberedPlayer] = []

        def run_of(life: RobotLife, folder: Path) -> DayRun:
            player = _RememberedPlayer(life, planner, by_list=day.scenario.category == _RECENT)
            player.lessons = lessons
            if compiler is not None:
                player.guided = partial(replace, compiler=compiler)
            players.append(player)
            return DayRun(day, life, player, False, folder)

        report = self._lives.play(day, "", run_of)
        if report.broken or report.crash:
            raise InvalidValueError(f"{report.id}: {report.broken or report.crash}")
        calls = sum(len(step.calls) for step in report.steps)
        return Played(report.right_steps / max(len(report.judged), 1), calls, players[-1].attempt)

    def close(self) -> None:
        """Throw the memories away."""
        self._opened.close()


def _judged(day: Day) -> list[Do | Ask | Answer]:
    return [one for one in day.scenario.events if isinstance(one, Do | Ask | Answer) and one.want is not None]


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
        self._ended: list[tuple[EpisodeSummary, Sequence[StepRecord]]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The cases' ids."""
        return tuple(case.id for case in self._cases)

    @property
    def texts(self) -> tuple[str, ...]:
        """The cases' instructions."""
        return tuple(case.instruction for case in self._cases)

    def play(self, task: int, compiler: Compiler | None = None, lessons: Sequence[Lesson] = ()) -> Played:
        """Carry a case out; see RobotTasks. Its faults are always the same."""
        self._compiler = compiler
        if self._robot is None or not self._learns:
            self.close()
            self._robot = self._new_robot()
        experience, lives = self._robot
        experience.take_over((), [lesson.to_dict() for lesson in lessons], ())
        self._ended.clear()
        trial = lives.run(self._cases[task])
        experience.wait_settled(_LESSON_S)
        attempt = attempt_of(*self._ended[-1]) if self._ended else None
        return Played(float(trial.success), trial.result.skills, attempt)

    def close(self) -> None:
        """Throw what was learnt away."""
        if self._robot is not None:
            self._robot[0].close()

    def _new_robot(self) -> tuple[Experience, HouseholdLives]:
        def ended(summary: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
            self._ended.append((summary, steps))

        experience = Experience(
            ExperienceConfig(), ExperienceLog(), system_clock, on_ended=ended, embedder=self._embedder
        )
        faults = Faults(seed=self._seed)
        parts = ("full+experience", self._homes, self._embedder, self._planner, experience, faults, self._seed)
        return experience, HouseholdLives(*parts, self._guidance)

    def _guidance(self, memory: RobotMemory) -> GuidancePort:
        if self._compiler is None:
            return guided_by_rules(memory)
        return replace(memory.guidance, compiler=self._compiler)


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
