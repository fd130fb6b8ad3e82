"""Who plays: the shipped planners, chance, and the players by which days are proven."""

from __future__ import annotations

import argparse

from benchmarks.life.chance import SEEDS, ChancePlayer
from benchmarks.life.day_file import Day
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.scripted_player import IdlePlayer, ScriptedPlayer
from benchmarks.model_figures import llm_config
from benchmarks.ranking.ranked_planner import VALUED, open_bench_planner
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import PlannerConfig

OFFLINE, LLM, CHANCE = "offline", "llm", "chance"
# By these days are proven.
SCRIPTED, IDLE = "scripted", "idle"
NAMES = (OFFLINE, LLM, CHANCE, VALUED, SCRIPTED, IDLE)
_BY_CHANCE = (CHANCE, VALUED)
# In these days a planner knows things only by the list that memory writes.
_BY_LIST = "recent"


def seeds_of(planner: str) -> int:
    """Return how often a planner plays each scenario."""
    return SEEDS if planner in _BY_CHANCE else 1


class Players:
    """Makes the player of each scenario; what all share, such as a model, is opened once."""

    def __init__(self, args: argparse.Namespace, embedder: TextEmbedder) -> None:
        self._args = args
        self._embedder = embedder
        self._opened: dict[tuple[str, str], Planner] = {}

    def player(self, planner: str, life: RobotLife, day: Day, seed: int) -> Player:
        """Return who acts for the robot in a scenario."""
        if planner == IDLE:
            return IdlePlayer()
        if planner == CHANCE:
            return ChancePlayer(life, day, self._args.seed * SEEDS + seed)
        if planner == SCRIPTED:
            return ScriptedPlayer(life, day, self._robot(OFFLINE, life, day, seed))
        return self._robot(planner, life, day, seed)

    def _robot(self, planner: str, life: RobotLife, day: Day, seed: int) -> RobotPlayer:
        made = self._planner(planner, day, seed)
        return RobotPlayer(life, made, by_list=day.scenario.category == _BY_LIST)

    def _planner(self, name: str, day: Day, seed: int) -> Planner:
        # Chance draws anew in each scenario.
        drawn = f"{self._args.seed * SEEDS + seed} {day.scenario.id}" if name == VALUED else ""
        if (name, drawn) not in self._opened:
            settings = PlannerConfig(llm=llm_config(self._args))
            self._opened[name, drawn] = open_bench_planner(
                name, self._args.mode, self._embedder, settings, self._args.fallback, seed=drawn
            )
        return self._opened[name, drawn]
