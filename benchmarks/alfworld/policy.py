"""Language models that play with the engine's own commands: by likelihood, or with a thought before each command."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.alfworld.dialogue import SYSTEM, SYSTEM_REACT, choices, opening, turn
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.sentences import read_task
from benchmarks.alfworld.told_habits import told_habits
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.llm.chat import Message
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LlmError
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.step_chooser import StepChooser
from memory_node.scene_graph.place_habits import PlaceCensus

# Returns the command that is advised for the next step, "" for none: given what was said, and what is possible.
Advise = Callable[[Sequence[tuple[str, str]], Sequence[str]], str]
# Of the turns of a long game the model sees the first and so many of the last.
_TURNS_SHOWN = 20


@dataclass
class PolicyPlayer:
    """Plays games with a model that chooses among the admissible commands.

    timeout_s: for one choice. kinds: of the label space, for what is told of other games.
    """

    chooser: StepChooser
    kinds: ObjectCatalogue
    max_steps: int
    timeout_s: float
    engine_of: Callable[[Game], GameEngine] = PddlEngine

    def play(self, game: Game, learnt: PlaceCensus | None = None) -> PlayedGame:
        """Play one game. learnt: what other games have taught, None for nothing; all of it that concerns the task is in
        the prompt from the beginning.

        Raises:
            BrokenGameError: the file is no game.
        """
        return self.play_told(
            game, lambda text: (told_habits(learnt, self.kinds, text) if learnt is not None else "", no_advice)
        )

    def play_told(self, game: Game, brief: Callable[[str], tuple[str, Advise]]) -> PlayedGame:
        """Play one game. brief: given its first text, returns what is remembered of other games, and what gives advice
        for each step.

        Raises:
            BrokenGameError: the file is no game.
        """
        engine = self.engine_of(game)
        try:
            return self._played(game, engine, *brief(engine.text))
        finally:
            engine.close()

    def _played(self, game: Game, engine: GameEngine, experience: str, advise: Advise) -> PlayedGame:
        text, task = engine.text, read_task(engine.text)
        system = SYSTEM_REACT if self.chooser.thinks else SYSTEM
        advice = _sentence(advise((), choices(engine.commands)))
        first = opening(text, experience, advice, system)
        said: list[tuple[str, str]] = []
        turns: list[tuple[Message, Message]] = []
        account, step_ms, failure = ModelAccount(), [], ""
        while not engine.over and len(said) < self.max_steps:
            began = time.monotonic()
            shown = [message for pair in turns[-_TURNS_SHOWN:] for message in pair]
            values: Mapping[str, float] = dict.fromkeys(choices(engine.commands), 1.0)
            try:
                chosen = self.chooser.choose([*first, *shown], values, account, Deadline(self.timeout_s))
            except LlmError as error:
                failure = str(error)
                break
            step_ms.append(1000.0 * (time.monotonic() - began))
            reply = engine.send(chosen.call)
            said.append((chosen.call, reply))
            advice = "" if engine.over else _sentence(advise(said, choices(engine.commands)))
            turns.append(turn(chosen.reply, reply, advice))
        played = PlayedGame(game.name, game.task_type, task, engine.won, len(said), _searched(said))
        return replace(
            played,
            prompt_tokens=round(account.tokens_in / max(account.replies, 1)),
            step_ms=tuple(step_ms),
            failure=failure,
            trail=tuple(f"{command}: {reply}" for command, reply in said),
            text=text,
            transcript=tuple(said),
        )


def no_advice(_said: Sequence[tuple[str, str]], _commands: Sequence[str]) -> str:
    """Give no advice."""
    return ""


def _sentence(command: str) -> str:
    """Return advice as the policy was trained with it, "" for none."""
    return f"{command}." if command else ""


def _searched(said: list[tuple[str, str]]) -> int:
    """Return how many places were gone to for the first time."""
    return len({command for command, _ in said if command.startswith("go to ")})
