"""Who plays: the shipped planners, chance, and the players by which days are proven."""

from __future__ import annotations

import argparse

from benchmarks.life.chance import SEEDS, ChancePlayer, valued_chance
from benchmarks.life.day_file import Day
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.scripted_player import IdlePlayer, ScriptedPlayer
from benchmarks.model_figures import llm_config
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.embedded_model import as_embedded_model_plans
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import LlmConfig, PlannerConfig

OFFLINE, LLM, CHANCE, VALUED = "offline", "llm", "chance", "chance-valued"
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
        self._opened: dict[str, Planner] = {}

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
        if name == VALUED:
            offline = self._planner(OFFLINE, day, seed)
            assert isinstance(offline, OfflinePlanner)
            generator = f"{self._args.seed * SEEDS + seed} {day.scenario.id}"
            return valued_chance(offline, as_embedded_model_plans(LlmConfig()), generator)
        if name not in self._opened:
            settings = PlannerConfig(llm=llm_config(self._args))
            self._opened[name] = open_planner(name, self._embedder, settings, fallback=self._args.fallback)
        return self._opened[name]
