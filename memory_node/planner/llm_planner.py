"""The planner that asks a language model: first goals, then calls; then memory judges the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import OFFERED
from memory_node.llm.ask import Question as ModelQuestion
from memory_node.llm.ask import ask
from memory_node.llm.chat import ChatModel, Message, ScoringModel
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LlmError, RejectedReplyError, UnsupportedError
from memory_node.llm.json_reply import json_form
from memory_node.llm.prompt_templates import prompt_templates
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.goal_schema import SaidGoals, read_said_goals
from memory_node.planner.goals_in_turn import GoalsInTurn, Part, handled_before, parts_of, with_place_before
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.language.asking_back import Question, Slot
from memory_node.planner.language.understanding import Understanding
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.model_run import ModelRun, Task
from memory_node.planner.offline_planner import SPOKEN, asked
from memory_node.planner.permitted_skills import licensed_skills, wants_pieces
from memory_node.planner.plan_audit import PlanAudit
from memory_node.planner.planner import (
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
)
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.step_chooser import RankedChoice, StepChooser
from memory_node.planner.stepwise import StepwiseRun
from memory_node.planner.whole_plan import WholePlanRun


class WithoutModel(Protocol):
    """What needs no language model: reading plain words, answering from memory, carrying on when the model fails."""

    def read(self, instruction: str, situation: PlanningContext) -> Understanding:
        """Return what an instruction asks for, or what is to be asked back."""

    def objection(self, instruction: str, goals: Sequence[Goal], situation: PlanningContext) -> str:
        """Return why goals do not fit the words of an instruction; "" where they do."""

    def achieve(self, goals: Sequence[Goal], situation: PlanningContext) -> PlanRun:
        """Yield the steps of goals; see planner.Planner."""


class LlmPlanner:
    """Plans with a language model.

    offline: reads instructions; what it cannot read the model says as goals in a schema. It asks back where words
    leave open what matters, and answers questions from memory. fallback: it carries on when the model fails before
    anything is done, and the outcome says so; else that raises. chooser_of: what chooses the calls of a task in place
    of the model; None: the model does, in its mode.
    """

    def __init__(
        self,
        model: ChatModel,
        config: LlmConfig,
        kinds: ObjectCatalogue,
        offline: WithoutModel,
        fallback: bool,
        chooser_of: Callable[[Task], StepChooser] | None = None,
    ) -> None:
        self._model = model
        self._chooser_of = chooser_of
        self._config = config
        self._kinds = kinds
        self._offline = offline
        self._fallback = fallback
        self._prompts = prompt_templates()

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        if not any(letter.isalnum() for letter in instruction):
            raise PlanningFailedError("the instruction is empty")
        read = self._offline.read(instruction, situation)
        if read.refused:
            raise PlanningFailedError(read.refused)
        if read.question is not None and read.question.slot is not Slot.COMMAND:
            return asked(read.question, situation)
        if read.goals and all(goal.kind in SPOKEN for goal in read.goals):
            return (yield from self._offline.achieve(read.goals, situation))
        return (yield from self._with_model(instruction, read, situation))

    def _with_model(self, instruction: str, read: Understanding, situation: PlanningContext) -> PlanRun:
        """Yield the steps that the model plans; where it fails before anything is done, the offline planner's."""
        account = ModelAccount()
        run: GoalsInTurn | None = None
        goals = read.goals
        try:
            goals = goals or self._said_goals(instruction, situation, account)
            if not goals:
                return account.booked(self._not_understood(read, instruction, situation), self._config)
            names = tuple(map(str, goals))
            situation.report(PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s)", names))
            run = self._in_turn(instruction, goals, situation, account)
            outcome = yield from run.run()
        except LlmError as error:
            if not self._fallback or (run is not None and run.begun):
                took = account.booked(PlanOutcome((instruction,), (False,), planner="llm"), self._config)
                raise PlanningFailedError(f"the language model gave no plan: {error}", took) from error
            text = f"the language model failed ({error}); the offline planner carries on instead"
            situation.report(PlanProgress(ProgressKind.NOTE, text))
            if not goals:
                return account.booked(self._not_understood(read, instruction, situation), self._config)
            outcome = yield from self._offline.achieve(goals, situation)
            outcome = replace(outcome, planner=f"{outcome.planner} (fallback)")
        return account.booked(outcome, self._config)

    def _not_understood(self, read: Understanding, instruction: str, situation: PlanningContext) -> PlanOutcome:
        """Ask the person: without goals no call could be checked."""
        unclear = Question(f"I did not understand {instruction[:60]!r}. What shall I do with which thing?")
        return asked(read.question or unclear, situation)

    def _said_goals(self, instruction: str, situation: PlanningContext, account: ModelAccount) -> tuple[Goal, ...]:
        """Return what is asked for. The model is told the instruction alone: nothing in memory can change the goals.

        Raises:
            LlmError: the model gave no reply.
        """
        prompt = self._prompts.get_template("planner_goals.j2").render(kinds=OFFERED, instruction=instruction)
        repair = self._prompts.get_template("planner_goals_repair.j2")

        def audited(text: str) -> tuple[Goal, ...]:
            goals = read_said_goals(text, self._kinds)
            why = self._offline.objection(instruction, goals, situation)
            if why:
                raise RejectedReplyError("not_said", why)
            return goals

        question = ModelQuestion(
            (Message("user", prompt),),
            audited,
            lambda error: repair.render(error=error),
            json_form(SaidGoals),
        )
        config = self._config
        try:
            goals = ask(self._model, question, Deadline(config.timeout_s), config.max_repairs, on_reply=account.charge)
        except RejectedReplyError as error:
            why = f"nobody can say what the goals are: {error}"
            situation.report(PlanProgress(ProgressKind.NOTE, why))
            return ()
        account.valid += 1
        return goals

    def _in_turn(
        self, instruction: str, goals: Sequence[Goal], situation: PlanningContext, account: ModelAccount
    ) -> GoalsInTurn:
        """Return the run of an instruction's goals: all at once where the model writes whole plans, else one by one."""
        conversation = situation.conversation
        whole = [Part(instruction, tuple(goals), 0, conversation.completed)]
        parts = whole if self._mode == "plan" else parts_of(instruction, goals, conversation.completed)

        def open_part(part: Part) -> tuple[Task, ModelRun]:
            task = self._task(part, situation, account)
            return task, self._run(task)

        return GoalsInTurn(parts, open_part, conversation)

    def _task(self, part: Part, situation: PlanningContext, account: ModelAccount) -> Task:
        conversation = situation.conversation
        handled = handled_before(part.goals, conversation, self._kinds)
        goals, places = with_place_before(part.goals, conversation, self._kinds)
        present = frozenset(found.class_name for found in situation.scene().objects if not found.removed)
        about = self._about(part.words, goals, present)
        skills = tuple(skill for skill in licensed_skills(goals, self._kinds) if skill.name in situation.skills)
        episode, again = situation.world(self._kinds), handled.again | places
        world = KnownWorld(episode, about, skills, self._config.things, self._config.brief, again)
        return Task(
            part.words,
            goals,
            situation,
            world,
            self._config,
            self._prompts,
            account,
            PlanAudit(goals, self._kinds),
            part.first,
            part.completed,
            handled.others,
            handled.meant | places,
        )

    def _about(self, instruction: str, goals: Sequence[Goal], present: Collection[str]) -> tuple[str, ...]:
        """Return the classes that the instruction speaks of: those of the goals first, then whatever it names.

        present: the classes that memory knows of in this home.
        """
        found: dict[str, None] = {}
        for goal in goals:
            for mention in filter(None, (goal.target, goal.destination, goal.container, goal.light)):
                found.update(dict.fromkeys(self._meant_by(mention, present)))
        if any(wants_pieces(goal, self._kinds) for goal in goals):
            found.update(dict.fromkeys(filter(None, [self._kinds[name].slices for name in found])))
        for names in self._kinds.spoken_names.named_in(instruction):
            if found.keys().isdisjoint(names):
                found[names[0]] = None
        return tuple(found)

    def _meant_by(self, mention: Mention, present: Collection[str]) -> Sequence[str]:
        """Return the classes that a part of a goal may stand for in this home; its likeliest where none is there."""
        here = [name for name in mention.candidates if name in present]
        # Another kind of table may be meant, but no other thing to take.
        if here or any(self._kinds[name].pickupable for name in mention.candidates):
            return here or mention.candidates[:1]
        alike = [name for name in sorted(self._kinds.alike(mention.candidates)) if name in present]
        return alike or mention.candidates[:1]

    @property
    def _mode(self) -> str:
        """The way to choose calls; one call at a time where somebody else chooses them."""
        if self._chooser_of is not None:
            return "rank"
        automatic = "rank" if self._config.in_process else "plan"
        return self._config.mode if self._config.mode != "auto" else automatic

    def _run(self, task: Task) -> ModelRun:
        model = self._model
        if self._chooser_of is not None:
            return StepwiseRun(task, self._chooser_of(task))
        if self._mode == "plan":
            return WholePlanRun(task, model, self._kinds)
        if not isinstance(model, ScoringModel):
            raise UnsupportedError(f"llm.mode rank: {model.name} tells no likelihoods")
        return StepwiseRun(task, RankedChoice(model))
