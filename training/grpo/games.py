"""Rollouts in text games: the compiler that learns advises, the frozen executor plays, winning is the reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.alfworld.aid import OpenAid
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.policy import PolicyPlayer
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.scene_graph.place_habits import PlaceCensus
from training.grpo.rollouts import STEP_S, Decisions, Models, Rollout, drawing_compiler


@dataclass(frozen=True)
class GameRollouts:
    """A `Play` over games. aid_of: opens the aid of a compiler. max_steps: commands in a game, 15 in the paper."""

    models: Models
    games: Sequence[Game]
    learnt: PlaceCensus
    aid_of: Callable[[Compiler], OpenAid]
    engine_of: Callable[[Game], GameEngine]
    temperature: float = 1.2
    max_steps: int = 15
    config: CompilerModelConfig = field(default_factory=lambda: CompilerModelConfig(timeout_s=STEP_S))

    def __call__(self, task: int, number: int, seed: int) -> Rollout:
        """Play one game with replies and latent tokens that are drawn."""
        decisions = Decisions()
        won = self._play(self.games[task], self.temperature, seed, decisions).won
        return Rollout(tuple(decisions.made), float(won))

    def greedy(self, game: Game) -> PlayedGame:
        """Play one game with the likeliest replies."""
        return self._play(game, 0.0, 0, Decisions())

    def _play(self, game: Game, temperature: float, seed: int, decisions: Decisions) -> PlayedGame:
        aid_of = self.aid_of(drawing_compiler(self.models, self.config, temperature, seed, decisions))
        player = PolicyPlayer(self.models.executor(), self.max_steps, STEP_S, aid_of, self.engine_of)
        return player.play(game, self.learnt)
