"""One game from its first text to its end: a robot with a memory of its own, and a planner."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from benchmarks.alfworld.carried import Carried
from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.game_episodes import GameEpisode
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.life import Life
from benchmarks.alfworld.open_world import with_unknown_places
from benchmarks.alfworld.robot import TextRobot
from benchmarks.alfworld.text_skills import TEXT_SKILLS, TextEngine
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.planner import Planner
from memory_node.scene_graph.place_habits import PlaceCensus


@dataclass(frozen=True)
class CompilingAccount:
    """What compiling was in one game, step by step: milliseconds, whether nothing was delivered, tokens of the
    compiler's model; precise: of the guidance that was judged, whether it lay on a shortest way."""

    milliseconds: tuple[float, ...] = ()
    nothing: tuple[bool, ...] = ()
    tokens: tuple[int, ...] = ()
    precise: tuple[bool, ...] = ()

    @classmethod
    def of_all(cls, accounts: Iterable[CompilingAccount]) -> CompilingAccount:
        """Return several games' accounts as one."""
        listed = [(one.milliseconds, one.nothing, one.tokens, one.precise) for one in accounts]
        return cls(*(tuple(chain.from_iterable(values)) for values in zip(*listed)))


@dataclass(frozen=True)
class PlayedGame:
    """How a game ended.

    steps: commands sent; searched: places visited to search; prompt_tokens: of a request, for planners of skills of the
    game; reply_tokens: of a reply; compiling: where memory was compiled at each step; step_ms: milliseconds a command,
    mean of the game; failure: why it was not won, with the skills that were called in trail; lost: why it could not be
    played, "" where it was; taught: where things were; episodes: the attempts, over kinds of things; text and
    transcript: what was printed at first, and after each command.
    """

    name: str
    task_type: str
    task: str = ""
    won: bool = False
    steps: int = 0
    searched: int = 0
    prompt_tokens: int = 0
    reply_tokens: float = 0.0
    compiling: CompilingAccount | None = None
    step_ms: tuple[float, ...] = ()
    goals: tuple[str, ...] = ()
    failure: str = ""
    trail: tuple[str, ...] = ()
    lost: str = ""
    taught: PlaceCensus = field(default_factory=PlaceCensus)
    episodes: tuple[GameEpisode, ...] = ()
    text: str = ""
    transcript: tuple[tuple[str, str], ...] = ()


class GameEngine(TextEngine, Protocol):
    """A running game, and whether it was won."""

    @property
    def won(self) -> bool:
        """Whether the task is done."""

    @property
    def facts(self) -> Sequence[tuple[str, ...]]:
        """What is so; for a judge."""

    @property
    def problem(self) -> str:
        """The problem in PDDL; for a judge."""

    def close(self) -> None:
        """Let go of the game."""


@dataclass
class Player:
    """Plays games one after another with one embedder and the kinds of one label space.

    planner_of: makes the planner for the kinds of a game. max_steps: commands in a game. engine_of: begins a game.
    """

    kinds: ObjectCatalogue
    embedder: TextEmbedder
    planner_of: Callable[[ObjectCatalogue], Planner]
    max_steps: int
    engine_of: Callable[[Game], GameEngine] = PddlEngine
    _planners: dict[int, tuple[ObjectCatalogue, Planner]] = field(default_factory=dict)

    def play(self, game: Game, carried: Carried | None = None) -> PlayedGame:
        """Play one game. carried: what other games have taught, None for nothing.

        Raises:
            BrokenGameError: the file is no game.
            NonsenseError: the engine prints what no game does.
        """
        engine = self.engine_of(game)
        try:
            text = engine.text
            kinds = with_unknown_places(text, self.kinds)
            life = Life.of(kinds, self.embedder, carried, lambda: engine.won)
            try:
                robot = TextRobot(engine, kinds, life.clock.now_ns, self.max_steps, life.memory.observe)
                life.clock.robot = robot
                began = time.monotonic()
                result = self._carried_out(life, robot, kinds)
                spent_ms = 1000.0 * (time.monotonic() - began)
                played = _played(game, robot, result, engine.won, spent_ms, text)
                return replace(played, taught=life.memory.place_census(), episodes=life.episodes(robot))
            finally:
                life.memory.close()
        finally:
            engine.close()

    def _carried_out(self, life: Life, robot: TextRobot, kinds: ObjectCatalogue) -> InstructionResult:
        memory = life.memory
        memory.set_map(robot.site.map(), life.clock.began_ns + 1)
        memory.remember(robot.first_look())
        planner = life.guided(self._planner(kinds))
        # Every place of a text game is one command away.
        executor = InstructionExecutor(memory, robot, planner, skills=TEXT_SKILLS, look_cost_m=math.inf)
        return executor.execute(robot.task)

    def _planner(self, kinds: ObjectCatalogue) -> Planner:
        known = self._planners.get(id(kinds))
        if known is None:
            self._planners.clear()
            known = self._planners[id(kinds)] = kinds, self.planner_of(kinds)
        return known[1]


def _played(
    game: Game, robot: TextRobot, result: InstructionResult, won: bool, spent_ms: float, text: str
) -> PlayedGame:
    failures: Sequence[str] = (*result.outcome.failures, result.failure, result.outcome.question)
    return PlayedGame(
        game.name,
        game.task_type,
        robot.task,
        won,
        robot.steps,
        robot.searched,
        result.outcome.cost.tokens_in,
        step_ms=(spent_ms / max(robot.steps, 1),),
        goals=result.outcome.goals,
        failure="" if won else "; ".join(filter(None, failures)),
        trail=tuple(f"{step.step.call} {step.result.reason}" for step in result.steps),
        text=text,
        transcript=tuple(robot.transcript),
    )
