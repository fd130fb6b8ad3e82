"""The text game as a robot: a `SkillPort` that speaks the engine's commands and reads its replies."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from benchmarks.alfworld.senses import Site, TextSenses, Thing, site_of
from benchmarks.alfworld.sentences import LONGEST_REPLY, called_skill, read_places, read_sight, read_task
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.observation import Frame
from memory_node.domain.skill import Exploration, FailureReason, SkillCall, SkillFailure, SkillResult, StateChange
from memory_node.domain.skill_library import check_call, outcome_of
from memory_node.domain.states import ObjectState

_R, _S = FailureReason, ObjectState
# The skills that the engine has commands for.
TEXT_SKILLS = frozenset(
    {
        "Explore",
        "GoToObject",
        "PickupObject",
        "PutObject",
        "OpenObject",
        "CloseObject",
        "ToggleOn",
        "ToggleOff",
        "SwitchOn",
        "SwitchOff",
        "SliceObject",
        "CleanObject",
        "HeatObject",
        "CoolObject",
    }
)
_TREATED: Mapping[str, tuple[str, ObjectState, ObjectState]] = {
    "CleanObject": ("clean", _S.CLEANED, _S.DIRTY),
    "HeatObject": ("heat", _S.HEATED, _S.COLD),
    "CoolObject": ("cool", _S.COLD, _S.HEATED),
}
# Putting is called differently by different versions of the engine.
_PUT_VERBS = ("move", "put", "place")
GO_TO = "go to "
# A skill on its way: it yields each command with the name of what that is about, goes on when the command was carried
# out, and returns the name of the thing that the skill was about.
Commands = Generator[tuple[str, str], None, str]


class GameEngine(Protocol):
    """A text game that is running."""

    @property
    def text(self) -> str:
        """What it printed last."""

    @property
    def commands(self) -> Sequence[str]:
        """The commands that it admits now."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""

    @property
    def won(self) -> bool:
        """Whether the task is done."""

    @property
    def score(self) -> float | None:
        """The share of the task that is done, in [0, 1]; None where the engine tells none."""

    @property
    def facts(self) -> Sequence[tuple[str, ...]]:
        """What is so; for a judge."""

    @property
    def problem(self) -> str:
        """The problem in PDDL; for a judge."""

    def send(self, command: str) -> str:
        """Carry out a command and return what is printed."""

    def close(self) -> None:
        """Let go of the game."""


class TextSkills:
    """Turns skills into commands, by what was read so far. Nothing is sent here.

    searched: places visited to search.
    """

    def __init__(self, engine: GameEngine, kinds: ObjectCatalogue, site: Site, senses: TextSenses) -> None:
        self.searched = 0
        self._engine = engine
        self._kinds = kinds
        self._site = site
        self._senses = senses
        self._perform: Mapping[str, Callable[..., Commands]] = {
            "Explore": self._explore,
            "GoToObject": self._go_to,
            "PickupObject": self._pick_up,
            "PutObject": self._put,
            "OpenObject": partial(self._move_door, opened=True),
            "CloseObject": partial(self._move_door, opened=False),
            **dict.fromkeys(("ToggleOn", "SwitchOn"), partial(self._switch, gained=_S.ON, lost=_S.OFF)),
            **dict.fromkeys(("ToggleOff", "SwitchOff"), partial(self._switch, gained=_S.OFF, lost=_S.ON)),
            "SliceObject": self._slice,
        }

    def commands(self, call: SkillCall) -> Commands:
        """Return a skill on its way.

        Raises:
            InvalidValueError: the call is none.
            SkillFailure: the game knows no such skill; while it is on its way: it fails.
        """
        check_call(call)
        if call.skill not in TEXT_SKILLS:
            raise SkillFailure(_R.INVALID_CALL, f"the text game has no command for {call.skill}")
        return self._treat(call) if call.skill in _TREATED else self._perform[call.skill](*call.arguments)

    # --- skills

    def _explore(self, *arguments: str) -> Commands:
        """Look at places in order, and into those that are closed, until a thing of the class is seen."""
        asked = Exploration.of(SkillCall("Explore", arguments))
        for stop in asked.stops:
            place = self._stop(stop)
            is_elsewhere = place != self._senses.at
            yield from self._stand_at(place)
            self.searched += is_elsewhere
            if self._is_shut(place) or (place not in self._senses.seen and self._admits(f"open {place}")):
                yield (f"open {place}", place)
            elif place not in self._senses.seen:
                yield (f"examine {place}", place)
            sought = (one for one in self._senses.things.at(place) if one.may_be(asked.target_class))
            found = next((thing for thing in sought if thing.name not in asked.passed_over), None)
            if found is not None:
                return found.name
        raise SkillFailure(_R.NOT_FOUND, f"no {asked.target_class} seen at {len(asked.stops)} places")

    def _go_to(self, text: str) -> Commands:
        thing = self._resolve(text)
        if thing.name == self._senses.held:
            return thing.name
        yield from self._stand_at(thing.place)
        if not thing.is_place and self._is_shut(thing.place):
            raise SkillFailure(_R.CLOSED, f"{thing.place} is closed", thing.place)
        return thing.name

    def _pick_up(self, text: str) -> Commands:
        thing = self._resolve(text)
        if self._senses.held:
            raise SkillFailure(_R.HAND_FULL, f"the hand holds {self._senses.held}", self._senses.held)
        if thing.is_place:
            raise SkillFailure(_R.WRONG_OBJECT, f"{thing.name} cannot be taken", thing.name)
        self._require_near(thing)
        yield (f"take {thing.name} from {thing.place}", thing.name)
        self._senses.held = thing.name
        self._senses.things.put(thing.name, "")
        self._senses.report(thing, held=True)
        return thing.name

    def _put(self, text: str, receptacle: str) -> Commands:
        thing, place = self._held_thing(text), self._resolve(receptacle)
        self._require_near(place)
        if self._is_shut(place.place):
            raise SkillFailure(_R.CLOSED, f"{place.place} is closed", place.place)
        if not place.is_place:
            raise SkillFailure(_R.WRONG_OBJECT, f"nothing can be put on {place.name}", place.name)
        yield (self._put_command(thing, place), place.name)
        self._senses.held = ""
        lying = self._senses.things.put(thing.name, place.name)
        self._senses.report(lying, held=False, support=place.name)
        return thing.name

    def _move_door(self, text: str, opened: bool) -> Commands:
        thing = self._resolve(text)
        self._require_near(thing)
        if self._is_shut(thing.name) is not opened:  # what shows its contents without a door stands open
            reason = _R.ALREADY_OPEN if opened else _R.ALREADY_CLOSED
            raise SkillFailure(reason, f"{thing.name} is {'open' if opened else 'closed'} already", thing.name)
        yield (f"{'open' if opened else 'close'} {thing.name}", thing.name)
        self._senses.note_door(thing.name, opened)
        return thing.name

    def _switch(self, text: str, gained: ObjectState, lost: ObjectState) -> Commands:
        thing = self._resolve(text)
        self._require_near(thing)
        yield (f"use {thing.name}", thing.name)
        self._senses.report(thing, added=(gained,), removed=(lost,))
        return thing.name

    def _slice(self, text: str) -> Commands:
        thing = self._resolve(text)
        if not self._senses.held:
            raise SkillFailure(_R.PRECONDITION, "the hand holds nothing that cuts")
        self._require_near(thing)
        yield (f"slice {thing.name} with {self._senses.held}", thing.name)
        self._senses.report(thing, added=(_S.SLICED,))
        return thing.name

    def _treat(self, call: SkillCall) -> Commands:
        """Clean, heat or cool what the hand holds at an appliance, the usual one where none is named."""
        verb, gained, lost = _TREATED[call.skill]
        thing = self._held_thing(call.arguments[0])
        appliance = self._resolve(call.arguments[1]) if len(call.arguments) > 1 else self._usual(call.skill)
        yield from self._stand_at(appliance.place)
        yield (f"{verb} {thing.name} with {appliance.name}", thing.name)
        self._senses.report(thing, added=(gained,), removed=(lost,))
        return thing.name

    # --- what skills are made of

    def _usual(self, skill: str) -> Thing:
        serving = (place for place in self._site.places if self._kinds.serves(self._senses.class_of(place), skill))
        place = next(serving, None)
        if place is None:
            raise SkillFailure(_R.NOT_FOUND, f"nothing here serves for {skill}")
        return self._senses.things.by_name[place]

    def _resolve(self, text: str) -> Thing:
        held = self._senses.things.by_name.get(self._senses.held)
        if held is not None and (text == held.name or held.may_be(text.partition("@")[0])):
            return held
        thing = self._senses.things.meant(text)
        if thing is None:
            raise SkillFailure(_R.NOT_FOUND, f"no {text} has been seen")
        return thing

    def _held_thing(self, text: str) -> Thing:
        thing = self._resolve(text)
        if not self._senses.held or thing.name != self._senses.held:
            raise SkillFailure(_R.NOT_HOLDING, f"the hand does not hold {text}", thing.name)
        return thing

    def _stop(self, text: str) -> str:
        """Return the place of a stop: a position "x,y", or a thing."""
        try:
            x, y = (float(part) for part in text.split(","))
        except ValueError:
            return self._resolve(text).place
        return self._site.place_near(x, y)

    def _require_near(self, thing: Thing) -> None:
        if thing.name != self._senses.held and not self._reaches(thing.place):
            raise SkillFailure(_R.TOO_FAR, f"the robot is not at {thing.place}", thing.name)

    def _reaches(self, place: str) -> bool:
        """Return whether a place can be used from here: drawers of one desk are reached from one spot."""
        return place == self._senses.at or self._admits(f"examine {place}")

    def _admits(self, command: str) -> bool:
        return command in self._engine.commands

    def _is_shut(self, place: str) -> bool:
        return self._senses.is_shut(place)

    def _put_command(self, thing: Thing, place: Thing) -> str:
        usual = f"{_PUT_VERBS[0]} {thing.name} to {place.name}"
        admitted = (
            command
            for command in self._engine.commands
            if command.split(" ", 1)[0] in _PUT_VERBS and thing.name in command and command.endswith(f" {place.name}")
        )
        return next(admitted, usual)

    def _stand_at(self, place: str) -> Generator[tuple[str, str], None, None]:
        """Go to a place; where the robot reaches it already nothing is sent."""
        if self._reaches(place):
            return
        yield (f"{GO_TO}{place}", place)
        if self._is_shut(place) and not self._kinds[self._senses.class_of(place)].can(Property.OPENABLE):
            # The label space does not know that such things open, so no plan contains it.
            yield (f"open {place}", place)


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
        engine: GameEngine,
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
