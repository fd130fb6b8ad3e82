"""Memory compiled at each step of a game that a policy plays with the engine's own commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.alfworld.dialogue import advised
from benchmarks.alfworld.life import GameClock, memory_of_game
from benchmarks.alfworld.open_world import with_unknown_places
from benchmarks.alfworld.robot import TextRobot
from benchmarks.alfworld.text_skills import TEXT_SKILLS, TextEngine
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.compilations import Retrieve
from memory_node.context.guidance import CompiledStep, Compiler, StepObservation, TakenStep
from memory_node.context.task_memory import TaskMemory
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, ObjectReference, SkillCall
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import GoalCheck, GoalHistory
from memory_node.planner.offline_planner import home_classes
from memory_node.planner.planner import PlanningContext
from memory_node.planner.reading.understanding import Understander
from memory_node.scene_graph.place_habits import PlaceCensus
from memory_node.world.episode import EpisodeWorld

# Guided skills without a command that are accepted in one step; more would be a loop of the compiler.
_MOST_DONE = 4


@dataclass(frozen=True)
class Told:
    """What memory says of one step. command: the engine's command that guidance comes to, "" for none. compiled: the
    steps of the compiler behind it, at least one. avoid: commands that must not be sent again now."""

    command: str
    compiled: tuple[CompiledStep, ...]
    avoid: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """The command in words, "" for none."""
        never = f"Do not {', '.join(self.avoid)} again. " if self.avoid else ""
        return f"{never}{_sentence(self.command)}" if self.command else ""

    @property
    def state_lines(self) -> tuple[str, ...]:
        """The brief state."""
        return self.compiled[-1].state.lines()

    @property
    def latent(self) -> NDArray[np.float32] | None:
        """The guidance behind the command as latent tokens, None where there are none."""
        return self.compiled[-1].compiled.latent if self.command else None


class CompiledGame:
    """A game that is running, its memory, and what a compiler makes of it.

    compiler: compiles. retrieve: makes M from the memory's own way to retrieve it. learnt: of other games.
    """

    def __init__(
        self,
        engine: TextEngine,
        kinds: ObjectCatalogue,
        embedder: TextEmbedder,
        learnt: PlaceCensus,
        compiler: Compiler,
        retrieve: Callable[[Retrieve], Retrieve],
        max_steps: int,
    ) -> None:
        self._kinds = with_unknown_places(engine.text, kinds)
        clock = GameClock()
        self._memory = memory_of_game(self._kinds, clock.now_ns, embedder, learnt)
        self._robot = clock.robot = TextRobot(engine, self._kinds, clock.now_ns, max_steps, self._memory.observe)
        self._memory.set_map(self._robot.site.map(), 1)
        self._memory.remember(self._robot.first_look())
        self._goals = self._read_goals(embedder)
        self._history = GoalHistory(self._goals, self._kinds)
        self._episode_id = self._memory.episodes.start(self._robot.task)
        self._compilations = replace(
            self._memory.guidance, retrieve=retrieve(self._memory.guidance.retrieve), compiler=compiler
        )
        self._references: dict[str, str] = {}
        self._taken: TakenStep | None = None

    @property
    def memory(self) -> TaskMemory:
        """M; nothing before the first step."""
        followed = self._compilations.of(self._episode_id)
        return followed.memory if followed is not None else TaskMemory()

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()

    def tell(self) -> Told:
        """Compile memory for the next step."""
        compiled: list[CompiledStep] = []
        for _ in range(_MOST_DONE):
            step = self._compilations.compile(self._episode_id, self._observation())
            self._taken = None
            compiled.append(step)
            if step.guidance is None:
                break
            call = self._with_stops(step.guidance.goal)
            command = self._robot.first_command(call)
            if command or call.skill != "GoToObject":
                return Told(command, tuple(compiled))
            # It is within reach from here: nothing has to be sent for that.
            self._taken = TakenStep(call, True)
        return Told("", tuple(compiled))

    def send(self, command: str) -> str:
        """Send a command, let memory know what came of it, and return what is printed."""
        sent = self._robot.send(command)
        if sent.changes:
            self._memory.remember(sent.changes)
        if sent.call is not None:
            call = SkillCall(sent.call.skill, tuple(map(self._reference, sent.call.arguments)))
            done = sent.reason is FailureReason.NONE
            self._taken = TakenStep(call, done, sent.reason, sent.call.arguments[0] if done else "")
        return sent.reply

    def _observation(self) -> StepObservation:
        things = self._robot.senses.things.by_name
        classes = {self._reference(name): thing.object_class for name, thing in things.items()}
        return StepObservation(
            tuple(map(str, self._goals)),
            self._goal_index(),
            self._taken,
            classes=classes,
            names={self._reference(name): name for name in things},
            worded=lambda call: advised(_sentence(self._robot.first_command(self._with_stops(call)))),
        )

    def _goal_index(self) -> int:
        check = GoalCheck(EpisodeWorld(self._kinds).refresh(self._memory.scene(), self._memory.held_object()))
        # While the game runs the task is not done, whatever memory believes.
        return min(self._history.judge(check).goal_index, max(len(self._goals) - 1, 0))

    def _reference(self, name: str) -> str:
        """Return how the compiler refers to a thing: by class and where it was seen first."""
        thing = self._robot.senses.things.by_name.get(name)
        if thing is not None and name not in self._references:
            self._references[name] = str(ObjectReference.at(thing.object_class, thing.position))
        return self._references.get(name, name)

    def _with_stops(self, call: SkillCall) -> SkillCall:
        """Give Explore its likeliest places, and behind them the others; none that was looked at."""
        if call.skill != "Explore":
            return call
        site, areas = self._robot.site, self._memory.rank_search_areas(call.arguments[0])
        ranked = (site.place_near(*area.position[:2]) for area in areas)
        places = (place for place in (*ranked, *site.places) if place not in self._robot.senses.seen)
        return SkillCall("Explore", (call.arguments[0], *dict.fromkeys(places)))

    def _read_goals(self, embedder: TextEmbedder) -> Sequence[Goal]:
        situation = PlanningContext(self._memory, skills=TEXT_SKILLS)
        home = home_classes(situation, self._kinds)
        reader = Understander(self._kinds, None, embedder, asks=False, open_names=True)
        return reader.understand(self._robot.task, home).goals


def _sentence(command: str) -> str:
    return f"{command}." if command else ""


def goals_reader(kinds: ObjectCatalogue, embedder: TextEmbedder) -> Callable[[str], Sequence[str]]:
    """Return what reads the subgoals of tasks in words."""
    reader = Understander(kinds, None, embedder, asks=False, open_names=True)
    return lambda task: [str(goal) for goal in reader.understand(task).goals]
