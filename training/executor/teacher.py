"""The offline planner as a teacher: the language model's planner runs, and the offline planner chooses its calls.

So each prompt is exactly the one that the model gets when it chooses itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS, Predicate
from memory_node.llm.chat import Message, Reply
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LlmError
from memory_node.planner.llm_planner import LlmPlanner
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.model_run import Task
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import PlanningContext, PlanningFailedError, PlanOutcome, PlanRun
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.step_chooser import DONE, Choice
from memory_node.world.state import Thing

# Skills for random calls before the teacher begins: only those that can be undone.
_HARMLESS = ("GoToObject", "PickupObject")

# A remembered thing moves by less than this between two looks (m).
_SAME_M = 0.3


class TeacherLostError(LlmError):
    """The teacher's next call is none that the model could choose."""


@dataclass(frozen=True)
class TaughtStep:
    """What the model is told at one step, and the call that the teacher chose. learnt: it is right to choose that."""

    messages: tuple[Message, ...]
    call: str
    learnt: bool = True


@dataclass
class Lesson:
    """The steps of one instruction. complete: the teacher came to the end, and memory holds that all is done."""

    steps: list[TaughtStep] = field(default_factory=list)
    complete: bool = False


class Expert:
    """The offline planner's steps, taken one by one."""

    def __init__(self, run: PlanRun) -> None:
        self._run = run
        self._call: SkillCall | None = None

    def next_call(self, before: SkillResult | None) -> SkillCall | None:
        """Return the next call; before: what came of the last one, None at first. None: all is achieved.

        Raises:
            TeacherLostError: the planner gave up.
        """
        try:
            if self._call is None or before is None:
                step = next(self._run)
            else:
                step = self._run.send(replace(before, call=self._call))
        except StopIteration as stop:
            outcome: PlanOutcome = stop.value
            if not outcome.success:
                raise TeacherLostError("the teacher did not achieve all") from stop
            return None
        except PlanningFailedError as error:
            raise TeacherLostError(str(error)) from error
        self._call = step.call
        return step.call


class DictatedChoice:
    """A StepChooser that takes the teacher's calls. strays: harmless calls at random before the first of them."""

    thinks = False

    def __init__(self, task: Task, expert: Expert, lesson: Lesson, strays: int, chance: random.Random) -> None:
        self.result: SkillResult | None = None  # of the teacher's last call
        self._world = task.world
        self._seen: dict[str, ObjectReference] = {}  # by the robot's own id: where a skill has left it
        self._memory_ids = task.situation.memory_ids
        self._expert = expert
        self._lesson = lesson
        self._strays = strays
        self._chance = chance

    def choose(
        self, messages: Sequence[Message], values: Mapping[str, float], account: ModelAccount, deadline: Deadline
    ) -> Choice:
        """Take the next call; see StepChooser.

        Raises:
            TeacherLostError: the teacher's call is not among the values, or it gave up.
        """
        harmless = [text for text in values if text.startswith(_HARMLESS)]
        if self._strays and harmless:
            self._strays -= 1
            return self._chosen(messages, self._chance.choice(harmless), account, learnt=False)
        self._strays = 0
        call = self._expert.next_call(self.result)
        while call is not None and call.skill == "GoToObject" and self._is_reached(call, values):
            call = self._expert.next_call(SkillResult(call, True))
        text = self._written(call) if call is not None else DONE
        if text not in values or (text == DONE and values[DONE] < 1.0):
            raise TeacherLostError(f"the teacher's call {call}, {text}, is none that can be chosen")
        self._lesson.complete = text == DONE
        return self._chosen(messages, text, account, learnt=True)

    def hear(self, result: SkillResult) -> None:
        """Take in what came of the last call."""
        for change in result.changes:
            if change.position is not None:
                self._seen[change.object_id] = ObjectReference.at(change.object_class, change.position)
        last = self._lesson.steps[-1] if self._lesson.steps else None
        self.result = result if last is not None and last.learnt else None

    def _chosen(self, messages: Sequence[Message], text: str, account: ModelAccount, learnt: bool) -> Choice:
        self._lesson.steps.append(TaughtStep(tuple(messages), text, learnt))
        account.charge(Reply(text, 0, 0))
        return Choice(text, text)

    def _written(self, call: SkillCall) -> str:
        """Return a call of the offline planner under the names that the model knows."""
        if call.skill == "Explore":
            return f"Explore({call.arguments[0]})"
        names = [self._name(reference) for reference in call.arguments]
        needs_hand = any(rule.fact.predicate is Predicate.HOLDING for rule in SKILLS[call.skill].preconditions)
        if needs_hand and self._world.held:
            names[0] = self._world.held
        return f"{call.skill}({', '.join(names)})"

    def _is_reached(self, call: SkillCall, values: Mapping[str, float]) -> bool:
        """Return whether the robot stands where a call would bring it: the model is not offered to go there."""
        return self._written(call) not in values and "?" not in self._written(call)

    def _name(self, reference: str) -> str:
        """Return the model's name of what the teacher means; "?" for none."""
        thing = self._world.thing_of(reference)
        memory_id = self._memory_ids.get(reference)
        if thing is None and memory_id is not None:
            thing = next((one for one in self._world.things.values() if one.memory_id == memory_id), None)
        thing = thing or self._nearest(self._seen.get(reference) or ObjectReference.parse(reference))
        return thing.id if thing is not None else "?"

    def _nearest(self, meant: ObjectReference) -> Thing | None:
        """Return the thing of a class that is close to a position: memory moves things a little as it sees them."""
        if meant.position is None:
            return None
        near: list[tuple[float, str]] = []
        for name, thing in self._world.things.items():
            place = ObjectReference.parse(thing.reference)
            if place.object_class == meant.object_class and place.position is not None:
                near.append((math.dist(place.position, meant.position), name))
        distance_m, name = min(near, default=(math.inf, ""))
        return self._world.things[name] if distance_m <= _SAME_M else None


class TeachingPlanner:
    """Carries instructions out as the model's planner would if it chose what the offline planner chooses.

    stray_share: of the instructions that begin with one or two calls at random, so that the model learns to go on from
    where it should not be. lesson: of the last instruction.
    """

    def __init__(
        self,
        offline: OfflinePlanner,
        kinds: ObjectCatalogue,
        config: LlmConfig,
        chance: random.Random,
        stray_share: float,
    ) -> None:
        self.lesson = Lesson()
        self._offline = offline
        self._kinds = kinds
        self._config = config
        self._chance = chance
        self._stray_share = stray_share

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        self.lesson = lesson = Lesson()
        strays = self._chance.choice((1, 2)) if self._chance.random() < self._stray_share else 0
        choosers: list[DictatedChoice] = []

        def chooser_of(task: Task) -> DictatedChoice:
            expert = Expert(self._offline.achieve(task.goals, situation))
            choosers.append(DictatedChoice(task, expert, lesson, 0 if choosers else strays, self._chance))
            return choosers[-1]

        planner = LlmPlanner(_Speechless(), self._config, self._kinds, self._offline, False, chooser_of)
        run = planner.run(instruction, situation)
        try:
            step = next(run)
            while True:
                result = yield step
                choosers[-1].hear(result)
                step = run.send(result)
        except StopIteration as stop:
            outcome: PlanOutcome = stop.value
            return outcome


class _Speechless:
    """Stands for the model, which is not asked: what has to be said is not taught."""

    name = "speechless"

    def reply(self, messages: object, deadline: object = None, form: object = None, on_line: object = None) -> Reply:
        """Say nothing.

        Raises:
            TeacherLostError: always.
        """
        raise TeacherLostError("the readers of instructions cannot read this one")

    def count_tokens(self, text: str) -> int:
        """Return 0: nothing is sent."""
        return 0
