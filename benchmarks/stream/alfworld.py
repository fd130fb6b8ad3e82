"""The stream of ALFWorld's games, played with what an optimizer's bank tells, and what the optimizer makes of them."""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.alfworld.command import LONGEST_GAME_S, LONGEST_WITH_MODEL_S
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game, task_of
from benchmarks.alfworld.play import GameEngine, PlayedGame
from benchmarks.alfworld.policy import Advise, Advised, PolicyPlayer, choices
from benchmarks.alfworld.sentences import attempt_of_game, called_skill, deed_of, read_task
from benchmarks.alfworld.workers import Ready, Workers
from benchmarks.likelihood import scoring_model
from benchmarks.ranking.choosing import RankedChoice
from benchmarks.reply_cache import KeptLines, mark_of
from benchmarks.rows import shuffled
from benchmarks.stream.note_reader import NoteReader
from benchmarks.stream.outcomes import Stream, StreamTask, operation_of
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.context import estimate_tokens
from memory_node.domain.skill import FailureReason
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.lesson import Lesson
from memory_node.lessons.optimizer.attempt import Attempt, DeedKind
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.rules import is_named, words_of
from memory_node.lessons.plugmem import intent_of, intents_of, is_followed, merged, way_of
from memory_node.lessons.whereabouts import read_whereabouts
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.planner_config import LlmConfig


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
        with closing(self.engine_of(game)) as engine:
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
            return PlayedGame.of(game, engine, text, said)

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
            others = (entry for entry in shown if not intents_of(entry) and read_whereabouts(entry.text) is None)
            in_words = " ".join(entry.text for entry in others)
            return in_words, NoteReader(read_task(text), text, shown).command

        return told_game(self._executor.play(game, brief), shown)


def told_game(played: PlayedGame, shown: Sequence[Lesson]) -> ToldGame:
    """Return a game that was played with these entries."""
    return ToldGame(played, tuple(entry.id for entry in shown), sum(estimate_tokens(entry.text) for entry in shown))


class GameCache:
    """Played games by the game, its executor and the entries that were told. Its file is of one version of the code.

    path: see KeptLines. executor: everything that decides how its games go, in words.
    """

    def __init__(self, path: Path | None, executor: str) -> None:
        self._executor = executor
        self._games = KeptLines(path, _read)

    def __len__(self) -> int:
        return len(self._games)

    def find(self, game: Game, shown: Sequence[Lesson]) -> PlayedGame | None:
        """Return how a game went with these entries, None where it was not played with them."""
        return self._games.get(self._key(game, shown))

    def add(self, game: Game, shown: Sequence[Lesson], played: PlayedGame) -> None:
        """Keep how a game went; one that is known is not written again.

        A game in which the model failed, as by its deadline on a busy machine, may go otherwise another time.
        """
        key = self._key(game, shown)
        if self._games.get(key) is None and not played.failure:
            row = {name: getattr(played, name) for name in ("task_type", "task", "won", "steps", "text")}
            self._games.put(key, played, {"game": played.name, **row, "turns": played.transcript})

    def _key(self, game: Game, shown: Sequence[Lesson]) -> str:
        told = [[entry.situation, entry.text] for entry in shown]
        return KeptLines.key_of([self._executor, hashlib.sha256(game.content).hexdigest(), told])


def _read(row: Mapping[str, Any]) -> PlayedGame:
    turns = tuple((str(command), str(reply)) for command, reply in row["turns"])
    name, kind, task = str(row["game"]), str(row["task_type"]), str(row["task"])
    return PlayedGame(name, kind, task, bool(row["won"]), int(row["steps"]), text=str(row["text"]), transcript=turns)


EXECUTORS = ("novice", "policy")
# Ways that a task is told at most.
_MOST_WAYS = 2
# What a task may ask to be done with a thing before it is brought.
_TREATMENTS = ("clean", "heat", "cool", "hot")
_SAID_AS = {"hot": "heat"}


@dataclass(frozen=True)
class ExecutorSetting:
    """Who plays. kind: one of EXECUTORS; model: of the policy, with its adapter."""

    kind: str
    model: LlmConfig
    max_steps: int = 30
    seed: int = 0

    @property
    def mark(self) -> str:
        """What decides how a game goes, besides the game and what is told."""
        played_by = str(self.seed) if self.kind == "novice" else mark_of(self.model)
        return f"{self.kind} {self.max_steps} {played_by}"

    @property
    def longest_game_s(self) -> float:
        """Time for one game; a process that needs longer hangs."""
        return LONGEST_GAME_S if self.kind == "novice" else LONGEST_WITH_MODEL_S


def alfworld_streams(
    args: argparse.Namespace,
    name: str,
    games: Sequence[Game],
    executor: ExecutorSetting,
    curator_of: Callable[[str], Curator | None],
    cache: GameCache,
    goals_of: Callable[[str], Sequence[str]],
) -> list[Stream]:
    """Return the streams of one row: each order begins with an empty bank, and nothing is reset in it.

    args: of the command. curator_of: makes the curator of an empty bank for the name of a row, None for none. cache: of
    games that were played before. goals_of: reads a task's goals.
    """
    begin, limit_s = partial(player_of, executor), executor.longest_game_s
    streams: list[Stream] = []
    with progress_bar() as bar, Workers(begin, args.jobs, limit_s) as workers:
        bar_task: Any = bar.add_task(name, total=len(games) * args.orders * args.epochs)
        for order in range(args.orders):
            tasks = shuffled(games, args.seed, order)
            curator = curator_of(name)
            epochs = []
            for epoch in range(args.epochs):
                stream = _Stream(tasks, curator, cache, goals_of, f"{order}-{epoch}")
                for outcome in workers.run(len(tasks), stream.piece):
                    stream.take(outcome.number, outcome.done, outcome.lost)
                    bar.advance(bar_task)
                epochs.append(stream.tasks)
            streams.append(epochs)
    return streams


class _Stream:
    """One pass over the games in one order."""

    def __init__(
        self,
        games: Sequence[Game],
        curator: Curator | None,
        cache: GameCache,
        goals_of: Callable[[str], Sequence[str]],
        name: str,
    ) -> None:
        self._games = games
        self._curator = curator
        self._cache = cache
        self._goals_of = goals_of
        self._name = name
        self._shown: dict[int, tuple[Lesson, ...]] = {}
        self.tasks: list[StreamTask] = []

    def piece(self, number: int) -> tuple[Game, tuple[Lesson, ...]] | Ready[ToldGame]:
        """Return a game and the entries that are shown for it by then, or how it went where it was played with them."""
        game = self._games[number]
        shown = entries_for(task_of(game), self._curator.bank) if self._curator is not None else ()
        self._shown[number] = shown
        played = self._cache.find(game, shown)
        return (game, shown) if played is None else Ready(told_game(played, shown))

    def take(self, number: int, told: ToldGame | None, lost: str) -> None:
        """Keep a game that was played, and let the optimizer read it."""
        game, shown = self._games[number], self._shown.pop(number)
        if told is None:
            print(f"{game.name}: lost: {lost}", file=sys.stderr)
            bank = len(self._curator.bank) if self._curator is not None else 0
            self.tasks.append(StreamTask(False, 0.0, 0, bank=bank, lost=lost))
            return
        if told.played.failure:
            print(f"{game.name}: ended by its executor: {told.played.failure}", file=sys.stderr)
        self._cache.add(game, shown, told.played)
        played, operation, tokens, bank = told.played, "", 0, 0
        if self._curator is not None:
            key = f"{self._name}-{number}"
            done = steps_of(played, key, number)
            curated = self._curator.learn(attempt_of(played, key, number), used(shown, done))
            task_type = "+".join(goal.partition(" ")[0] for goal in self._goals_of(played.task))
            add_way(played, done, task_type, key, self._curator.bank)
            operation, bank = operation_of(curated), len(self._curator.bank)
            tokens = curated.proposal.tokens_in + curated.proposal.tokens_out
        self.tasks.append(
            StreamTask(played.won, progress_of(played), played.steps, told.tokens, tokens, bank, operation)
        )


def entries_for(task: str, bank: LessonBank) -> tuple[Lesson, ...]:
    """Return the lessons that a bank has for a task: the nearest, and ways of nearly the same intents."""
    intent = intent_of(task, load_catalogue().spoken_names)
    return (*bank.retrieve(task), *bank.ways_to(intent, _MOST_WAYS))


def steps_of(played: PlayedGame, episode_id: str, stamp_ns: int) -> list[StepRecord]:
    """Return what was done in a game. What was opened to look or to reach into is no part of it."""
    steps: list[StepRecord] = []
    for turn in played.transcript:
        deed = deed_of(*turn)
        call = called_skill(deed.way)
        if call is not None and deed.worked and deed.kind not in (DeedKind.OPEN, DeedKind.CLOSE):
            steps.append(StepRecord(episode_id, len(steps), call, True, FailureReason.NONE, stamp_ns))
    return steps


def used(shown: Sequence[Lesson], steps: Sequence[StepRecord]) -> tuple[str, ...]:
    """Return the ids of the lessons that were used, as in the product: a way that no steps followed was not."""
    done = [step.action for step in steps]
    return tuple(one.id for one in shown if not intents_of(one) or is_followed(one, done))


def add_way(played: PlayedGame, steps: Sequence[StepRecord], task_type: str, episode_id: str, bank: LessonBank) -> None:
    """Add to a bank how a game was won, as the product does after an instruction of such goals."""
    stamp_ns = steps[-1].stamp_ns if steps else 0
    episode = EpisodeSummary(episode_id, played.task, task_type, 0, stamp_ns, played.won)
    way = way_of(episode, steps, load_catalogue())
    if way is not None:
        known = bank.get(way.id)
        bank.put(merged(known, way) if known is not None else way)


def attempt_of(played: PlayedGame, episode_id: str, stamp_ns: int = 0) -> Attempt:
    """Return a game that was played as the optimizer reads it; nothing names the game."""
    return attempt_of_game(episode_id, played.task, played.text, played.transcript, played.won, stamp_ns)


def progress_of(played: PlayedGame) -> float:
    """Return how far a game got: the share of its milestones, 1 where it was won.

    The milestones are a thing that the task names in the hand, each treatment that the task asks for, and the end.
    """
    if played.won:
        return 1.0
    asked = set(words_of(played.task))
    deeds = [deed for deed in (deed_of(*turn) for turn in played.transcript) if deed.worked]
    named = {deed.thing for deed in deeds if deed.kind is DeedKind.TAKE and is_named(deed.thing, asked)}
    wanted = {_SAID_AS.get(word, word) for word in _TREATMENTS if word in asked}
    treated = {deed.verb for deed in deeds if deed.kind is DeedKind.CHANGE and is_named(deed.thing, asked)}
    return (bool(named) + len(wanted & treated)) / (2 + len(wanted))


def player_of(setting: ExecutorSetting) -> Callable[[tuple[Game, Sequence[Lesson]]], ToldGame]:
    """Return what plays games in a process of its own.

    Raises:
        InvalidValueError: the policy's model tells no likelihoods.
    """
    executor: Novice | Policy = Novice(setting.seed, setting.max_steps)
    if setting.kind == "policy":
        model = scoring_model(ModelShelf().open(setting.model), "--executor policy")
        executor = Policy(PolicyPlayer(RankedChoice(model), setting.max_steps, setting.model.timeout_s))
    player = ToldPlayer(executor)
    return lambda piece: player.play(*piece)
