"""`memory-node train compiler-pairs`: a teacher walks train tasks; each step that led to success becomes a pair."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.alfworld.compiled import Attempts, CompiledAids, goals_reader
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game, load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.play import GameEngine, for_text_games
from benchmarks.alfworld.policy import last_turns, opening, read_transcripts, turn, with_memory
from benchmarks.alfworld.sentences import read_task
from benchmarks.compiler_variants import TEXT
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.chat import Message
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.compiler.teacher import CompilerPair, RecordingTeacher, balanced, write_pairs
from training.robot_tasks import RobotTasks, add_task_arguments, open_tasks

_MAX_STEPS = 50


class GameTeacher:
    """It knows what the robot's memory knows. attempts: file of transcripts that are a part of M, None for none."""

    def __init__(
        self,
        attempts: Path | None,
        embedder: TextEmbedder | None = None,
        engine_of: Callable[[Game], GameEngine] = PddlEngine,
    ) -> None:
        kinds = for_text_games(load_catalogue())
        embedder = embedder or CachingEmbedder(MiniLmEmbedder())
        transcripts: Iterator[Mapping[str, Any]] = read_transcripts(attempts) if attempts is not None else iter(())
        rules = RulesCompiler()
        teacher = RecordingTeacher(rules, lambda: self._game, self._take)
        library = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))
        self._aids = CompiledAids(kinds, embedder, teacher, library, TEXT, _MAX_STEPS)
        self._engine_of = engine_of
        self._game = ""
        self._told: list[CompilerPair] = []

    def walk(self, games: Sequence[Game], learnt: PlaceCensus) -> Iterator[CompilerPair]:
        """Yield the pairs of the games that are won, game by game. learnt: where things were in other games."""
        with progress_bar() as bar:
            progress: Any = bar.add_task("teacher", total=len(games))
            for game in games:
                self._game, self._told = game.name, []
                if self._is_won(game, learnt):
                    yield from self._told
                bar.advance(progress)

    def _is_won(self, game: Game, learnt: PlaceCensus) -> bool:
        with closing(self._engine_of(game)) as engine, closing(self._aids(engine, learnt, game.name)) as aid:
            first, task, turns = opening(engine.text), read_task(engine.text), list[tuple[Message, Message]]()
            while not engine.over and len(turns) < _MAX_STEPS:
                known = len(self._told)
                told = aid.tell()
                command = told.advice.removesuffix(".")
                if not command:
                    break
                shown = [message for pair in last_turns(turns, told.turns) for message in pair]
                if len(self._told) > known:
                    dialogue = tuple(with_memory([*first, *shown], told.state, told.advice))
                    self._told[-1] = replace(self._told[-1], executor=dialogue, action=command)
                turns.append(turn(command, aid.send(command), task))
            return engine.won

    def _take(self, pair: CompilerPair) -> None:
        self._told.append(pair)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--on", choices=("household", "life", "alfworld"), default="household")
    add_task_arguments(parser)
    parser.add_argument("--games", type=Path, metavar="FILE|DIR", help="alfworld: train games")
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="alfworld: memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="alfworld: transcripts of games to remember")
    parser.add_argument("--limit", type=int, default=0, help="walk a sample of this many (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of sample, faults and choice (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="the pairs, one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Walk the tasks and write the pairs; return the exit status.

    Raises:
        InvalidValueError: the files of the tasks are not named.
    """
    walked, told = _alfworld(args) if args.on == "alfworld" else _robot(args)
    pairs = balanced(told, random.Random(args.seed).random)
    write_pairs(args.out, pairs)
    tasks = len({pair.task for pair in pairs})
    print(f"{len(pairs)} pairs of {tasks} of {walked} tasks: {args.out}", file=sys.stderr)
    return 0


def _robot(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    with contextlib.closing(open_tasks(args, CachingEmbedder(MiniLmEmbedder()), learns=True)) as tasks:
        return len(tasks.names), list(walk(tasks))


def _alfworld(args: argparse.Namespace) -> tuple[int, list[CompilerPair]]:
    if args.games is None:
        raise InvalidValueError("--on alfworld needs --games")
    games = load_games(args.games, args.limit, args.seed)
    with Learnt(args.memory_file, learns=False) as learnt:
        return len(games), list(GameTeacher(args.attempts).walk(games, learnt.census))


def walk(tasks: RobotTasks) -> Iterator[CompilerPair]:
    """Yield the pairs of the tasks that come out right, task by task: the offline planner, guided by the rules.

    Nothing is privileged: it knows what the robot's memory knows. Only whether a task came out right comes from the
    home.
    """
    told: list[CompilerPair] = []
    rules = RulesCompiler()
    with progress_bar() as bar:
        progress: Any = bar.add_task("teacher", total=len(tasks.names))
        for number, name in enumerate(tasks.names):
            told.clear()
            teacher = RecordingTeacher(rules, partial(str, name), told.append)
            if tasks.play(number, teacher).right == 1.0:
                yield from told
            bar.advance(progress)
