"""Pursues the goals of one instruction one after the other, as if a person gave them one by one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillResult
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.model_run import ModelRun, Task
from memory_node.planner.planner import PlannedStep, PlanOutcome, PlanProgress, ProgressKind
from memory_node.world.state import Thing

# Skills that bring the robot to a thing and leave it as it is.
_ONLY_REACH = frozenset({"Explore", "GoToObject"})


@dataclass(frozen=True)
class Part:
    """Goals that are pursued in one dialogue. words: that ask for them. first: the index of its first goal among all
    of the instruction's. completed: what was done before, in words."""

    words: str
    goals: tuple[Goal, ...]
    first: int = 0
    completed: str = ""


def parts_of(instruction: str, goals: Sequence[Goal], completed: str) -> list[Part]:
    """Return an instruction's goals one by one. completed: the instruction before."""
    if len(goals) < 2:
        return [Part(instruction, tuple(goals), 0, completed)]
    words = [goal.text or instruction for goal in goals]
    before = [completed, *words]
    return [Part(words[index], (goal,), index, before[index]) for index, goal in enumerate(goals)]


@dataclass(frozen=True)
class Handled:
    """Identities of things that were handled before. again: that words may mean once more; others: that "another" rules
    out; meant: that "it" stands for."""

    again: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    meant: frozenset[str] = frozenset()


def with_place_before(
    goals: tuple[Goal, ...], conversation: Conversation, kinds: ObjectCatalogue
) -> tuple[tuple[Goal, ...], frozenset[str]]:
    """Return the goal of a part with the place where its target was before, if it asks for that and it is known, and
    that place's identities. Several goals in one part stay as they are: one may move the thing for another."""
    goal = goals[0]
    if len(goals) > 1 or goal.destination is None or not goal.destination.original_place:
        return goals, frozenset()
    place = conversation.places.get(kinds.whole(goal.target.object_class))
    if place is None:
        return goals, frozenset()
    return (goal.changed(destination=Mention(place.object_class, (place.object_class,))),), place.identities


def handled_before(goals: Sequence[Goal], conversation: Conversation, kinds: ObjectCatalogue) -> Handled:
    """Return what was handled in a conversation, as these goals speak of it."""
    others: set[str] = set()
    meant: set[str] = set()
    for goal in goals:
        ids = {one for name in goal.target.candidates for one in conversation.handled.get(kinds.whole(name), ())}
        others |= ids if goal.target.another else set()
        meant |= ids if goal.target.referring and not goal.target.another else set()
    every = {one for ids in conversation.handled.values() for one in ids}
    return Handled(frozenset(every - others), frozenset(others), frozenset(meant))


class GoalsInTurn:
    """The parts of one instruction. Each is judged when it ends: a later one may undo what an earlier one was to do.

    open_part: begins the dialogue of a part. begun: whether the robot has done anything.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        open_part: Callable[[Part], tuple[Task, ModelRun]],
        conversation: Conversation,
    ) -> None:
        self.begun = False
        self._parts = parts
        self._open_part = open_part
        self._conversation = conversation
        self._placed: set[str] = set()  # classes of things whose first place in this instruction is noted

    def run(self) -> Generator[PlannedStep, SkillResult, PlanOutcome]:
        """Yield the steps of all parts; what becomes of one does not keep the next from being tried.

        Raises:
            LlmError: the model said nothing that can be used.
        """
        names: list[str] = []
        achieved: list[bool] = []
        failures: list[str] = []
        for number, part in enumerate(self._parts, 1):
            task, run = self._open_part(part)
            if len(self._parts) > 1:
                text = f"goal {number} of {len(self._parts)}: {part.goals[0]}"
                task.situation.report(PlanProgress(ProgressKind.PLAN, text))
            ended = yield from self._steps(task, run)
            unmet = task.judged().reasons
            names += map(str, part.goals)
            achieved += [not reason for reason in unmet]
            reasons = [f"{goal}: {reason}" for goal, reason in zip(part.goals, unmet) if reason]
            failures += [*reasons, ended] if reasons and ended else reasons
        pursued = tuple(goal for part in self._parts for goal in part.goals)
        return PlanOutcome(tuple(names), tuple(achieved), tuple(failures), planner="llm", pursued=pursued)

    def _steps(self, task: Task, run: ModelRun) -> Generator[PlannedStep, SkillResult, str]:
        """Yield the steps of one part; return why it ended early, "" for not."""
        steps = run.steps()
        try:
            step = next(steps)
            while True:
                things = list(filter(None, map(task.world.thing_of, step.call.arguments)))
                places = [_place_of(thing, task) for thing in things]
                result = yield replace(step, goal_index=step.goal_index + task.first_goal)
                self.begun = True
                if result.success and step.call.skill not in _ONLY_REACH:
                    self._note_handled(task, things, places)
                step = steps.send(result)
        except StopIteration as stop:
            ended: str = stop.value
            return ended

    def _note_handled(self, task: Task, things: Sequence[Thing], places: Sequence[Thing | None]) -> None:
        """Remember which things of the goals they were, which "it" and "the plate" mean from then on, and what each was
        in or on before this instruction."""
        kinds = task.world.kinds
        named = {name for goal in task.goals for mention in goal.mentions for name in mention.candidates}
        about = set(map(kinds.whole, named))
        for thing, place in zip(things, places):
            whole = kinds.whole(thing.object_class)
            if whole in about:
                self._conversation.handled.setdefault(whole, set()).update(thing.identities)
                if whole not in self._placed:
                    self._placed.add(whole)
                    self._conversation.places.pop(whole, None)
                    self._conversation.places |= {whole: place} if place is not None else {}


def _place_of(thing: Thing, task: Task) -> Thing | None:
    """Return what memory holds a thing to be in or on."""
    return task.world.things.get(task.world.state.container_of(thing.id))
