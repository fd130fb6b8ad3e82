"""One game from its first text to its end: a robot with a memory of its own, and a planner."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from benchmarks.alfworld.engine import PddlEngine
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.learnt import Carried, EpisodeRecorder, GameEpisode
from benchmarks.alfworld.robot import TEXT_SKILLS, GameEngine, TextRobot
from benchmarks.alfworld.senses import PLOT_M, classes_of
from benchmarks.alfworld.sentences import read_places, read_task
from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import ObjectKind, Property
from memory_node.domain.clock import Clock
from memory_node.domain.ports import ExperiencePort, TextEmbedder
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, StepRecord
from memory_node.lessons.experience import Experience
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import Planner
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits


def for_text_games(kinds: ObjectCatalogue) -> ObjectCatalogue:
    """Return the kinds with more that may be tried with unknown things: the engine says what cannot be done."""
    return replace(kinds, unknown=kinds.unknown | {Property.HEATABLE, Property.COOLABLE})


def with_unknown_places(first_text: str, kinds: ObjectCatalogue) -> ObjectCatalogue:
    """Return the kinds with those of the places that the first text names; the same object where all are known."""
    classes = dict.fromkeys(classes_of(place, kinds)[0] for place in read_places(first_text))
    unknown = [name for name in classes if name not in kinds]
    return replace(kinds, kinds=(*kinds.kinds, *map(_place, unknown))) if unknown else kinds


def _place(label: str) -> ObjectKind:
    name = spoken(label)
    return ObjectKind(label, name, (name,), properties=frozenset({Property.FIXED}), holds="on")


# Duration of a command on the clock of a game: short, so that a place seen one command ago still counts as known.
_COMMAND_NS = 1_000_000_000
# A look covers a whole plot, and the text names everything there, so nothing is overlooked.
_SCENE = SceneGraphConfig(area_spacing_m=PLOT_M, evidence_range_m=1.5 * PLOT_M, overlooked=0.01)
# How often an instruction is tried, as the planner node has it by default.
_ATTEMPTS = 2


class GameClock:
    """Time by the number of commands: a game is the same whatever machine it is played on.

    robot: whose commands count. began_ns: when the game began.
    """

    robot: TextRobot | None = None
    began_ns: int = 0

    def now_ns(self) -> int:
        """Return the time, one second for each command."""
        steps = self.robot.steps if self.robot is not None else 0
        return self.began_ns + (steps + 1) * _COMMAND_NS


def memory_of_game(
    kinds: ObjectCatalogue,
    clock: Clock,
    embedder: TextEmbedder,
    learnt: PlaceCensus | None,
    experience: Experience | None = None,
) -> RobotMemory:
    """Return a memory that knows nothing of a game; what other games taught tells of kinds, not of positions."""
    habits = PlaceHabits(kinds, informed=learnt is not None)
    if learnt is not None:
        habits.add(learnt)
    config = MemoryConfig(scene_graph=_SCENE)
    return open_memory(config, clock, embedder, experience, catalogue=kinds, habits=habits)


@dataclass(frozen=True)
class Life:
    """A memory on a game's clock. is_won: tells whether the task is done. recorder: of the attempts; None: nothing is
    learnt from them, and nothing that attempts at other games taught guides the planner."""

    memory: RobotMemory
    clock: GameClock
    is_won: Callable[[], bool]
    recorder: EpisodeRecorder | None = None

    @classmethod
    def of(
        cls, kinds: ObjectCatalogue, embedder: TextEmbedder, carried: Carried | None, is_won: Callable[[], bool]
    ) -> Life:
        """Return the life of a robot that knows nothing of a game, and of others what is carried."""
        clock = GameClock()
        census = carried.census if carried is not None else None
        known = carried.experience if carried is not None else None
        if known is None:
            return cls(memory_of_game(kinds, clock.now_ns, embedder, census), clock, is_won)
        clock.began_ns = known.ended_ns  # the game comes after all that was learnt
        recorder = EpisodeRecorder(known.known_lessons())
        experience = known.experience(recorder, clock.now_ns, embedder=embedder)
        memory = memory_of_game(kinds, clock.now_ns, embedder, census, experience)
        return cls(memory, clock, is_won, recorder)

    def guided(self, planner: Planner) -> Planner:
        """Return a planner that experience guides, as the planner node makes it."""
        if self.recorder is None:
            return planner
        episodes = _JudgedEpisodes(self.memory.episodes, self.is_won)
        return GuidedPlanner(planner, episodes, self.clock.now_ns, _ATTEMPTS, guidance=self.memory.guidance)

    def episodes(self, robot: TextRobot) -> tuple[GameEpisode, ...]:
        """Return the attempts over kinds of things, with stamps that count from the game's beginning."""
        classes = {name: thing.object_class for name, thing in robot.senses.things.by_name.items()}
        listed = self.recorder.episodes if self.recorder is not None else ()
        return tuple(episode.in_kinds(classes).from_stamp(self.clock.began_ns) for episode in listed)


@dataclass(frozen=True)
class _JudgedEpisodes:
    """An `ExperiencePort` whose episodes end as the game says. The planner does not hear of it: the game has ended."""

    inner: ExperiencePort
    is_won: Callable[[], bool]

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        return self.inner.start(instruction, task_type, episode_id, attempt)

    def record(self, step: StepRecord, context_id: str = "") -> object:
        return self.inner.record(step, context_id)

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> object:
        return self.inner.end(episode_id, self.is_won(), message, account)

    def may_retry(self, attempt: int) -> bool:
        return self.inner.may_retry(attempt)


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
    mean of the game; failure: why it was not won; lost: why it could not be played, "" where it was; taught: where
    things were; episodes: the attempts, over kinds of things; text and transcript: what was printed at first, and after
    each command; score: see GameEngine.
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
    failure: str = ""
    lost: str = ""
    taught: PlaceCensus = field(default_factory=PlaceCensus)
    episodes: tuple[GameEpisode, ...] = ()
    text: str = ""
    transcript: tuple[tuple[str, str], ...] = ()
    score: float | None = None

    @classmethod
    def of(
        cls, game: Game, engine: GameEngine, text: str, said: Sequence[tuple[str, str]], **figures: Any
    ) -> PlayedGame:
        """Return how a game ended that was played command by command."""
        task, steps = read_task(text), len(said)
        played = cls(game.name, game.task_type, task, engine.won, steps, text=text, transcript=tuple(said), **figures)
        return replace(played, score=engine.score)


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
                failures = (*result.outcome.failures, result.failure, result.outcome.question)
                return PlayedGame.of(
                    game,
                    engine,
                    text,
                    robot.transcript,
                    searched=robot.searched,
                    prompt_tokens=result.outcome.cost.tokens_in,
                    step_ms=(spent_ms / max(robot.steps, 1),),
                    failure="" if engine.won else "; ".join(filter(None, failures)),
                    taught=life.memory.place_census(),
                    episodes=life.episodes(robot),
                )
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
