"""A lesson as a robot: a `SkillPort` that speaks ScienceWorld's commands and reads its replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from benchmarks.alfworld.robot import NonsenseError
from benchmarks.alfworld.sentences import LONGEST_REPLY, read_task
from benchmarks.alfworld.site import Site
from benchmarks.alfworld.skill_outcome import result_of
from benchmarks.scienceworld.focus import Focus
from benchmarks.scienceworld.kinds import LessonKinds
from benchmarks.scienceworld.lesson_skills import LOOK, LessonSkills
from benchmarks.scienceworld.senses import LessonSenses
from benchmarks.scienceworld.sentences import read_contents, read_held, read_room, refusal_of
from memory_node.domain.clock import Clock
from memory_node.domain.observation import Frame
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.sim.execution import SkillFailure

_R = FailureReason
_LOOK_IN = "look in "
# Of several things that a command may mean the engine asks for a number; the first is as good as another.
_ASKS = "ambiguous request"
_FIRST = "0"


class LessonEngine(Protocol):
    """A lesson that is running."""

    @property
    def text(self) -> str:
        """What it printed last."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""

    def send(self, command: str) -> str:
        """Carry out a command and return what is printed."""


class LessonRobot:
    """A robot in a lesson. It knows what it has read, and nothing else.

    max_steps: so many commands are sent, then every skill fails as CANCELED. on_rooms, on_look: see LessonSenses.

    Attributes:
        task: the instruction that the lesson gives. steps: commands sent. transcript: each with what was printed.
        senses: what it has read.
    """

    def __init__(
        self,
        engine: LessonEngine,
        kinds: LessonKinds,
        clock: Clock,
        max_steps: int,
        on_rooms: Callable[[Site], object],
        on_look: Callable[[Frame], object],
    ) -> None:
        self.task = read_task(engine.text)
        if not self.task:
            raise NonsenseError(f"the first text gives no task: {engine.text[-200:]!r}")
        self.steps = 0
        self.transcript: list[tuple[str, str]] = []
        self._engine = engine
        self._max_steps = max_steps
        self._first_text = engine.text
        self.senses = LessonSenses(kinds, clock, on_rooms, on_look)
        self._skills = LessonSkills(kinds, self.senses, Focus(self.task))

    @property
    def searched(self) -> int:
        """How many rooms were gone to, to search."""
        return self._skills.searched

    @property
    def skills(self) -> frozenset[str]:
        """The skills that it has commands for."""
        return self._skills.names

    def first_look(self) -> tuple[StateChange, ...]:
        """Return what the first text tells of: the room, and what the robot has with it.

        Raises:
            NonsenseError: it tells of no room.
        """
        sight = read_room(self._first_text)
        if sight is None:
            raise NonsenseError(f"the first text names no room: {self._first_text[:200]!r}")
        self.senses.changes = []
        self.senses.take_in_room(sight)
        for name in read_held(self._first_text):
            self.senses.carry(name)
        return tuple(self.senses.changes)

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end; never raises for a skill that fails."""
        return result_of(call, lambda: self._carried_out(call), self._skills, self.senses)

    def _carried_out(self, call: SkillCall) -> str:
        """Send the commands of a skill; return what it was about."""
        run = self._skills.commands(call)
        try:
            command = next(run)
            while True:
                try:
                    reply = self._send(command)
                except SkillFailure as failure:
                    command = run.throw(failure)  # it goes on where it can do without
                else:
                    command = run.send(reply)
        except StopIteration as ended:
            return str(ended.value)

    def _send(self, command: str) -> str:
        """Send a command and take in the reply.

        Raises:
            SkillFailure: the lesson is over, no command is left, or the command was refused.
        """
        if self._engine.over or self.steps >= self._max_steps:
            raise SkillFailure(_R.CANCELED, "the lesson is over" if self._engine.over else "no steps are left")
        self.steps += 1
        reply = self._engine.send(command)
        self.transcript.append((command, reply))
        if len(reply) > LONGEST_REPLY:
            raise NonsenseError(f"{command!r}: {len(reply)} characters were printed")
        if reply.lower().startswith(_ASKS):
            return self._send(_FIRST)
        self._take_in(command, reply)
        return reply

    def _take_in(self, command: str, reply: str) -> None:
        if command == LOOK:
            sight = read_room(reply)
            if sight is None:
                raise NonsenseError(f"{LOOK!r} tells of no room: {reply[:200]!r}")
            self.senses.take_in_room(sight)
            return
        if command.startswith(_LOOK_IN):
            name = command.removeprefix(_LOOK_IN)
            thing = self.senses.meant(name)
            if thing is not None:
                self.senses.take_in_contents(read_contents(reply, name), thing)
            return
        reason = refusal_of(reply)
        if reason is not _R.NONE:
            raise SkillFailure(reason, f"{command!r}: {' '.join(reply.split())[:200]}")
