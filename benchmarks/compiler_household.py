"""The rows of `bench compiler --on household`: the stream of tasks under faults, memory compiled in several ways."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.alfred_home import ALFRED_REACH_M
from benchmarks.compiler_variants import (
    NO_FAULTS,
    NO_STATE,
    NONE,
    STATIC,
    OtherMemories,
    compiler_of,
    history_lines,
    rows_asked,
    static_lines,
    tokens_of,
    variant_of,
)
from benchmarks.household_cases import load_cases
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Lives
from benchmarks.model_figures import llm_config
from benchmarks.ranking.ranked_planner import BY_CHANCE, SEEDS, open_bench_planner
from benchmarks.rows import mean_of, median_of, shuffled
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.compilations import Compilations
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import CompiledStep, Delivery, GuidancePort, StepObservation, TakenStep
from memory_node.domain.clock import system_clock
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import ArgumentKind
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.llm.open_model import ModelShelf
from memory_node.memory import RobotMemory
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import Planner
from memory_node.planner.planner_config import OfflineConfig, PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.sim.execution import RobotConfig
from memory_node.sim.robot import HomeRobot
from memory_node.sim.world import World

# As in `bench household --faults`: failures of one goal after which the executor gives up.
_PATIENCE = 3
# Sequences with more preparations are not searched; guidance that needs one counts as wrong.
_LONGEST = 2


@dataclass(frozen=True)
class GuidedMoment:
    """What was guided: the home as it was, where the robot stood, what the executor was about to do, the guidance."""

    world: World
    pose: Pose
    proposed: SkillCall
    goal: SkillCall


def is_precise(moment: GuidedMoment) -> bool:
    """Return whether the guided call lies on a shortest way, in skills, from the state of then to the proposed call.

    The home's own skills decide, none of which fails by chance: after the guided call one preparation less must be
    needed than before it. The proposed call itself is right where it can be done at once.
    """
    here = (moment.world, moment.pose)
    if moment.goal == moment.proposed:
        return _tried(here, moment.proposed) is not None
    there = _tried(here, moment.goal)
    if there is None:
        return False
    left = next((n for n in range(_LONGEST + 1) if _leads(there, moment.proposed, n)), None)
    return left is not None and not any(_leads(here, moment.proposed, n) for n in range(left + 1))


def _leads(state: tuple[World, Pose], proposed: SkillCall, preparations: int) -> bool:
    """Return whether the proposed call can be done after exactly so many preparations."""
    if preparations == 0:
        return _tried(state, proposed) is not None
    after = (_tried(state, call) for call in _preparations(state[0], proposed))
    return any(reached is not None and _leads(reached, proposed, preparations - 1) for reached in after)


def _tried(state: tuple[World, Pose], call: SkillCall) -> tuple[World, Pose] | None:
    """Return the state after a skill, None where it fails; the given state stays as it is."""
    world = state[0].copy()
    robot = HomeRobot(world, RobotConfig(reach_m=ALFRED_REACH_M))
    robot.body.pose = state[1]
    return (world, robot.body.pose) if robot.run(call).success else None


def _preparations(world: World, proposed: SkillCall) -> Iterator[SkillCall]:
    """Yield what may have to come before a call: drive to its things, take what it is done with, open what is shut."""
    skill = SKILLS[proposed.skill]
    things = [
        text for argument, text in zip(skill.arguments, proposed.arguments) if argument.kind is ArgumentKind.OBJECT
    ]
    for text in things:
        yield SkillCall("GoToObject", (text,))
        yield SkillCall("OpenObject", (text,))
        yield SkillCall("PickupObject", (text,))
        if text in world:
            around = world.closed_around(world[text])
            if around is not None:
                yield SkillCall("GoToObject", (around.id,))
                yield SkillCall("OpenObject", (around.id,))


@dataclass
class Account:
    """What was compiled in one row. tokens: what memory told the executor at each step. guided: what is to be judged.

    copied_s: time for copying the state to be judged, which does not count in the row.
    """

    tokens: list[int] = field(default_factory=list)
    compiler_tokens: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    nothing: list[bool] = field(default_factory=list)
    guided: list[GuidedMoment] = field(default_factory=list)
    copied_s: float = 0.0


class Watched:
    """A GuidancePort that keeps account. situation: the home as it is now and where the robot stands in it, None for
    none."""

    def __init__(
        self,
        guidance: Compilations,
        variant: str,
        account: Account,
        situation: Callable[[], tuple[World, Pose] | None],
    ) -> None:
        self._guidance = guidance
        self._variant = variant
        self._account = account
        self._situation = situation
        self._recent: list[TakenStep] = []
        self._episode = ""

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep | None:
        """Compile, and note what came of it; see GuidancePort."""
        if episode_id != self._episode:
            self._episode, self._recent = episode_id, []
        if observation.taken is not None:
            self._recent.append(observation.taken)
        step = self._guidance.compile(episode_id, observation)
        if step is not None:
            self._note(step, self._told(step, episode_id), observation)
        return step

    def _note(self, step: CompiledStep, told: Sequence[str], observation: StepObservation) -> None:
        account, guidance = self._account, step.guidance
        account.tokens.append(tokens_of(told))
        account.compiler_tokens.append(step.compiled.tokens_in + step.compiled.tokens_out)
        account.milliseconds.append(step.milliseconds)
        account.nothing.append(step.compiled.delivery is Delivery.NOACTION)
        started = time.perf_counter()
        situation = self._situation()
        if guidance is not None and observation.proposed is not None and situation is not None:
            world, pose = situation
            account.guided.append(GuidedMoment(world.copy(), pose, observation.proposed, guidance.goal))
        account.copied_s += time.perf_counter() - started

    def _told(self, step: CompiledStep, episode_id: str) -> Sequence[str]:
        """Return what the executor is told at this step."""
        followed = self._guidance.of(episode_id)
        if self._variant not in (NO_STATE, STATIC) or followed is None:
            return step.lines
        guidance = step.lines[len(step.state.lines()) :] if self._variant == NO_STATE else static_lines(followed.memory)
        return (step.state.goal, *history_lines(self._recent), *guidance)


@dataclass(frozen=True)
class CarriedOut:
    """A task that was carried out. met: of so many conditions. results: of its instructions."""

    success: bool
    met: int
    conditions: int
    results: Sequence[InstructionResult]


def row_of(variant: str, name: str, done: Sequence[CarriedOut], account: Account, times: int = 1) -> dict[str, Any]:
    """Return the row of some tasks, each carried out so many times."""
    results = [result for one in done for result in one.results]
    replies = sum(result.outcome.cost.replies for result in results)
    steps = replies or sum(result.skills for result in results)
    compiled_s = sum(account.milliseconds) / 1e3
    planned_s = sum(result.planning_s for result in results) - compiled_s - account.copied_s
    # An executor that cannot read takes in what memory tells it.
    told = mean_of(account.tokens, 1) or 0.0
    read = round(sum(result.outcome.cost.tokens_in for result in results) / max(replies, 1), 1)
    return {
        "variant": variant,
        "compiler": name,
        "tasks": len(done) // times,
        "success_rate": mean_of([one.success for one in done]),
        "progress": round(sum(one.met for one in done) / max(sum(one.conditions for one in done), 1), 4),
        "executor_input_tokens": read if replies else told,
        "compiler_tokens": mean_of(account.compiler_tokens, 1) or 0.0,
        "executor_output_tokens": round(sum(one.outcome.cost.tokens_out for one in results) / max(replies, 1), 1),
        "executor_ms": round(1e3 * planned_s / max(steps, 1), 2),
        "compiler_ms": median_of(account.milliseconds, 2) or 0.0,
        "guidance_precision": mean_of([is_precise(moment) for moment in account.guided]),
        "noaction_share": mean_of(account.nothing),
    }


def rows_of_robot(
    args: argparse.Namespace,
    variants: Sequence[str],
    tasks: int,
    carried_out: Callable[[str, str, Account, int], Iterator[CarriedOut]],
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured; those by chance are of several seeds.

    carried_out: carries the tasks out, given variant, compiler, account and number of the seed.
    """
    with progress_bar() as bar:
        for variant, name in rows_asked(variants, args.compilers):
            times = SEEDS if variant in BY_CHANCE else 1
            task: Any = bar.add_task(f"{variant} {name}", total=tasks * times)
            account, done = Account(), []
            for number in range(times):
                for one in carried_out(variant, name, account, number):
                    done.append(one)
                    bar.advance(task)
            yield row_of(variant, name, done, account, times)


def rows_of_household(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the stream of tasks under faults; see rows_of_robot.

    Raises:
        RobotMemoryError: the files are not named.
    """
    if args.scenes is None or args.tasks is None:
        raise RobotMemoryError("--on household needs --scenes and --tasks (docs/homes.md says how to make them)")
    cases = load_cases(args.tasks, args.suite, args.limit, args.seed)
    homes, models = Homes(args.scenes, load_catalogue(), args.seed), ModelShelf()
    embedder = CachingEmbedder(MiniLmEmbedder())
    settings = PlannerConfig(offline=OfflineConfig(max_failures=_PATIENCE), llm=llm_config(args))

    def opened(planner: str, number: int = 0) -> Planner:
        seed = str(args.seed * SEEDS + number)
        return open_bench_planner(planner, args.mode, embedder, settings, args.fallback, asks=False, seed=seed)

    executor = opened(args.planner)
    # A language model makes errors by itself; for the offline planner they are injected.
    faults = Faults(seed=args.seed) if args.planner == "offline" else None

    def stream(variant: str, name: str, account: Account, planner: Planner, order: int) -> Iterator[CarriedOut]:
        """Carry the cases out in one order with a robot that has learnt nothing yet."""
        experience = Experience(ExperienceConfig(), ExperienceLog(), system_clock)
        others = OtherMemories(random.Random(f"{args.seed} {order} memory"))

        def guided(memory: RobotMemory) -> GuidancePort:
            guidance = variant_of(memory.guidance, variant, compiler_of(variant, name, config, models), others)
            return Watched(guidance, variant, account, lambda: lives.current.situation if lives.current else None)

        is_plain = variant in (NONE, NO_FAULTS, *BY_CHANCE)
        # A language model reads in its prompt what is given once.
        once = is_plain or (variant == STATIC and faults is None)
        luck = None if variant in (NO_FAULTS, *BY_CHANCE) else faults
        mode, guide = "full" if is_plain else "full+experience", None if once else guided
        lives = Lives(mode, homes, embedder, planner, experience, luck, args.seed, guide)
        for trial in map(lives.run, shuffled(cases, args.seed, order)):
            yield CarriedOut(trial.success, trial.met, trial.conditions, (trial.result,))
        experience.close()

    def carried_out(variant: str, name: str, account: Account, number: int) -> Iterator[CarriedOut]:
        planner = opened(variant, number) if variant in BY_CHANCE else executor
        for order in range(args.orders):
            yield from stream(variant, name, account, planner, order)

    return rows_of_robot(args, variants, len(cases) * args.orders, carried_out)
