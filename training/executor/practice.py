"""Practice games: an expert plays, and some of its commands are replaced by wrong ones. A policy trained on perfect
games does not know how to continue after its own first mistake (Ross et al. 2011, DAgger; noise in the expert's
commands as in Laskey et al. 2017, DART).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import GameEngine
from benchmarks.alfworld.policy import Aid, OpenAid, choices
from benchmarks.alfworld.sentences import read_task
from benchmarks.rows import read_rows
from memory_node.scene_graph.place_habits import PlaceCensus

MAX_STEPS = 40
# Share of wrong moves that return to a visited place, because loops begin that way.
_BACK = 0.5


@dataclass(frozen=True)
class PractisedStep:
    """One command of a game. sent: the command; right: the expert's; reply: what was printed. state: the brief state
    before it."""

    sent: str
    right: str
    reply: str
    state: tuple[str, ...] = ()


@dataclass(frozen=True)
class PractisedGame:
    """A game that was won. text: what was printed at first."""

    task: str
    text: str
    steps: tuple[PractisedStep, ...]

    def to_row(self) -> dict[str, Any]:
        """Return plain values, as JSON takes them."""
        return asdict(self)

    @staticmethod
    def without_mistakes(transcript: Mapping[str, Any]) -> PractisedGame:
        """Return a transcript of `bench alfworld` as a game in which every command was right."""
        steps = (PractisedStep(command, command, reply) for command, reply in transcript["turns"])
        return PractisedGame(transcript["task"], transcript["text"], tuple(steps))

    @staticmethod
    def from_row(row: dict[str, Any]) -> PractisedGame:
        """Return what `to_row` told.

        Raises:
            KeyError, TypeError: it is no such row.
        """
        steps = (PractisedStep(**{**step, "state": tuple(step["state"])}) for step in row["steps"])
        return PractisedGame(str(row["task"]), str(row["text"]), tuple(steps))


def read_games(path: Path) -> Iterator[PractisedGame]:
    """Yield the games of a file, one JSON object a line.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no game; the message names it.
    """
    return read_rows(path, "practice game", PractisedGame.from_row)


@dataclass(frozen=True)
class Practice:
    """Plays games by an expert's advice. wrong: the share of commands that are drawn at random instead."""

    expert: OpenAid
    wrong: float
    seed: int = 0
    engine_of: Callable[[Game], GameEngine] = PddlEngine

    def play(self, game: Game, learnt: PlaceCensus) -> PractisedGame | None:
        """Return a game that was won, None where it was not. learnt: where things were in other games.

        Raises:
            BrokenGameError: the file is no game.
        """
        with (
            closing(self.engine_of(game)) as engine,
            closing(self.expert(engine, learnt, game.name)) as aid,
        ):
            return self._played(engine, aid, random.Random(f"{self.seed} {game.name}"))

    def _played(self, engine: GameEngine, aid: Aid, chance: random.Random) -> PractisedGame | None:
        text, steps = engine.text, list[PractisedStep]()
        while not engine.over and len(steps) < MAX_STEPS:
            told = aid.tell()
            right = told.advice.removesuffix(".")
            if not right:
                break
            slips = chance.random() < self.wrong
            sent = (
                wrong_command(choices(engine.commands), right, [step.sent for step in steps], chance)
                if slips
                else right
            )
            steps.append(PractisedStep(sent, right, aid.send(sent), tuple(told.state)))
        return PractisedGame(read_task(text), text, tuple(steps)) if engine.won else None


def wrong_command(commands: Sequence[str], right: str, sent: Sequence[str], chance: random.Random) -> str:
    """Return a command that is not the right one: each verb is as likely, and half of what goes somewhere goes back.

    sent: the commands so far.
    """
    by_verb: dict[str, list[str]] = {}
    for command in commands:
        if command != right:
            by_verb.setdefault(command.split(" ", 1)[0], []).append(command)
    if not by_verb:
        return right
    verb = chance.choice(sorted(by_verb))
    back = [command for command in by_verb[verb] if command in sent]
    return chance.choice(back if verb == "go" and back and chance.random() < _BACK else by_verb[verb])
