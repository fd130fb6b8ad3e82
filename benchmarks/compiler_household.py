"""The rows of `bench compiler --on household`: the stream of tasks under faults, memory compiled in several ways."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from benchmarks.alfred_home import ALFRED_REACH_M
from benchmarks.compiler_variants import (
    NO_FAULTS,
    NO_STATE,
    NONE,
    OF_COMPILERS,
    STATIC,
    OtherMemories,
    compiler_of,
    history_lines,
    retrieval_of,
    tokens_of,
)
from benchmarks.household_cases import Case
from benchmarks.household_faults import Faults
from benchmarks.household_homes import Homes
from benchmarks.household_life import Life, Lives, Trial
from benchmarks.rows import mean_of, median_of, shuffled
from memory_node.app.progress import progress_bar
from memory_node.context.compilations import Compilations
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import CompiledStep, Delivery, GuidancePort, StepObservation, TakenStep
from memory_node.domain.clock import system_clock
from memory_node.domain.geometry import Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import ArgumentKind
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.llm.open_model import ModelShelf
from memory_node.memory import RobotMemory
from memory_node.planner.planner import Planner
from memory_node.sim.execution import RobotConfig
from memory_node.sim.robot import HomeRobot
from memory_node.sim.world import World

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


@dataclass(frozen=True)
class CompilerSetting:
    """What all rows share. faults: of an executor that has to be made to err; None: it errs by itself."""

    homes: Homes
    embedder: TextEmbedder
    planner: Planner
    faults: Faults | None
    config: CompilerConfig
    compilers: tuple[str, ...]
    variants: tuple[str, ...]
    orders: int = 1
    seed: int = 0

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        """The (variant, compiler) of each row."""
        for variant in self.variants:
            if variant in OF_COMPILERS:
                yield from ((variant, name) for name in self.compilers)
            else:
                yield variant, "none"


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


class _Watched:
    """A GuidancePort that keeps account."""

    def __init__(self, guidance: Compilations, variant: str, account: Account, life: Callable[[], Life | None]) -> None:
        self._guidance = guidance
        self._variant = variant
        self._account = account
        self._life = life
        self._recent: list[TakenStep] = []
        self._episode = ""

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep | None:
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
        life = self._life()
        situation = life.situation if life is not None else None
        if guidance is not None and observation.proposed is not None and situation is not None:
            world, pose = situation
            account.guided.append(GuidedMoment(world.copy(), pose, observation.proposed, guidance.goal))
        account.copied_s += time.perf_counter() - started

    def _told(self, step: CompiledStep, episode_id: str) -> Sequence[str]:
        """Return what the executor is told at this step."""
        followed = self._guidance.of(episode_id)
        if self._variant not in (NO_STATE, STATIC) or followed is None:
            return step.lines
        guidance = step.lines[len(step.state.lines()) :] if self._variant == NO_STATE else followed.memory.lines
        return (step.state.goal, *history_lines(self._recent), *guidance)


def rows_of_household(cases: Sequence[Case], setting: CompilerSetting) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured."""
    models = ModelShelf()
    with progress_bar() as bar:
        for variant, name in setting.rows:
            task: Any = bar.add_task(f"{variant} {name}", total=len(cases) * setting.orders)
            advance = partial(bar.advance, task)
            account, trials = Account(), []
            for order in range(setting.orders):
                trials += _stream(cases, setting, variant, name, order, account, models, advance)
            yield _row(variant, name, trials, account)


def _stream(
    cases: Sequence[Case],
    setting: CompilerSetting,
    variant: str,
    name: str,
    order: int,
    account: Account,
    models: ModelShelf,
    advance: Callable[[], object],
) -> list[Trial]:
    """Carry out the cases in one shuffled order with a robot that has learnt nothing yet."""
    experience = Experience(ExperienceConfig(), ExperienceLog(), system_clock)
    others = OtherMemories(random.Random(f"{setting.seed} {order} memory"))

    def guided(memory: RobotMemory) -> GuidancePort:
        who = "rules" if variant == STATIC else name
        retrieve = retrieval_of(variant, others)(memory.guidance.retrieve)
        compiler = compiler_of(variant, who, setting.config, models)
        guidance = replace(memory.guidance, retrieve=retrieve, compiler=compiler)
        return _Watched(guidance, variant, account, lambda: lives.current)

    # A language model reads in its prompt what is given once.
    once = variant in (NONE, NO_FAULTS) or (variant == STATIC and setting.faults is None)
    lives = Lives(
        "full" if variant in (NONE, NO_FAULTS) else "full+experience",
        setting.homes,
        setting.embedder,
        setting.planner,
        experience,
        setting.faults if variant != NO_FAULTS else None,
        setting.seed,
        None if once else guided,
    )
    trials = []
    for case in shuffled(cases, setting.seed, order):
        trials.append(lives.run(case))
        advance()
    experience.close()
    return trials


def _row(variant: str, name: str, trials: Sequence[Trial], account: Account) -> dict[str, Any]:
    outcomes = [trial.result.outcome for trial in trials]
    replies = sum(outcome.cost.replies for outcome in outcomes)
    steps = replies or sum(trial.result.skills for trial in trials)
    compiled_s = sum(account.milliseconds) / 1e3
    planned_s = sum(trial.result.planning_s for trial in trials) - compiled_s - account.copied_s
    return {
        "variant": variant,
        "compiler": name,
        "tasks": len(trials),
        "success_rate": mean_of([trial.success for trial in trials]),
        "progress": round(sum(t.met for t in trials) / max(sum(t.conditions for t in trials), 1), 4),
        "executor_input_tokens": round(_input_tokens(trials, account), 1),
        "compiler_tokens": mean_of(account.compiler_tokens, 1) or 0.0,
        "executor_output_tokens": round(sum(outcome.cost.tokens_out for outcome in outcomes) / max(replies, 1), 1),
        "executor_ms": round(1e3 * planned_s / max(steps, 1), 2),
        "compiler_ms": median_of(account.milliseconds, 2) or 0.0,
        "guidance_precision": mean_of([is_precise(moment) for moment in account.guided]),
        "noaction_share": mean_of(account.nothing),
    }


def _input_tokens(trials: Sequence[Trial], account: Account) -> float:
    """Return the tokens of a prompt; an executor that cannot read takes in what memory tells it."""
    outcomes = [trial.result.outcome for trial in trials]
    replies = sum(outcome.cost.replies for outcome in outcomes)
    if replies:
        return sum(outcome.cost.tokens_in for outcome in outcomes) / replies
    return statistics.fmean(account.tokens) if account.tokens else 0.0
