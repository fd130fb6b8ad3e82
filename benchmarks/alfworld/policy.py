"""Language models that play with the engine's own commands: by likelihood, or with a thought before each command."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchmarks.alfworld.aid import Aid, OpenAid, without_games
from benchmarks.alfworld.dialogue import SYSTEM, SYSTEM_REACT, choices, opening, turn, with_memory
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.sentences import read_task
from benchmarks.ranking.choosing import StepChooser
from memory_node.llm.chat import Deadline, LlmError, Message
from memory_node.llm.config import ModelConfig
from memory_node.planner.model_account import ModelAccount
from memory_node.scene_graph.place_habits import PlaceCensus

ADAPTER = Path(__file__).parent / "weights" / "executor.gguf"

Config = TypeVar("Config", bound=ModelConfig)


def takes_shipped_weights(config: ModelConfig) -> bool:
    """Return whether a configuration asks for the embedded model and names no adapter."""
    return not (config.base_url or config.model_path or config.adapter_path)


def with_shipped_adapter(config: Config) -> Config:
    """Return a configuration with the shipped executor, where it takes shipped weights."""
    return config.changed(adapter_path=str(ADAPTER)) if takes_shipped_weights(config) else config


T = TypeVar("T")

# Turns of a long game that are dropped at once: after each change of the beginning the model reads everything anew.
_TURNS_LEFT_OUT = 10


@dataclass
class PolicyPlayer:
    """Plays games with a model that chooses among the admissible commands.

    timeout_s: for one choice. aid_of: opens what memory does for a game.
    """

    chooser: StepChooser
    max_steps: int
    timeout_s: float
    aid_of: OpenAid = without_games
    engine_of: Callable[[Game], GameEngine] = PddlEngine

    def play(self, game: Game, learnt: PlaceCensus | None = None) -> PlayedGame:
        """Play one game. learnt: what other games have taught, None for nothing.

        Raises:
            BrokenGameError: the file is no game.
        """
        return self.play_with(game, lambda engine: self.aid_of(engine, learnt, game.name))

    def play_with(self, game: Game, aid_of: Callable[[GameEngine], Aid]) -> PlayedGame:
        """Play one game with an aid of its own.

        Raises:
            BrokenGameError: the file is no game.
        """
        with closing(self.engine_of(game)) as engine, closing(aid_of(engine)) as aid:
            return self._played(game, engine, aid)

    def _played(self, game: Game, engine: GameEngine, aid: Aid) -> PlayedGame:
        text, task = engine.text, read_task(engine.text)
        first = opening(text, aid.experience, system=SYSTEM_REACT if self.chooser.thinks else SYSTEM)
        said: list[tuple[str, str]] = []
        turns: list[tuple[Message, Message]] = []
        account, step_ms, failure = ModelAccount(), [], ""
        while not engine.over and len(said) < self.max_steps:
            told = aid.tell()
            began = time.monotonic()
            shown = [message for pair in last_turns(turns, told.turns) for message in pair]
            dialogue = with_memory([*first, *shown], told.state, told.advice, told.latent)
            values: Mapping[str, float] = dict.fromkeys(choices(engine.commands), 1.0)
            try:
                chosen = self.chooser.choose(dialogue, values, account, Deadline(self.timeout_s))
            except LlmError as error:
                failure = str(error)
                break
            step_ms.append(1000.0 * (time.monotonic() - began))
            reply = aid.send(chosen.call)
            said.append((chosen.call, reply))
            turns.append(turn(chosen.reply, reply, task))
        played = PlayedGame(game.name, game.task_type, task, engine.won, len(said), _searched(said))
        return replace(
            played,
            prompt_tokens=round(account.tokens_in / max(account.replies, 1)),
            reply_tokens=account.tokens_out / max(account.replies, 1),
            compiling=aid.account,
            step_ms=tuple(step_ms),
            failure=failure,
            trail=tuple(f"{command}: {reply}" for command, reply in said),
            text=text,
            transcript=tuple(said),
        )


def last_turns(turns: Sequence[T], most: int) -> Sequence[T]:
    """Return the turns of a game that a model sees."""
    block = _TURNS_LEFT_OUT if most > _TURNS_LEFT_OUT else 1
    beyond = len(turns) - most
    return turns[block * -(-beyond // block) :] if beyond > 0 else turns


def _searched(said: list[tuple[str, str]]) -> int:
    """Return how many places were gone to for the first time."""
    return len({command for command, _ in said if command.startswith("go to ")})
