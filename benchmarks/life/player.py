"""Carries out what is said to the robot, as the planner node does: guided planner, executor, conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from benchmarks.life import switches
from benchmarks.life.day_form import GoalForm
from benchmarks.life.listed_memory import ListedMemory
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.typed_goals import typed_goals
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.compilations import Compilations
from memory_node.context.guidance import Compiler
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.lessons.expectations import expectations_of
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import Planner, PlanProgress
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.session import Session
from memory_node.planner.told_limits import ToldLimits

# As config/planner.yaml has it.
SESSION_S = 900.0
ATTEMPTS = 2
_LESSON_S = 60.0


class Player(Protocol):
    """What acts for the robot."""

    def execute(
        self, words: str, goals: Sequence[GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Carry out an instruction; limit: so many calls before it is cancelled, None for no limit."""

    def restart(self) -> None:
        """Begin anew with the memory that was opened again."""


class RobotPlayer:
    """The shipped setting: the planner node's, over the same ports.

    by_list: the planner knows only the things on the list that memory writes for an instruction.

    Attributes:
        guidance: what compiles; None: the robot's own memory. compiler: instead of the rules; None: the rules.
        tries: what lessons are drawn from; None: what the robot itself has tried.
        unfinished: the instructions that it left unfinished; None: those that it did leave.
    """

    def __init__(self, life: RobotLife, planner: Planner, by_list: bool = False) -> None:
        self._by_list = by_list
        self._life = life
        self._planner = planner
        self._kinds = load_catalogue()
        self._session_file = life.folder / "session.json"
        self._session = Session(self._session_file, SESSION_S)
        self.guidance: Compilations | None = None
        self.compiler: Compiler | None = None
        self.tries: Sequence[Deed] | None = None
        self.unfinished: tuple[EpisodeSummary, ...] | None = None

    def restart(self) -> None:
        """Read the conversation from its file, as a planner node that starts again does."""
        self._session = Session(self._session_file, SESSION_S)

    def session_text(self) -> str:
        """Return the conversation as its file keeps it, "" for none."""
        return self._session_file.read_text() if self._session_file.is_file() else ""

    def set_session(self, text: str) -> None:
        """Go on with a conversation, "" for a new one."""
        self._session_file.unlink(missing_ok=True)
        if text:
            self._session_file.write_text(text)
        self.restart()

    def execute(
        self, words: str, goals: Sequence[GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Carry out an instruction; see Player."""
        life, memory = self._life, self._life.memory
        life.look()
        if life.without == switches.WORKING:
            self.set_session("")
        compilations = self.guidance or memory.guidance
        if self.compiler is not None:
            compilations = replace(compilations, compiler=self.compiler)
        guidance = compilations if life.without != switches.COMPILER else None
        planner = GuidedPlanner(self._planner, memory.episodes, life.now_ns, ATTEMPTS, guidance=guidance)
        recalled = memory.recall_past()
        listed = ListedMemory(memory, words) if self._by_list else None
        if listed is not None:
            recalled = replace(recalled, tried=listed.recognized(recalled.tried))
        # Lessons stay where the records of the instructions that taught them are off.
        tries = memory.deeds.all() if self.tries is None else self.tries
        lessons = (
            expectations_of(tries, recalled.facts, self._kinds, memory.scene, life.now_ns(), recalled.zone)
            if life.without != switches.LESSONS
            else None
        )
        unfinished = () if life.without == switches.WORKING else self.unfinished
        if unfinished is not None:
            recalled = replace(recalled, unfinished=unfinished, waiting="")
        executor = InstructionExecutor(
            listed or memory,
            life,
            planner,
            conversation=self._session.conversation(life.now_ns(), memory.scene),
            told=memory.told_facts,
            limits=ToldLimits(recalled.facts, memory.scene, self._kinds, life.now_ns, recalled.zone),
            known=Known(recalled, life.now_ns, memory.tell_in_words, lessons, (listed or memory).ask),
        )
        typed = typed_goals(goals, life.world, memory, self._kinds)

        def is_cancelled() -> bool:
            return limit is not None and len(life.trace.results) >= limit

        result = executor.execute(words, note, is_cancelled, typed)
        self._session.note(life.now_ns(), memory.scene)
        memory.experience.wait_settled(_LESSON_S)
        return result
