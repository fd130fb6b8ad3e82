"""Makes the robot of each scenario: what a patrol has shown is found out once for all scenarios that share it."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

from benchmarks.life.day_form import Scenario
from benchmarks.life.home import LifeHomes
from benchmarks.life.patrol import patrol, take_in_map
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.sweep import CacheSetting
from benchmarks.life.switches import KARMA, SCENE
from memory_node.domain.ports import TextEmbedder


class Lives:
    """folder: for the memories; what is in it is thrown away when the benchmark ends."""

    def __init__(self, homes: LifeHomes, embedder: TextEmbedder, folder: Path) -> None:
        self._homes = homes
        self._embedder = embedder
        self._folder = folder
        self._patrolled: dict[tuple[object, ...], Path] = {}
        self._count = 0

    def begin(self, scenario: Scenario, without: str = "", cache: CacheSetting | None = None) -> tuple[RobotLife, Path]:
        """Return a robot that knows what a scenario says it knows, at 08:00, and a folder of its own.

        without: the memory that is off; cache: see RobotLife.

        Raises:
            InvalidValueError, NoRoomError: see LifeHomes.world.
        """
        # A closed memory is a cycle of few objects with large arrays: left to itself, the collector comes too rarely.
        gc.collect()
        self._count += 1
        folder = self._folder / f"day{self._count}"
        shutil.copytree(self._after_patrol(scenario, without), folder)
        world = self._homes.world(scenario)
        return RobotLife(world, folder, self._embedder, cache, without), folder

    def _after_patrol(self, scenario: Scenario, without: str) -> Path:
        extra, people = tuple(scenario.extra.items()), tuple(scenario.people.items())
        # What a patrol shows stays in the scene graph alone: without that there is nothing to show.
        known = "nothing" if without == SCENE else scenario.known
        key = (scenario.home, known, extra, people, without == KARMA)
        if key not in self._patrolled:
            folder = self._folder / f"patrol{len(self._patrolled)}"
            folder.mkdir()
            life = RobotLife(self._homes.world(scenario), folder, self._embedder, without=without)
            try:
                take_in_map(life)
                if known != "nothing":
                    patrol(life, None if known == "all" else known)
            finally:
                life.close()
            self._patrolled[key] = folder
        return self._patrolled[key]
