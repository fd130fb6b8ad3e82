"""Rollouts in text games: the compiler that learns advises, the frozen executor plays, winning is the reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from benchmarks.alfworld.aid import OpenAid
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.policy import PolicyPlayer
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.context.prompt_compiler import PromptCompiler
from memory_node.scene_graph.place_habits import PlaceCensus
from training.grpo.rollouts import LatentChooser, Rollout, SampledCompiler, Speller
from training.softmem.soft_pair import SoftPair

# A step of a model by torch, on whatever machine; rollouts are not for robots.
_STEP_S = 600.0


@dataclass(frozen=True)
class GameRollouts:
    """A `Play` over games. aid_of: opens the aid of a compiler. max_steps: commands in a game, 15 in the paper."""

    pair: SoftPair
    speller: Speller
    games: Sequence[Game]
    learnt: PlaceCensus
    aid_of: Callable[[Compiler], OpenAid]
    engine_of: Callable[[Game], GameEngine]
    temperature: float = 1.2
    max_steps: int = 15
    config: CompilerModelConfig = field(default_factory=lambda: CompilerModelConfig(timeout_s=_STEP_S))

    def __call__(self, task: int, number: int, generator: torch.Generator) -> Rollout:
        """Play one game with replies that are drawn."""
        compiler = SampledCompiler(self.pair, self.speller, self.temperature, generator, self.config.max_reply_tokens)
        won = self.play(self.games[task], compiler).won
        return Rollout(tuple(compiler.decisions), float(won))

    def greedy(self, game: Game, with_latent: bool = True) -> PlayedGame:
        """Play one game with the likeliest replies."""
        draws = torch.Generator("cpu").manual_seed(0)
        compiler = SampledCompiler(self.pair, self.speller, 0.0, draws, self.config.max_reply_tokens)
        return self.play(game, compiler, with_latent)

    def play(self, game: Game, compiler: SampledCompiler, with_latent: bool = True) -> PlayedGame:
        """Play one game with what a compiler writes."""
        aid_of = self.aid_of(PromptCompiler(compiler, self.config))
        chooser = LatentChooser(self.pair, self.speller, compiler, with_latent)
        player = PolicyPlayer(chooser, self.max_steps, _STEP_S, aid_of, self.engine_of)
        return player.play(game, self.learnt)
