"""The planner of the rows `rank` and `chance-valued`: goals are read by the grammar, calls are chosen one by one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.likelihood.scoring import scoring_model
from benchmarks.model_figures import RANK
from benchmarks.ranking.choosing import RULED_OUT, Choice, RankedChoice, StepChooser
from benchmarks.ranking.ranked_world import RankedWorld
from benchmarks.ranking.stepwise import StepwiseRun
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.ask import prompt_templates
from memory_node.llm.chat import Deadline, LlmError, Message
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.task import Task
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import GoalHistory
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.offline_planner import SPOKEN, OfflinePlanner, asked
from memory_node.planner.open_planner import open_planner
from memory_node.planner.permitted_skills import licensed_skills, wants_pieces
from memory_node.planner.planner import (
    Planner,
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
)
from memory_node.planner.planner_config import LlmConfig, PlannerConfig
from memory_node.planner.reading.conversation import Question, Slot

_PROMPTS = Path(__file__).parent / "prompts"
# What chance comes to among the calls that the world model values.
VALUED = "chance-valued"
# Things that the prompt names at most.
THINGS = 30


class RankedPlanner:
    """Lets a chooser take each call among those that can be made. offline: reads instructions."""

    def __init__(
        self, offline: OfflinePlanner, kinds: ObjectCatalogue, config: LlmConfig, chooser: StepChooser
    ) -> None:
        self._offline = offline
        self._kinds = kinds
        self._config = config
        self._chooser = chooser
        self._prompts = prompt_templates(folder=_PROMPTS)

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        read = self._offline.read(instruction, situation)
        if read.refused:
            raise PlanningFailedError(read.refused)
        if read.question is not None and read.question.slot is not Slot.COMMAND:
            return asked(read.question, situation)
        goals = read.goals
        if not goals:
            return asked(read.question or Question("What shall I do with which thing?"), situation)
        if all(goal.kind in SPOKEN for goal in goals):
            return (yield from self._offline.achieve(goals, situation))
        account = ModelAccount()
        try:
            outcome = yield from self._chosen(instruction, goals, situation, account)
        except LlmError as error:
            took = account.booked(PlanOutcome((instruction,), (False,), planner="rank"), self._config)
            raise PlanningFailedError(f"no call was chosen: {error}", took) from error
        return account.booked(outcome, self._config)

    def _chosen(
        self, instruction: str, goals: Sequence[Goal], situation: PlanningContext, account: ModelAccount
    ) -> PlanRun:
        names = tuple(map(str, goals))
        situation.report(PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s)", names))
        skills = tuple(skill for skill in licensed_skills(goals, self._kinds) if skill.name in situation.skills)
        world = RankedWorld(situation.world(self._kinds), self._about(goals, situation), THINGS, skills=skills)
        history = GoalHistory(goals, self._kinds)
        task = Task(instruction, tuple(goals), situation, world, self._config, self._prompts, account, history)
        ended = yield from StepwiseRun(task, world, self._chooser).steps()
        unmet = task.judged().reasons
        reasons = [f"{goal}: {reason}" for goal, reason in zip(goals, unmet) if reason]
        failures = (*reasons, ended) if reasons and ended else tuple(reasons)
        return PlanOutcome(names, tuple(not one for one in unmet), failures, planner="rank", pursued=tuple(goals))

    def _about(self, goals: Sequence[Goal], situation: PlanningContext) -> tuple[str, ...]:
        """Return the classes that goals speak of: those that memory knows in this home, else the likeliest."""
        present = {found.class_name for found in situation.scene().objects if not found.removed}
        found: dict[str, None] = {}
        for mention in (mention for goal in goals for mention in goal.mentions):
            here = [name for name in mention.candidates if name in present]
            alike = [name for name in sorted(self._kinds.alike(mention.candidates)) if name in present]
            is_taken = any(self._kinds[name].pickupable for name in mention.candidates)
            found.update(dict.fromkeys(here or ([] if is_taken else alike) or mention.candidates[:1]))
        if any(wants_pieces(goal, self._kinds) for goal in goals):
            found.update(dict.fromkeys(filter(None, [self._kinds[name].slices for name in found])))
        return tuple(found)


class RandomChoice:
    """A StepChooser that picks among the calls that are valued at all."""

    thinks = False

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Pick one; see StepChooser."""
        chosen = self._random.choice([text for text, value in values.items() if value > RULED_OUT] or list(values))
        return Choice(chosen, chosen)


def open_bench_planner(
    name: str,
    mode: str,
    embedder: TextEmbedder,
    config: PlannerConfig,
    fallback: bool,
    asks: bool = True,
    seed: str = "0",
    kinds: ObjectCatalogue | None = None,
) -> Planner:
    """Return a planner of the product, or of the rows that choose call by call: `llm` in the mode `rank`, and chance.

    Raises:
        InvalidValueError: see open_planner and open_ranking.
    """
    is_chance = name == VALUED
    if not is_chance and (name != "llm" or mode != RANK):
        return open_planner(name, embedder, config, kinds, fallback=fallback, asks=asks)
    chooser = RandomChoice(seed) if is_chance else open_ranking(config.llm)
    offline = open_planner("offline", embedder, config, kinds, asks=asks)
    assert isinstance(offline, OfflinePlanner)
    return RankedPlanner(offline, kinds or load_catalogue(), config.llm, chooser)


def open_ranking(config: LlmConfig) -> RankedChoice:
    """Return the choice by likelihood.

    Raises:
        InvalidValueError: the model is behind an endpoint, which tells no likelihoods.
    """
    return RankedChoice(scoring_model(ModelShelf().open(config), "--mode rank"))
