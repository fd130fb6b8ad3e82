"""Who plays: the shipped planners, chance, and the players by which days are proven."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.life import day_form as form
from benchmarks.life.day_file import Day
from benchmarks.life.day_run import DayRun
from benchmarks.life.judge import is_at, is_in_state, things_meant
from benchmarks.life.lives import MakeRun
from benchmarks.life.player import Player, RobotPlayer
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.scripted_player import STATE_OF_GOAL, IdlePlayer, ScriptedPlayer
from benchmarks.model_figures import llm_config
from benchmarks.ranking.ranked_planner import BY_CHANCE, CHANCE, SEEDS, VALUED, open_bench_planner
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import ArgumentKind
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import Planner, PlanOutcome, PlanProgress
from memory_node.planner.planner_config import PlannerConfig
from memory_node.sim.manipulation import true_state
from memory_node.sim.thing import Thing
from memory_node.world.skills import unmet

MOST_CALLS = 50
_ENDS = 0.1
_LIST_TOKENS = 1500
OFFLINE, LLM = "offline", "llm"
# By these days are proven.
SCRIPTED, IDLE = "scripted", "idle"
NAMES = (OFFLINE, LLM, *BY_CHANCE, SCRIPTED, IDLE)
# In these days a planner knows things only by the list that memory writes.
_BY_LIST = "recent"


class ChancePlayer:
    """Makes calls at random whose declared preconditions hold, over the things of an instruction.

    These are the things that its words and goals name, what they are in or on, and the tools and fixtures that the
    goals need. It ends when the goals hold, or after each call with a probability of 0.1 where there are none.
    """

    def __init__(self, life: RobotLife, day: Day, seed: int) -> None:
        self._life = life
        self._world = life.world
        self._kinds = load_catalogue()
        self._random = random.Random(f"{seed} {day.scenario.id}")
        events = [one for one in day.scenario.events if isinstance(one, form.Step)]
        self._events = iter(events)
        life.is_blind = True  # what it sees, it would not use

    def restart(self) -> None:
        """Go on as before."""

    def execute(
        self, words: str, goals: Sequence[form.GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Act at random; see Player."""
        event = next(self._events)
        typed = event.goals if isinstance(event, form.Do) else ()
        if not isinstance(event, form.Ask):
            self._act(words, typed, min(MOST_CALLS, limit or MOST_CALLS))
        outcome = PlanOutcome((words,), (True,), planner="chance", answer=self._line(words))
        return InstructionResult(words, outcome, (), ())

    def _line(self, words: str) -> str:
        """Return a random line of memory."""
        lines = [line for line in self._life.memory.context(words, _LIST_TOKENS).text.splitlines() if line.strip()]
        return self._random.choice(lines) if lines else ""

    def _act(self, words: str, goals: Sequence[form.GoalForm], most: int) -> None:
        for _ in range(most):
            if goals and all(map(self._holds, goals)):
                return
            calls = list(self._possible(words, goals))
            if not calls:
                return
            result = self._life.execute(self._random.choice(calls))
            self._life.remember(result.changes)
            if not goals and self._random.random() < _ENDS:
                return

    def _holds(self, goal: form.GoalForm) -> bool:
        state = STATE_OF_GOAL.get(goal.kind)
        if state is not None and not is_in_state(self._world, goal.object, state):
            return False
        if goal.place and goal.kind not in (GoalKind.FILL, GoalKind.GO, GoalKind.FIND):
            return is_at(self._world, self._life.robot.body.pose, goal.object, goal.place)
        return state is not None

    def _possible(self, words: str, goals: Sequence[form.GoalForm]) -> Iterator[SkillCall]:
        """Yield every call that can be made now."""
        things = self._things(words, goals)
        state = true_state(self._life.robot, things)
        for skill in SKILLS.values():
            if any(one.kind is not ArgumentKind.OBJECT for one in skill.arguments):
                continue  # Explore looks for classes
            calls = [SkillCall(skill.name)]
            for _ in skill.arguments:  # what cannot be done with a thing is not tried with a second one
                longer = ((*call.arguments, thing.id) for call in calls for thing in things)
                calls = [SkillCall(skill.name, ids) for ids in longer if len(set(ids)) == len(ids)]
                calls = [call for call in calls if not unmet(skill, state, call)]
            yield from calls

    def _things(self, words: str, goals: Sequence[form.GoalForm]) -> list[Thing]:
        names = {name for group in self._kinds.spoken_names.named_in(words) for name in group[:1]}
        names |= {name for goal in goals for name in (goal.object, goal.place) if name}
        treatments = [self._kinds.usual_treatment(goal.kind) for goal in goals]
        names |= {name for one in treatments if one is not None for name in (*one.at, *one.tools)}
        named = [thing for name in sorted(names) for thing in things_meant(self._world, name)]
        around = [support for thing in named for support in self._world.supports(thing)]
        taps = [one for one in self._world if any(goal.kind is GoalKind.FILL for goal in goals) and _pours(one)]
        held = [self._world.held] if self._world.held is not None else []
        return list({thing.id: thing for thing in (*named, *around, *taps, *held)}.values())


def _pours(thing: Thing) -> bool:
    return thing.can(Property.WATERS) or thing.can(Property.BREWS)


def seeds_of(planner: str) -> int:
    """Return how often a planner plays each scenario."""
    return SEEDS if planner in BY_CHANCE else 1


Prepare = Callable[[RobotPlayer, RobotLife], None]


class Players:
    """Makes the player of each scenario; what all share, such as a model, is opened once."""

    def __init__(self, args: argparse.Namespace, embedder: TextEmbedder) -> None:
        self._args = args
        self._embedder = embedder
        self._opened: dict[tuple[str, str], Planner] = {}

    def player(self, planner: str, life: RobotLife, day: Day, seed: int) -> Player:
        """Return who acts for the robot in a scenario."""
        if planner == IDLE:
            return IdlePlayer()
        if planner == CHANCE:
            return ChancePlayer(life, day, self._args.seed * SEEDS + seed)
        if planner == SCRIPTED:
            return ScriptedPlayer(life, day, self._robot(OFFLINE, life, day, seed))
        return self._robot(planner, life, day, seed)

    def run(self, planner: str, day: Day, seed: int, goals: bool = False, prepare: Prepare | None = None) -> MakeRun:
        """Return what plays a scenario with a robot. prepare: is given a robot's player before it plays."""

        def run_of(life: RobotLife, folder: Path) -> DayRun:
            player = self.player(planner, life, day, seed)
            if prepare is not None and isinstance(player, RobotPlayer):
                prepare(player, life)
            return DayRun(day, life, player, goals, folder)

        return run_of

    def _robot(self, planner: str, life: RobotLife, day: Day, seed: int) -> RobotPlayer:
        made = self._planner(planner, day, seed)
        return RobotPlayer(life, made, by_list=day.scenario.category == _BY_LIST)

    def _planner(self, name: str, day: Day, seed: int) -> Planner:
        # Chance draws anew in each scenario.
        drawn = f"{self._args.seed * SEEDS + seed} {day.scenario.id}" if name == VALUED else ""
        if (name, drawn) not in self._opened:
            settings = PlannerConfig(llm=llm_config(self._args))
            self._opened[name, drawn] = open_bench_planner(
                name, self._args.mode, self._embedder, settings, self._args.fallback, seed=drawn
            )
        return self._opened[name, drawn]
