"""A robot's memory in one game: empty at first, but for what other games taught of kinds of things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from benchmarks.alfworld.carried import Carried
from benchmarks.alfworld.game_episodes import EpisodeRecorder, GameEpisode
from benchmarks.alfworld.robot import TextRobot
from benchmarks.alfworld.site import PLOT_M
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.ports import ExperiencePort, TextEmbedder
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, StepRecord
from memory_node.lessons.experience import Experience
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import Planner
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits

# Duration of a command on the clock of a game: short, so that a place seen one command ago still counts as known.
_COMMAND_NS = 1_000_000_000
# A look covers a whole plot, and the text names everything there, so nothing is overlooked.
_SCENE = SceneGraphConfig(area_spacing_m=PLOT_M, evidence_range_m=1.5 * PLOT_M, overlooked=0.01)
# As the planner node has it by default: who compiles memory, and how often an instruction is tried.
_ATTEMPTS = 2


class Counting(Protocol):
    """A robot that counts the commands that it sends."""

    steps: int


class GameClock:
    """Time by the number of commands: a game is the same whatever machine it is played on.

    robot: whose commands count. began_ns: when the game began.
    """

    robot: Counting | None = None
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
