"""The planner of the rows `rank`, `chance-valued` and `chance`: one call at a time, chosen with the results so far."""

from __future__ import annotations

import random
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.likelihood import scoring_model
from benchmarks.model_figures import RANK
from benchmarks.ranking.choosing import DONE, RULED_OUT, Choice, RankedChoice, StepChooser
from benchmarks.ranking.ranked_world import GoalNeeds, RankedWorld, SettledThings
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.context import ContextSource
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.llm.ask import prompt_templates
from memory_node.llm.chat import Deadline, LlmError, Message
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.agent.task import Task
from memory_node.planner.goal import UNTOLD, Goal, GoalHistory, Judgement
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.offline_planner import SPOKEN, OfflinePlanner, asked
from memory_node.planner.open_planner import open_planner
from memory_node.planner.permitted_skills import LoopGuard, PlanAudit, licensed_skills, wants_pieces
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
)
from memory_node.planner.planner_config import LlmConfig, ModelAccount, PlannerConfig
from memory_node.planner.reading.conversation import Question, Slot
from memory_node.world.skills import remedy_of
from memory_node.world.state import Thing, WorldState

# Skills that turn to a thing before anything is done with it, for a hand that is empty and for one that is not. An
# empty hand may open in advance what something is to be put into.
_TURNS_EMPTY = frozenset({"GoToObject", "PickupObject"})
_TURNS_FULL = frozenset({"GoToObject", "OpenObject", "CloseObject"})


def fulfils(call: SkillCall, goal: Goal, state: WorldState) -> bool:
    """Return whether a call that can be made now does what a goal asks for, or the last but one part of it."""
    things, needs = [state.named(argument) for argument in call.arguments], GoalNeeds(goal, state)
    subject, place = (things[0], things[-1]) if things else (None, None)
    if subject is None or place is None:
        return False
    if call.skill == "PutObject":
        return needs.puts(subject, place)
    if call.skill == "SliceObject":
        return needs.is_cut(subject)
    if goal.kind is GoalKind.EXAMINE and call.skill in ("SwitchOn", "ToggleOn"):
        return needs.is_light(subject)
    return call.skill in GOALS[goal.kind].skills and needs.is_target(subject)


def is_in_vain(call: SkillCall, goals: Collection[Goal], state: WorldState) -> bool:
    """Return whether a call serves none of the goals that are not met: it looks for what none of them is about, turns
    to what has no part in any, shuts away what one needs, or puts down elsewhere what one needs in the hand. What frees
    the hand of anything else is not in vain."""
    needs = [GoalNeeds(goal, state) for goal in goals]
    if call.skill == "Explore":
        return not any(one.names(call.arguments[0]) for one in needs)
    subject, held = (
        state.named(call.arguments[0]) if call.arguments else None,
        state.things.get(state.held or ""),
    )
    if subject is None:
        return False
    if held is None:
        return _is_in_vain_for_an_empty_hand(call.skill, subject, needs)
    if not any(one.keeps_in_hand(held) for one in needs):
        return False
    if call.skill == "PutObject":
        place = state.named(call.arguments[-1])
        return place is not None and not any(_takes(place, held, one) for one in needs)
    return call.skill in _TURNS_FULL and not any(_goes_on_at(subject, held, one) for one in needs)


def _is_in_vain_for_an_empty_hand(skill: str, subject: Thing, needs: Collection[GoalNeeds]) -> bool:
    if skill == "CloseObject":
        return any(one.shuts_away(subject) for one in needs)
    return skill in _TURNS_EMPTY and not any(one.has_part(subject) or one.may_hide(subject) for one in needs)


def _goes_on_at(subject: Thing, held: Thing, needs: GoalNeeds) -> bool:
    """Return whether there is something to do for a goal at a thing, or in it, with another in the hand."""
    if not needs.carries(held):
        return needs.has_part(subject)
    return any(_takes(one, held, needs) or needs.is_light(one) for one in needs.with_contents(subject))


def _takes(place: Thing, held: Thing, needs: GoalNeeds) -> bool:
    """Return whether a goal wants a thing in or on some place: to stay, or to be treated there."""
    return needs.puts(held, place) or needs.treats_at(place)


# What an end is worth while memory holds that a goal is not met. It may be wrong, so the end stays a choice.
_DOUBTED = 0.01
# What the other calls are worth while one can be made that does what a goal asks for.
_INSTEAD = 0.2


# Returns why it ended early, "" where nobody objects to the end.
Steps = Generator[PlannedStep, SkillResult, str]


class StepwiseRun:
    """The goals of one instruction. The dialogue only grows, so a model that keeps prompts reads each word once.

    world: that of the task. begun: whether the robot has done anything.
    """

    def __init__(self, task: Task, world: RankedWorld, chooser: StepChooser) -> None:
        self.begun = False
        self._task = task
        self._world = world
        self._audit = PlanAudit(task.goals, world.kinds)
        self._chooser = chooser
        self._lookup = MemoryLookup(task.situation)
        self._loop_guard = LoopGuard()
        self._asked: set[str] = set()
        self._messages: list[Message] = []
        self._context_id = ""
        self._told_unmet: tuple[str, ...] = ()  # what memory holds against an end that the model has just said
        self._replans = 0

    def steps(self) -> Steps:
        """Yield steps until Done() is chosen and memory does not object; return why it ended early, "" for not."""
        self._open_dialogue()
        task = self._task
        config = task.config
        for _ in range(config.max_steps):
            call = self._chosen()
            if call is None:
                unmet = self._task.judged().unmet
                if not unmet or not self._may_replan():
                    return ""
                self._say_result(None, unmet)
                continue
            result = yield PlannedStep(self._prepared(call), context_id=self._context_id)
            self.begun = True
            # Explore was given places to look at, which the model did not choose.
            result = replace(result, call=call)
            self._task.follow(result)
            self._lookup.note_step()
            if not result.success and (result.reason is FailureReason.CANCELED or not self._may_replan()):
                return described(result)
            self._say_result(result, ())
        return f"not finished within {config.max_steps} steps"

    def _may_replan(self) -> bool:
        """Return whether the dialogue may go on after a failure, and count it."""
        if self._replans >= self._task.config.max_replans:
            return False
        self._replans += 1
        self._task.account.replans += 1
        return True

    def _open_dialogue(self) -> None:
        task, world = self._task, self._world
        # Where things are is told thing by thing, under the names that calls use.
        context = task.situation.context(task.instruction, task.config.context_budget, {ContextSource.EXPERIENCE})
        self._context_id = context.id
        task.refresh()
        told = task.prompt(
            "task.j2",
            memory=context.text,
            things=world.lines(),
            unknown=world.unknown_classes(),
            held=world.held,
            instruction=task.instruction,
            goals=tuple(map(str, task.goals)),
        )
        system = Message("system", task.prompt("system.j2", skills=world.skills))
        self._messages = [system, *self._example(), Message("user", told.strip())]

    def _example(self) -> list[Message]:
        """Return a worked example as turns. It stands before all that differs, so a model reads it once."""
        turns = self._task.prompt("example.j2").split("\n---\n")
        return [Message("assistant" if number % 2 else "user", turn.strip()) for number, turn in enumerate(turns)]

    def _chosen(self) -> SkillCall | None:
        """Return the next call for the robot; None: the model holds that all is done."""
        task = self._task
        offered = self._world.admissible()
        judged = task.judged()
        if not self._chooser.is_valued:
            values = dict.fromkeys((*(offered if judged.unmet else ()), DONE), 1.0)
            return offered.get(self._choice(values).call)
        calls = {
            text: call
            for text, call in offered.items()
            if not self._objection(call) and not self._loop_guard.holds(call)
        }
        first = self._world.to_open_first(calls)
        calls = first or self._serving(calls, judged)
        worth = self._worth_to_goals(calls, judged)
        settled = frozenset().union(*map(SettledThings(self._world.episode.state).of, task.history.lasting))
        values = {text: self._world.value(call, settled) * worth[text] for text, call in calls.items()}
        if not (first and judged.unmet):
            values[DONE] = self._value_of_end(judged)
        return calls.get(self._choice(values).call)

    def _choice(self, values: Mapping[str, float]) -> Choice:
        task = self._task
        choice = self._chooser.choose(self._messages, values, task.account, Deadline(task.config.timeout_s))
        self._messages.append(Message("assistant", choice.reply))
        text = f"{choice.call}  # {choice.reasoning}" if choice.reasoning else choice.call
        task.situation.report(PlanProgress(ProgressKind.PLAN, text))
        return choice

    def _unmet(self, judged: Judgement) -> list[Goal]:
        """Return the goals that are not met, or of which memory cannot tell."""
        reasons = zip(self._task.goals, judged.reasons)
        return [goal for goal, reason in reasons if reason or goal.kind in UNTOLD]

    def _serving(self, calls: dict[str, SkillCall], judged: Judgement) -> dict[str, SkillCall]:
        """Return those of some calls that may serve a goal that is not met. Memory may be wrong, so all stay a choice
        where there is none."""
        goals, state = self._unmet(judged), self._task.world.state
        return {text: call for text, call in calls.items() if goals and not is_in_vain(call, goals, state)} or calls

    def _worth_to_goals(self, calls: Mapping[str, SkillCall], judged: Judgement) -> dict[str, float]:
        """Return a factor on the value of each of some calls by what it does for the goals that are not met."""
        goals, state = self._unmet(judged), self._task.world.state
        due = {text for text, call in calls.items() if any(fulfils(call, goal, state) for goal in goals)}
        return {text: _INSTEAD if due and text not in due else 1.0 for text in calls}

    def _value_of_end(self, judged: Judgement) -> float:
        """Return memory's value of an end now, in (0, 1]: none while nothing was done, or since memory objected."""
        if not judged.unmet:
            return 1.0
        return _DOUBTED if self.begun and not self._told_unmet else RULED_OUT

    def _objection(self, call: SkillCall) -> str:
        thing = self._task.world.state.named(call.arguments[0]) if call.arguments else None
        return self._audit.objection(call, thing.object_class if thing is not None else "")

    def _prepared(self, call: SkillCall) -> SkillCall:
        """Ask memory for what a call names, each thing once; give Explore its likeliest places."""
        if call.skill == "Explore":
            object_class = call.arguments[0]
            self._lookup.locate(object_class)
            return SkillCall("Explore", (object_class, *self._lookup.search_stops(object_class)))
        for reference in call.arguments:
            thing = self._task.world.state.named(reference)
            if thing is not None and thing.id not in self._asked and thing.id != self._task.world.held:
                self._asked.add(thing.id)
                self._lookup.locate(thing.object_class)
        return call

    def _say_result(self, result: SkillResult | None, unmet: Sequence[str]) -> None:
        task = self._task
        self._told_unmet = tuple(unmet)
        before = set(task.world.lines())
        task.refresh()
        if result is not None:
            self._loop_guard.note(result.call, task.world.unmoved)
        failed = result if result is not None and not result.success else None
        text = task.prompt(
            "result.j2",
            reason=str(failed.reason) if failed is not None else "",
            remedy=remedy_of(failed.call, failed.reason) if failed is not None else "",
            unmet=unmet,
            news=[line for line in task.world.lines() if line not in before],
            held=task.world.held,
        )
        self._messages.append(Message("user", text.strip()))


def described(failed: SkillResult) -> str:
    """Return a failed skill in words."""
    return f"{failed.call} failed: {failed.reason} {failed.message}".rstrip()


_PROMPTS = Path(__file__).parent / "prompts"
# What chance comes to among the calls that can be made, and among those that the world model values.
CHANCE, VALUED = "chance", "chance-valued"
BY_CHANCE = (CHANCE, VALUED)
# So often each of them plays everything; its rows are means.
SEEDS = 5
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
    """A StepChooser that picks among the calls that are valued at all; is_valued: see StepChooser."""

    thinks = False

    def __init__(self, seed: str, is_valued: bool = True) -> None:
        self._random = random.Random(seed)
        self.is_valued = is_valued

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
    is_chance = name in BY_CHANCE
    if not is_chance and (name != "llm" or mode != RANK):
        return open_planner(name, embedder, config, kinds, fallback=fallback, asks=asks)
    chooser = RandomChoice(seed, name == VALUED) if is_chance else open_ranking(config.llm)
    offline = open_planner("offline", embedder, config, kinds, asks=asks)
    assert isinstance(offline, OfflinePlanner)
    return RankedPlanner(offline, kinds or load_catalogue(), config.llm, chooser)


def open_ranking(config: LlmConfig) -> RankedChoice:
    """Return the choice by likelihood.

    Raises:
        InvalidValueError: the model is behind an endpoint, which tells no likelihoods.
    """
    return RankedChoice(scoring_model(ModelShelf().open(config), "--mode rank"))
