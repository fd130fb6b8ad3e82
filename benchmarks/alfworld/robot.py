"""The text game as a robot: a `SkillPort` that speaks the engine's commands and reads its replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.alfworld.game_commands import called_skill
from benchmarks.alfworld.senses import TextSenses
from benchmarks.alfworld.sentences import LONGEST_REPLY, read_places, read_sight, read_task
from benchmarks.alfworld.site import Site, site_of
from benchmarks.alfworld.text_skills import GO_TO, Commands, TextEngine, TextSkills
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.observation import Frame
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure, SkillResult, StateChange
from memory_node.domain.skill_library import outcome_of

_R = FailureReason


class NonsenseError(RobotMemoryError):
    """The engine prints what no game does: the game is lost."""


@dataclass(frozen=True)
class SentCommand:
    """A command of the engine that was sent. call: the skill that it is a part of, None for none. reason: why nothing
    came of it. reply: what was printed. changes: what memory is to be told."""

    command: str
    call: SkillCall | None
    reply: str
    reason: FailureReason
    changes: tuple[StateChange, ...]


class TextRobot:
    """A robot in a text game. It knows what it has read, and nothing else.

    engine: the game, begun. max_steps: so many commands are sent, then every skill fails as CANCELED. on_look: is
    called with each look at a place, so that memory knows what was looked at.

    Attributes:
        task: the instruction that the game gives.
        site: where its places lie in the graph.
        steps: commands sent.
        transcript: the commands, each with what was printed.
        senses: what it has read.
    """

    def __init__(
        self,
        engine: TextEngine,
        kinds: ObjectCatalogue,
        clock: Clock,
        max_steps: int,
        on_look: Callable[[Frame], object],
    ) -> None:
        places = read_places(engine.text)
        if not places:
            raise NonsenseError(f"the first text names no places: {engine.text[:200]!r}")
        self.task = read_task(engine.text)
        if not self.task:
            raise NonsenseError(f"the first text gives no task: {engine.text[-200:]!r}")
        self.site: Site = site_of(places)
        self.steps = 0
        self.transcript: list[tuple[str, str]] = []
        self._engine = engine
        self._max_steps = max_steps
        self.senses = TextSenses(self.site, kinds, clock, on_look)
        self._skills = TextSkills(engine, kinds, self.site, self.senses)

    @property
    def searched(self) -> int:
        """How many places were visited to search."""
        return self._skills.searched

    def first_look(self) -> tuple[StateChange, ...]:
        """Return the places that the first text tells of."""
        return tuple(map(self.senses.sighting, self.senses.things.by_name.values()))

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end; never raises for a skill that fails."""
        self.senses.changes, searched = [], self.searched
        return replace(
            outcome_of(call, lambda: self._carried_out(self._skills.commands(call))),
            explored_areas=self.searched - searched,
            changes=tuple(self.senses.changes),
        )

    def first_command(self, call: SkillCall) -> str:
        """Return the command that a skill would send first, "" where there is none: it fails, or nothing is left of it
        to do. Nothing is sent."""
        try:
            return next(self._skills.commands(call))[0]
        except (SkillFailure, InvalidValueError, StopIteration):
            return ""

    def send(self, command: str) -> SentCommand:
        """Send a command that somebody else has chosen; what it does is noted as its skill would."""
        self.senses.changes = []
        call = called_skill(command)
        reason, run = _R.NONE, None
        if call is not None and self.first_command(call) == command:
            run = self._skills.commands(call)
            next(run)
        try:
            self._send(command, "")
            if run is not None:
                next(run, None)  # it goes on to where it would send another
        except SkillFailure as failure:
            reason = failure.reason
        changes = tuple(self.senses.changes)
        return SentCommand(command, call, self.transcript[-1][1] if self.transcript else "", reason, changes)

    def _carried_out(self, run: Commands) -> str:
        """Send the commands of a skill; return what it was about."""
        while True:
            try:
                command, about = next(run)
            except StopIteration as ended:
                return str(ended.value)
            self._send(command, about)

    def _send(self, command: str, about: str) -> None:
        """Send a command and take in the reply.

        Raises:
            SkillFailure: the game is over, no command is left, or nothing happened.
        """
        if self._engine.over or self.steps >= self._max_steps:
            raise SkillFailure(_R.CANCELED, "the game is over" if self._engine.over else "no steps are left")
        self.steps += 1
        reply = self._engine.send(command)
        self.transcript.append((command, reply))
        if len(reply) > LONGEST_REPLY:
            raise NonsenseError(f"{command!r}: {len(reply)} characters were printed")
        sight = read_sight(reply)
        if not sight.happened:
            raise SkillFailure(_R.EXECUTION, f"{command!r}: nothing happens", about)
        if command.startswith(GO_TO):
            self.senses.at = command.removeprefix(GO_TO)
        self.senses.take_in(sight)
