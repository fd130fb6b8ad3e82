"""Games played with what a bank of memories tells: by the trained policy, or by a novice that knows nothing itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.alfworld.aid import Advise, Advised
from benchmarks.alfworld.dialogue import choices
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.policy import PolicyPlayer
from benchmarks.alfworld.sentences import read_task
from benchmarks.stream.note_reader import NoteReader
from memory_node.domain.context import estimate_tokens
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.method import read_method


@dataclass(frozen=True)
class ToldGame:
    """A game that was played, the ids of the entries that it was shown, and their tokens."""

    played: PlayedGame
    shown: tuple[str, ...] = ()
    tokens: int = 0


@dataclass
class Novice:
    """Chooses at random among what it has tried least often; a command that memory asks for comes first. No model, no
    knowledge: what it achieves beyond chance is what memory told it."""

    seed: int
    max_steps: int
    engine_of: Callable[[Game], GameEngine] = PddlEngine

    def play(self, game: Game, brief: Callable[[str], tuple[str, Advise]]) -> PlayedGame:
        """Play one game. brief: given the first text, returns what memory says in words and what it asks for."""
        engine = self.engine_of(game)
        try:
            text = engine.text
            _, advise = brief(text)
            # The same chances with and without memory.
            chance = random.Random(f"{self.seed} {game.name}")
            said: list[tuple[str, str]] = []
            while not engine.over and len(said) < self.max_steps:
                able = choices(engine.commands)
                command = advise(said, able) or self._tried_least(said, able, chance)
                if not command:
                    break
                said.append((command, engine.send(command)))
            return PlayedGame(
                game.name,
                game.task_type,
                read_task(text),
                engine.won,
                len(said),
                text=text,
                transcript=tuple(said),
            )
        finally:
            engine.close()

    def _tried_least(self, said: Sequence[tuple[str, str]], able: Sequence[str], chance: random.Random) -> str:
        tried = [command for command, _ in said]
        drawn = [(tried.count(command), chance.random(), command) for command in able]
        return min(drawn)[2] if drawn else ""


@dataclass
class Policy:
    """The trained executor; see alfworld.policy. Memory is the advice before each step, as it was trained; what is no
    note stands in the prompt's slot for experience."""

    player: PolicyPlayer

    def play(self, game: Game, brief: Callable[[str], tuple[str, Advise]]) -> PlayedGame:
        """Play one game; see Novice.play."""
        return self.player.play_with(game, lambda engine: Advised(engine, *brief(engine.text)))


class ToldPlayer:
    """Plays a game with entries of a bank."""

    def __init__(self, executor: Novice | Policy) -> None:
        self._executor = executor

    def play(self, game: Game, shown: Sequence[Lesson]) -> ToldGame:
        """Play one game. shown: the entries that are told, the nearest first.

        Raises:
            BrokenGameError: the file is no game.
        """

        def brief(text: str) -> tuple[str, Advise]:
            in_words = " ".join(entry.text for entry in shown if read_method(entry.text) is None)
            return in_words, NoteReader(read_task(text), text, shown).command

        return told_game(self._executor.play(game, brief), shown)


def told_game(played: PlayedGame, shown: Sequence[Lesson]) -> ToldGame:
    """Return a game that was played with these entries."""
    return ToldGame(played, tuple(entry.id for entry in shown), sum(estimate_tokens(entry.text) for entry in shown))
