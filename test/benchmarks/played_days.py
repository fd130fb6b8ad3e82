"""Plays scenarios of a test: one embedder and one patrol for all that share a home."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import Day, read_days
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.home import LifeHomes
from benchmarks.life.lives import Lives
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from memory_node.domain.skill import SkillCall
from memory_node.planner.executor import InstructionResult
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import PlanOutcome
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder


class PlayedDays:
    """Reads scenarios from text and plays them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self.homes = LifeHomes(None, 0)
        self.embedder = CachingEmbedder(MiniLmEmbedder())
        self.lives = Lives(self.homes, self.embedder, folder)
        self.planner = open_planner("offline", self.embedder)

    def read(self, text: str) -> tuple[Day, ...]:
        """Return checked scenarios."""
        self._count += 1
        path = self._folder / f"days{self._count}.yaml"
        path.write_text(textwrap.dedent(text))
        days, faults = read_days([path])
        self.crowded = check_days(days, self.homes, faults)
        return days

    def play(
        self,
        events: str,
        home: str = "studio",
        options: str = "",
        player: Callable[[RobotLife], Player] | None = None,
        goals: bool = False,
        without: str = "",
        category: str = "state",
    ) -> DayReport:
        """Return what came of one scenario; events: as YAML."""
        body = textwrap.indent(textwrap.dedent(events), "    ")
        head = textwrap.indent(textwrap.dedent(options).strip(), "  ")
        self._count += 1
        text = f"- id: day{self._count}\n  category: {category}\n  home: {home}\n{head}\n  events:\n{body}"
        (day,) = self.read(text)
        return self.play_day(day, player, goals, without)

    def play_day(
        self,
        day: Day,
        player: Callable[[RobotLife], Player] | None = None,
        goals: bool = False,
        without: str = "",
    ) -> DayReport:
        """Return what came of one checked scenario; player: None for the offline planner."""
        life, folder = self.lives.begin(day.scenario, without)
        try:
            made = player(life) if player is not None else RobotPlayer(life, self.planner)
            return DayRun(day, life, made, goals, folder).play()
        finally:
            life.close()


class CallingPlayer:
    """Makes given calls, step by step, and says given words.

    steps: for each the calls as text ("OpenObject fridge"); said, asked: for all steps.
    """

    def __init__(
        self, life: RobotLife, steps: Sequence[Sequence[str]], said: str = "", asked: bool = False, done: bool = True
    ) -> None:
        self.life = life
        self._steps = iter(steps)
        self._outcome = PlanOutcome(
            ("x",),
            (done,),
            question=said if asked else "",
            answer="" if asked else said,
            failures=() if done else (said,),
        )
        self.restarts = 0

    def execute(self, words: str, goals: object, note: object, limit: int | None) -> InstructionResult:
        """Make the calls of the next step."""
        for text in next(self._steps, ()):
            skill, *things = text.split()
            result = self.life.execute(SkillCall(skill, tuple(things)))
            self.life.remember(result.changes)
        return InstructionResult(words, self._outcome, (), ())

    def restart(self) -> None:
        """Count."""
        self.restarts += 1
