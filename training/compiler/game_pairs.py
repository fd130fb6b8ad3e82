"""A teacher walks text games: an executor that does what the rules advise; games that were won become pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.alfworld.attempts import Attempts
from benchmarks.alfworld.compiled import goals_reader
from benchmarks.alfworld.compiled_aid import CompiledAids
from benchmarks.alfworld.dialogue import opening, turn, with_memory
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.open_world import for_text_games
from benchmarks.alfworld.play import GameEngine
from benchmarks.alfworld.policy import last_turns
from benchmarks.alfworld.sentences import read_task
from benchmarks.alfworld.transcripts import read_transcripts
from benchmarks.compiler_variants import TEXT
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.chat import Message
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.compiler.teacher import CompilerPair, RecordingTeacher

_MAX_STEPS = 50


class GameTeacher:
    """It knows what the robot's memory knows. attempts: file of transcripts that are a part of M, None for none."""

    def __init__(
        self,
        attempts: Path | None,
        embedder: TextEmbedder | None = None,
        engine_of: Callable[[Game], GameEngine] = PddlEngine,
        chooses: bool = False,
    ) -> None:
        kinds = for_text_games(load_catalogue())
        embedder = embedder or CachingEmbedder(MiniLmEmbedder())
        transcripts: Iterator[Mapping[str, Any]] = read_transcripts(attempts) if attempts is not None else iter(())
        rules = RulesCompiler()
        teacher = RecordingTeacher(rules, lambda: self._game, self._take, chooses)
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
