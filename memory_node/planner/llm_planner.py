"""The planner that asks a language model: goals first, then calls, then memory judges what came of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import jinja2

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import KINDS
from memory_node.domain.resources import resource_path
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Message, ScoringModel
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LlmError, RejectedReplyError
from memory_node.llm.json_reply import json_form
from memory_node.planner.asked_skills import licensed_skills
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import GoalCheck
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.model_run import ModelRun, Task
from memory_node.planner.plan_audit import PlanAudit
from memory_node.planner.planner import (
    Planner,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
    Situation,
)
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.said_goals import SaidGoals, read_said_goals
from memory_node.planner.step_chooser import RankedChoice, StepChooser, WrittenChoice
from memory_node.planner.stepwise import StepwiseRun
from memory_node.planner.whole_plan import WholePlanRun

# Returns the goals of an instruction, () where it does not follow it.
GoalReader = Callable[[str, Situation], tuple[Goal, ...]]


class LlmPlanner:
    """Plans with a language model.

    read_goals: reads instructions without a model; where it cannot, the model says the goals in a schema. fallback:
    carries on when the model fails before anything is done, and the outcome says so; None raises.
    """

    def __init__(
        self,
        model: ChatModel,
        config: LlmConfig,
        kinds: ObjectCatalogue,
        read_goals: GoalReader,
        fallback: Planner | None,
    ) -> None:
        self._model = model
        self._config = config
        self._kinds = kinds
        self._read_goals = read_goals
        self._fallback = fallback
        loader = jinja2.FileSystemLoader(str(resource_path("config/prompts")))
        self._prompts = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True)

    def carry_out(self, instruction: str, situation: Situation) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        if not any(letter.isalnum() for letter in instruction):
            raise PlanningFailedError("the instruction is empty")
        account = ModelAccount()
        run: ModelRun | None = None
        try:
            goals = self._goals(instruction, situation, account)
            names = tuple(map(str, goals))
            situation.report(PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s)", names))
            run = self._run(self._task(instruction, goals, situation, account))
            failure = yield from run.steps()
            outcome = self._judged(instruction, goals, failure, situation)
        except LlmError as error:
            if self._fallback is None or (run is not None and run.begun):
                took = account.booked(PlanOutcome((instruction,), (False,), planner="llm"), self._config)
                raise PlanningFailedError(f"the language model gave no plan: {error}", took) from error
            text = f"the language model failed ({error}); the offline planner carries on instead"
            situation.report(PlanProgress(ProgressKind.NOTE, text))
            outcome = yield from self._fallback.carry_out(instruction, situation)
            outcome = replace(outcome, planner=f"{outcome.planner} (fallback)")
        return account.booked(outcome, self._config)

    def _goals(self, instruction: str, situation: Situation, account: ModelAccount) -> tuple[Goal, ...]:
        """Return what is asked for. The model is told the instruction alone: nothing in memory can change the goals.

        Raises:
            LlmError: the model gave no reply.
        """
        goals = self._read_goals(instruction, situation)
        if goals:
            return goals
        prompt = self._prompts.get_template("planner_goals.j2").render(kinds=KINDS, instruction=instruction)
        repair = self._prompts.get_template("planner_goals_repair.j2")
        question = Question(
            (Message("user", prompt),),
            lambda text: read_said_goals(text, self._kinds),
            lambda error: repair.render(error=error),
            json_form(SaidGoals),
        )
        config = self._config
        try:
            goals = ask(self._model, question, Deadline(config.timeout_s), config.max_repairs, on_reply=account.charge)
        except RejectedReplyError as error:
            situation.report(PlanProgress(ProgressKind.NOTE, f"nobody can say what the goals are: {error}"))
            return ()
        account.valid += 1
        return goals

    def _task(self, instruction: str, goals: Sequence[Goal], situation: Situation, account: ModelAccount) -> Task:
        present = frozenset(found.class_name for found in situation.memory.scene().objects if not found.removed)
        about = self._about(instruction, goals, present)
        skills = tuple(skill for skill in licensed_skills(goals) if skill.name in situation.skills)
        world = KnownWorld(self._kinds, about, skills, self._config.things)

        def unmet() -> tuple[str, ...]:
            return tuple(filter(None, self._unmet(goals, situation)))

        audit = PlanAudit(tuple(goals), self._kinds)
        return Task(instruction, situation, world, self._config, self._prompts, account, audit, unmet)

    def _about(self, instruction: str, goals: Sequence[Goal], present: Collection[str]) -> tuple[str, ...]:
        """Return the classes that the instruction speaks of: those of the goals first, then whatever it names.

        present: the classes that memory knows of in this home.
        """
        mentions = [one for goal in goals for one in (goal.target, goal.destination, goal.container, goal.light) if one]
        found: dict[str, None] = {}
        for mention in mentions:
            here = [name for name in mention.candidates if name in present]
            likened = [name for name in sorted(self._kinds.alike(mention.candidates)) if name in present]
            # A table of another kind may be meant; something else to take may not.
            instead = [] if any(self._kinds[name].pickupable for name in mention.candidates) else likened
            found.update(dict.fromkeys(here or instead or mention.candidates[:1]))
        words = instruction.lower().replace(",", " ").split()
        for end in range(1, len(words) + 1):
            called = self._kinds.spoken_names.classes(" ".join(words[max(0, end - 3) : end]).strip(".!?;:\"'"))
            found.update(dict.fromkeys(called[:1]))
        return tuple(found)

    def _run(self, task: Task) -> ModelRun:
        config, model = self._config, self._model
        mode = config.mode if config.mode != "auto" else "rank" if config.in_process else "plan"
        if mode == "plan":
            return WholePlanRun(task, model, self._kinds)
        if mode == "rank" and isinstance(model, ScoringModel):
            chooser: StepChooser = RankedChoice(model)
        else:
            chooser = WrittenChoice(
                model,
                config.max_repairs,
                lambda error: task.prompt("planner_step_repair.j2", error=error),
                lambda text: task.situation.report(PlanProgress(ProgressKind.NOTE, f"the call was sent back: {text}")),
            )
        return StepwiseRun(task, chooser)

    def _judged(self, instruction: str, goals: Sequence[Goal], failure: str, situation: Situation) -> PlanOutcome:
        """Return what came of it, by memory. Without known goals nothing is verified: no failure proves little."""
        if not goals:
            reasons = [failure] if failure else []
            return PlanOutcome((instruction,), (not failure,), tuple(reasons), planner="llm", verified=False)
        unmet = self._unmet(goals, situation)
        reasons = [f"{goal}: {reason}" for goal, reason in zip(goals, unmet) if reason]
        if reasons and failure:
            reasons.append(failure)
        achieved = tuple(not reason for reason in unmet)
        return PlanOutcome(tuple(map(str, goals)), achieved, tuple(reasons), planner="llm")

    def _unmet(self, goals: Sequence[Goal], situation: Situation) -> tuple[str, ...]:
        """Return what of each goal is not so, "" for one that is met."""
        check = GoalCheck(situation.memory.scene(), situation.held_class, self._kinds)
        return tuple(map(check.unmet, goals))
