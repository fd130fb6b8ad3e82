"""What every planner is: a coroutine that yields skill calls and is sent their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.guidance import CompiledStep
from memory_node.domain.answer import ObjectAnswer
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import ALL_SKILLS, GOALS
from memory_node.domain.step import NO_COST, ModelCost
from memory_node.domain.text_enum import TextEnum
from memory_node.planner.expected_failures import ExpectedFailures
from memory_node.planner.goal import Goal
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.told_limits import Told, ToldLimits, nothing_told
from memory_node.world.episode import EpisodeWorld


class PlanningFailedError(RobotMemoryError):
    """No plan can be made for an instruction or for one of its goals.

    outcome: what the attempt took all the same; None where it took nothing.
    """

    def __init__(self, text: str, outcome: PlanOutcome | None = None) -> None:
        super().__init__(text)
        self.outcome = outcome


class ProgressKind(TextEnum):
    """What a progress report is about."""

    PLAN = "plan"
    MEMORY = "memory"
    SKILL = "skill"
    RESULT = "result"
    NOTE = "note"
    STATE = "state"
    QUESTION = "question"
    ANSWER = "answer"


@dataclass(frozen=True)
class PlanProgress:
    """One line of progress for people: what happened, and the goals, call or choices that it is about.

    state: the lines of the brief state, where that is what is told.
    """

    kind: ProgressKind
    text: str
    goals: tuple[str, ...] = ()
    call: SkillCall | None = None
    choices: tuple[str, ...] = ()
    state: tuple[str, ...] = ()


Report = Callable[[PlanProgress], None]


def ignore(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class PlannedStep:
    """The next skill to execute, and which goal (index from 0) it serves.

    context_id: of what memory told the planner before it chose this step; "" for nothing. guided: it was chosen by
    compiled guidance, so nothing more comes before it. memory_ids: by what the call names, memory's id of it.
    reasoning: why it is chosen, in words; "" where nobody says.
    """

    call: SkillCall
    goal_index: int = 0
    context_id: str = ""
    guided: bool = False
    memory_ids: Mapping[str, str] = field(default_factory=dict)
    reasoning: str = ""


@dataclass(frozen=True)
class Lookup:
    """One question to memory for a thing that a goal needs.

    answer: the one to go by, None when memory knew of none. recalled: the short-term memory's units of that class, best
    first.
    """

    object_class: str
    text: str
    answer: ObjectAnswer | None
    seconds: float = 0.0
    recalled: tuple[ObjectAnswer, ...] = ()

    @property
    def source(self) -> str:
        """ "short_term", "long_term" or "" when memory abstained."""
        return self.answer.source if self.answer else ""


@dataclass(frozen=True)
class PlanOutcome:
    """How an instruction ended, as its planner sees it: its goals, which of them were achieved, why not the others.

    cost: what its language model took; valid_replies: how many of its replies could be used as they came. replans: new
    plans after what failed. first_token_s: seconds from the first request to the first token of a written reply.
    question: asked instead of doing anything, with choices that would do as an answer; the next instruction answers it.
    answer: to a question.
    pursued: the goals as a planner that reads words into goals has them, () of another planner. is_final: another
    attempt would bring nothing, because the planner has tried again itself.
    """

    goals: tuple[str, ...]
    achieved: tuple[bool, ...]
    failures: tuple[str, ...] = ()
    planner: str = "offline"
    cost: ModelCost = NO_COST
    valid_replies: int = 0
    replans: int = 0
    first_token_s: float = 0.0
    question: str = ""
    choices: tuple[str, ...] = ()
    answer: str = ""
    pursued: tuple[Goal, ...] = ()
    is_final: bool = False

    @property
    def success(self) -> bool:
        """Whether every goal was achieved."""
        return bool(self.goals) and all(self.achieved)


# Compiles memory for the next step: for a proposed call or, without one, for the goal of an index. The third is what
# the planner calls things, by reference. None: nobody compiles.
Guide = Callable[[SkillCall | None, int, Mapping[str, str]], CompiledStep | None]

PlanRun = Generator[PlannedStep, SkillResult, PlanOutcome]
_End = TypeVar("_End")


def relayed(
    run: Generator[PlannedStep, SkillResult, _End],
    carry_out: Callable[[PlannedStep], Generator[PlannedStep, SkillResult, SkillResult]],
) -> Generator[PlannedStep, SkillResult, _End]:
    """Yield what carries out each step of a run, and send the run what came of it; return the run's end.

    carry_out: yields a step, itself or others for it, and returns the result that the run is sent.
    """
    try:
        step = next(run)
        while True:
            step = run.send((yield from carry_out(step)))
    except StopIteration as stop:
        end: _End = stop.value
        return end
    finally:
        run.close()


def because(
    reasoning: str, run: Generator[PlannedStep, SkillResult, _End]
) -> Generator[PlannedStep, SkillResult, _End]:
    """Yield the steps of a run, each with why it is chosen, but for those that say so themselves."""

    def carry_out(step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
        return (yield replace(step, reasoning=step.reasoning or reasoning))

    return relayed(run, carry_out)


LOOK_COST_M = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class InstructionSetting:
    """What holds for the instructions of one person to one robot.

    sources: of what memory tells the planner in words. skills: names of those that the robot does. conversation: what
    was said before; the planner goes on with it. told: what people told that bears on an instruction. limits: what
    was told that forbids acts; known: what the plain reader needs of facts and the past. look_cost_m: what a look
    around costs the robot, as metres of way; inf where ways cost nothing. asks_for_person: nothing is fetched for a
    person whose place memory does not know: the planner asks first.
    """

    sources: frozenset[ContextSource] = ALL_SOURCES
    skills: frozenset[str] = ALL_SKILLS
    conversation: Conversation = field(default_factory=Conversation)
    told: Told = nothing_told
    limits: ToldLimits | None = None
    known: Known | None = None
    look_cost_m: float = LOOK_COST_M
    asks_for_person: bool = False


@dataclass(frozen=True, eq=False)
class PlanningContext(InstructionSetting):
    """What a planner is given besides the instruction: memory, two listeners, and the setting.

    guide: compiles memory at each step, for a planner that reads; None: nobody does. memory_ids: by the robot's own id
    of a thing that a skill has changed, the one that memory has for it; the executor fills it in. goals: what the
    instruction asks for, where that is known already; its words are not read then.
    """

    memory: MemoryPort
    report: Report = ignore
    on_lookup: Callable[[Lookup], None] = ignore
    guide: Guide | None = None
    memory_ids: dict[str, str] = field(default_factory=dict)
    goals: tuple[Goal, ...] = ()
    _worlds: list[EpisodeWorld] = field(default_factory=list)

    @property
    def waiting(self) -> str:
        """The instruction that the robot asked back about and got no answer to; "" for none."""
        return self.known.recalled.waiting if self.known is not None else ""

    def note(self, text: str) -> None:
        """Report what people may want to know."""
        self.report(PlanProgress(ProgressKind.NOTE, text))

    def expected_failures(self, kinds: ObjectCatalogue) -> ExpectedFailures | None:
        """Return what earlier tries taught; None where nothing is recalled or lessons are not used."""
        known = self.known
        if known is None or known.lessons is None:
            return None
        return ExpectedFailures(known.lessons, kinds, self.world(kinds), known.clock, self.note)

    def world(self, kinds: ObjectCatalogue) -> EpisodeWorld:
        """Return what is believed in this instruction; it is the same in all attempts."""
        if not self._worlds:
            self._worlds.append(EpisodeWorld(kinds))
        return self._worlds[0]

    def refute(self, goal: Goal) -> None:
        """Take what a goal wants not to be so in this instruction's world, whatever skills told."""
        for world in self._worlds:
            world.refute(goal.target.candidates, GOALS[goal.kind].wants)

    def scene(self) -> SceneSnapshot:
        """Return the scene graph, as memory holds it."""
        return self.memory.scene()

    def context(self, instruction: str, token_budget: int, sources: Collection[ContextSource] = ALL_SOURCES) -> Context:
        """Return what memory tells in words before planning; its id goes into the steps that are chosen by it.

        sources: those of the situation's own that are wanted.
        """
        return self.memory.context(instruction, token_budget, sources=self.sources & frozenset(sources))

    @property
    def held_class(self) -> str:
        """The class of what the hand holds, as memory knows it now; "" for nothing."""
        held = self.memory.held_object()
        return held.object_class if held is not None else ""


class Planner(Protocol):
    """Turns an instruction into skill calls, one at a time, each chosen with the results so far."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps; every `send` brings the result of the step before. Return the outcome.

        Raises:
            PlanningFailedError: nothing in the instruction could be planned.
        """
