"""Language models that play with the engine's own commands, and what they are told at each step."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.play import CompilingAccount, GameEngine, PlayedGame
from benchmarks.alfworld.senses import classes_of
from benchmarks.alfworld.sentences import label_of, read_places, read_task
from benchmarks.ranking.choosing import StepChooser
from benchmarks.ranking.ranked_planner import RandomChoice
from benchmarks.rows import read_rows
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.llm.chat import Deadline, LlmError, Message
from memory_node.llm.config import ModelConfig
from memory_node.planner.planner_config import ModelAccount
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits

SYSTEM = "You are a robot in a house. You are told what you see. Answer with your next command."
SYSTEM_REACT = (
    "You are a robot in a house. You are told what you see. Answer with a line `Thought: ...` that says what to do "
    "next and why, and then a line with your next command, one of those that are possible."
)
# They change nothing, and tell nothing that was not printed before.
_IDLE = frozenset({"help", "inventory", "look"})
_ADVICE = "Advice: "
_WELCOME = "-= Welcome to TextWorld, ALFRED! =-"


def opening(text: str, experience: str = "", advice: str = "", system: str = SYSTEM) -> list[Message]:
    """Return the dialogue before the first command.

    text: a game's first text. experience: what is remembered of other games, "" for nothing. advice: for this step.
    """
    told = text.replace(_WELCOME, "").strip()
    parts = (told, f"Experience: {experience}" if experience else "", advised(advice))
    return [Message("system", system), Message("user", "\n\n".join(filter(None, parts)))]


def turn(command: str, reply: str, task: str, advice: str = "") -> tuple[Message, Message]:
    """Return what a command and its reply add to the dialogue. advice: for the next step.

    The task is repeated each time, because a small model loses track of text some hundred tokens earlier.
    """
    heard = "\n\n".join(filter(None, (reply.strip(), f"Task: {task}", advised(advice))))
    return Message("assistant", command), Message("user", heard)


def with_memory(
    dialogue: Sequence[Message], lines: Sequence[str], advice: str, latent: NDArray[np.float32] | None = None
) -> list[Message]:
    """Return a dialogue whose last message ends in what memory says of this step.

    lines: the brief state. advice: a command, in words. latent: the same as latent tokens.
    """
    *before, last = dialogue
    told = "\n\n".join(filter(None, (last.text, told_text(lines, advice))))
    return [*before, Message(last.role, told, latent=latent)]


def told_text(lines: Sequence[str], advice: str) -> str:
    """Return what memory says of a step in words. lines: the brief state. advice: a command."""
    return "\n\n".join(filter(None, ("\n".join(lines), advised(advice))))


def split_advice(dialogue: Sequence[Message]) -> tuple[list[Message], str]:
    """Return a dialogue of `with_memory` as it is where no advice is given, and the advice as it was told, "" for
    none."""
    *before, last = dialogue
    told, mark, advice = last.text.rpartition(f"\n\n{_ADVICE}")
    return [*before, Message(last.role, told or last.text)], advised(advice if mark else "")


def choices(commands: Iterable[str]) -> Sequence[str]:
    """Return the commands that a policy chooses among."""
    return tuple(command for command in dict.fromkeys(commands) if command not in _IDLE)


def advised(advice: str) -> str:
    """Return how advice is told, "" for none."""
    return f"{_ADVICE}{advice}" if advice else ""


class TranscriptFile:
    """Writes games as they end: an interrupted run keeps those that were played.

    path: None for no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("w", encoding="utf-8") if path else None

    def __enter__(self) -> TranscriptFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def add(self, game: PlayedGame) -> None:
        """Write a game that was played; a game that was lost has said nothing."""
        if self._file and not game.lost:
            row = {"task": game.task, "text": game.text, "turns": game.transcript, "won": game.won}
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()


def read_transcripts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no transcript; the message names it.
    """
    return read_rows(path, "transcript", _transcript)


def as_one_text(transcript: Mapping[str, Any]) -> str:
    """Return the task of a row, and all that was sent and printed, in order."""
    said = " ".join(f"> {command}: {' '.join(reply.split())}" for command, reply in transcript["turns"])
    return f"{transcript['task']} {said}"


def _transcript(row: Mapping[str, Any]) -> dict[str, Any]:
    turns = [(str(command), str(reply)) for command, reply in row["turns"]]
    return {"task": str(row["task"]), "text": str(row["text"]), "turns": turns, "won": bool(row["won"])}


_MOST_PLACES = 4


def told_habits(learnt: PlaceCensus, kinds: ObjectCatalogue, text: str) -> str:
    """Return sentences such as "A mug is often found at: countertop, cabinet.", "" where nothing is known.

    text: a game's first text, which names its places and its task.
    """
    habits = PlaceHabits(kinds)
    habits.add(learnt)
    places = {label_of(place): classes_of(place, kinds)[0] for place in read_places(text)}
    named = dict.fromkeys(name for word in read_task(text).strip(".").split() for name in _movable(word, kinds))
    sentences = []
    for name in named:
        expected = habits.expected(name, places)
        best = sorted(expected, key=lambda label: -expected[label] / habits.effort(places[label]))[:_MOST_PLACES]
        if best:
            sentences.append(f"A {kinds[name].best_name} is often found at: {', '.join(best)}.")
    return " ".join(sentences)


def _movable(word: str, kinds: ObjectCatalogue) -> tuple[str, ...]:
    kind = kinds.find(word)
    return (kind.name,) if kind is not None and kind.pickupable else ()


# Last turns of a long game that the model sees, besides the first text.
TURNS_SHOWN = 20


@dataclass(frozen=True)
class StepAid:
    """What a policy is told at one step. state: the brief state, advice: a command, "" for none. turns: so many of the
    last ones it sees. latent: latent tokens, None for none. offered: what it may choose among, None for all that is
    possible."""

    state: Sequence[str] = ()
    advice: str = ""
    turns: int = TURNS_SHOWN
    latent: NDArray[np.float32] | None = field(default=None, compare=False)
    offered: Sequence[str] | None = None


class Aid(Protocol):
    """Memory's part in one game."""

    @property
    def experience(self) -> str:
        """What is told before the first step, "" for nothing."""

    @property
    def account(self) -> CompilingAccount | None:
        """What compiling was; None where nothing is compiled."""

    def tell(self) -> StepAid:
        """Return what is told now; asked once a step."""

    def send(self, command: str) -> str:
        """Send a command and return what is printed."""

    def close(self) -> None:
        """Let go of everything."""


# Opens the aid for a game: its engine, what other games taught (None: nothing), and its name, which is no part of it.
OpenAid = Callable[[GameEngine, PlaceCensus | None, str], Aid]


# Returns the command that is advised for the next step, "" for none: given what was said, and what is possible.
Advise = Callable[[Sequence[tuple[str, str]], Sequence[str]], str]


def no_advice(_said: Sequence[tuple[str, str]], _commands: Sequence[str]) -> str:
    """Give no advice."""
    return ""


@dataclass
class Advised:
    """All of memory before the first step, and advice at each, if any. offer: narrows what is possible, given what was
    said; None: all of it is offered."""

    engine: GameEngine
    experience: str = ""
    advise: Advise = no_advice
    offer: Callable[[Sequence[tuple[str, str]], Sequence[str]], Sequence[str]] | None = None
    account: CompilingAccount | None = None
    _said: list[tuple[str, str]] = field(default_factory=list)

    def tell(self) -> StepAid:
        """Return the advice, and what is offered."""
        possible = choices(self.engine.commands)
        command = self.advise(self._said, possible)
        offered = self.offer(self._said, possible) if self.offer is not None else None
        return StepAid(advice=f"{command}." if command else "", offered=offered)

    def send(self, command: str) -> str:
        """Send a command and return what is printed."""
        reply = self.engine.send(command)
        self._said.append((command, reply))
        return reply

    def close(self) -> None:
        """Hold nothing."""


def without_games(engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
    """Return an aid without any memory."""
    return Advised(engine)


def habits_at_first(kinds: ObjectCatalogue) -> OpenAid:
    """Return what opens an aid that says at first where things usually are, if other games taught anything."""

    def opened(engine: GameEngine, learnt: PlaceCensus | None, name: str) -> Aid:
        return Advised(engine, told_habits(learnt, kinds, engine.text) if learnt is not None else "")

    return opened


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
            offered = choices(engine.commands) if told.offered is None else told.offered
            values: Mapping[str, float] = dict.fromkeys(offered, 1.0)
            try:
                chosen = self.chooser.choose(dialogue, values, account, Deadline(self.timeout_s))
            except LlmError as error:
                failure = str(error)
                break
            step_ms.append(1000.0 * (time.monotonic() - began))
            reply = aid.send(chosen.call)
            said.append((chosen.call, reply))
            turns.append(turn(chosen.reply, reply, task))
        return PlayedGame.of(
            game,
            engine,
            text,
            said,
            searched=len({command for command, _ in said if command.startswith("go to ")}),
            prompt_tokens=round(account.tokens_in / max(account.replies, 1)),
            reply_tokens=account.tokens_out / max(account.replies, 1),
            compiling=aid.account,
            step_ms=tuple(step_ms),
            failure=failure,
        )


def random_policy(
    max_steps: int, engine_of: Callable[[Game], GameEngine], aid_of: OpenAid = without_games
) -> Callable[[Game, str], PlayedGame]:
    """Return what plays a game by a seed: each command that is offered is as likely as the others.

    aid_of: may narrow what is offered. A game goes the same whatever was played before it.
    """

    def play(game: Game, seed: str) -> PlayedGame:
        chooser = RandomChoice(f"{seed} {game.name}")
        return PolicyPlayer(chooser, max_steps, math.inf, aid_of, engine_of).play(game)

    return play


def last_turns(turns: Sequence[T], most: int) -> Sequence[T]:
    """Return the turns of a game that a model sees."""
    block = _TURNS_LEFT_OUT if most > _TURNS_LEFT_OUT else 1
    beyond = len(turns) - most
    return turns[block * -(-beyond // block) :] if beyond > 0 else turns
