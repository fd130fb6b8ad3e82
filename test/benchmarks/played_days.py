"""Plays scenarios of a test: one embedder and one patrol for all that share a home."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import Day, read_days
from benchmarks.life.day_run import DayReport, DayRun
from benchmarks.life.home import LifeHomes
from benchmarks.life.lives import Lives
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from memory_node.planner.open_planner import open_planner
from memory_node.search.caching_embedder import CachingEmbedder
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
        days = read_days([path])
        check_days(days, self.homes)
        return days

    def play(
        self,
        events: str,
        home: str = "studio",
        options: str = "",
        player: Callable[[RobotLife], Player] | None = None,
        goals: bool = False,
    ) -> DayReport:
        """Return what came of one scenario; events: as YAML, indented by nothing."""
        body = textwrap.indent(textwrap.dedent(events), "    ")
        head = textwrap.indent(textwrap.dedent(options).strip(), "  ")
        self._count += 1
        text = f"- id: day{self._count}\n  category: state\n  home: {home}\n{head}\n  events:\n{body}"
        (day,) = self.read(text)
        life, folder = self.lives.begin(day.scenario)
        try:
            made = player(life) if player is not None else RobotPlayer(life, self.planner)
            return DayRun(day, life, made, goals, folder).play()
        finally:
            life.close()
