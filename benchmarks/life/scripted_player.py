"""Players by which days are proven: one that remembers everything, and one that does nothing.

The first knows what each step wants, the home as it is, and its faults. It shows that a day can be done; whoever does
nothing must pass no day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.life import day_form as form
from benchmarks.life.calls import meant_by, plain
from benchmarks.life.day_file import Day
from benchmarks.life.day_form import FaultKeys, Want
from benchmarks.life.home import is_person, room_called
from benchmarks.life.judge import HAND_PLACE, is_at, is_in_state, is_said, things_meant
from benchmarks.life.player import Player
from benchmarks.life.robot_life import RobotLife
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import GOAL_OF_SKILL, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanOutcome, PlanProgress
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import tap_of

_MOST_TRIES = 12
# By skill, the state in which it would do nothing, and the skill that ends that.
_UNDOES = {
    "ToggleOn": ("on", "ToggleOff"),
    "ToggleOff": ("off", "ToggleOn"),
    "OpenObject": ("opened", "CloseObject"),
    "CloseObject": ("closed", "OpenObject"),
}
_S, _G = ObjectState, GoalKind
STATE_OF_GOAL = {
    _G.CLEAN: _S.CLEANED,
    _G.HEAT: _S.HEATED,
    _G.COOL: _S.COLD,
    _G.FILL: _S.FILLED,
    _G.EMPTY: _S.USED_UP,
    _G.SLICE: _S.SLICED,
    _G.OPEN: _S.OPENED,
    _G.CLOSE: _S.CLOSED,
    _G.SWITCH_ON: _S.ON,
    _G.SWITCH_OFF: _S.OFF,
    _G.BREAK: _S.BROKEN,
}
# What ends a state that must not hold.
_ENDED_BY = {_S.DIRTY: _S.CLEANED, _S.FILLED: _S.USED_UP, _S.OPENED: _S.CLOSED, _S.CLOSED: _S.OPENED}
_ENDED_BY |= {_S.ON: _S.OFF, _S.OFF: _S.ON, _S.HEATED: _S.COLD, _S.COLD: _S.HEATED}


class OutOfCallsError(Exception):
    """The person interrupts the robot."""


class CannotError(Exception):
    """Nothing that is allowed leads there."""


class ScriptedHands:
    """limit: so many calls before it is interrupted, None for no limit; want: of the step, tells what not to do."""

    def __init__(self, life: RobotLife, limit: int | None, want: Want | None) -> None:
        self._life = life
        self._limit = limit
        self._want = want or Want()
        self._world = life.world

    def call(self, skill: str, *things: str) -> SkillResult:
        """Make one call, again while it fails by a fault that ends by itself.

        Raises:
            CannotError: it fails.
            OutOfCallsError: it was the last one.
        """
        call = SkillCall(skill, things)
        for _ in range(_MOST_TRIES):
            if self._limit is not None and len(self._life.trace.results) >= self._limit:
                raise OutOfCallsError
            result = self._life.execute(call)
            self._life.remember(result.changes)
            if result.success:
                return result
            if not result.reason.by_chance or self.is_hindered(call):
                break
        raise CannotError(f"{call}: {result.reason} {result.message}")

    def is_hindered(self, call: SkillCall) -> bool:
        """Return whether a call would fail for good."""
        return self._life.faults.hinders_always(meant_by(self._life.robot, call)) is not None

    def is_allowed(self, skill: str, *things: str) -> bool:
        """Return whether a call is none of those that are not wanted."""
        for text in self._want.no_calls:
            name, *ids = text.split()
            if plain(name) == plain(skill) and set(ids) <= set(things):
                return False
        return True

    # --- ways

    def go(self, thing: Thing) -> None:
        """Stand before a thing; what shuts it in is opened."""
        if thing.id == self._world.held_id:
            return
        closed = self._world.closed_around(thing)
        if closed is not None:
            self.open(closed)
        here = self._life.robot.body.pose.position
        near = horizontal_distance(thing.box, here) <= self._life.robot.config.reach_m
        if not near or self._world.layout.hides(here[:2], thing.box.center[:2]):
            self.call("GoToObject", thing.id)

    def open(self, thing: Thing) -> None:
        """Open a thing."""
        if not thing.is_open:
            self.go(thing)
            self.do("OpenObject", thing.id)

    def do(self, skill: str, *things: str) -> None:
        """Make a call, after the one that puts its fault right, if any."""
        if self._prepare(skill, *things):
            for name in things:
                if name in self._world:
                    self.go(self._world[name])
        self.call(skill, *things)

    def _prepare(self, skill: str, *things: str) -> bool:
        """Put the fault of a call right; return whether there was one that can be. It may take the hand."""
        fault = self._life.faults.hinders_always(meant_by(self._life.robot, SkillCall(skill, things)))
        if fault is None or fault.unless is None:
            return False
        self._put_right(fault.unless)
        return True

    def _put_right(self, keys: FaultKeys) -> None:
        thing, skill = self._world[keys.thing], plain(keys.skill)
        match skill:
            case "PickupObject":
                self.fetch(thing)
            case "PutObject":
                self.put(thing, [self._world[keys.place]] if keys.place else self._tops())
            case _ if skill in GOAL_OF_SKILL:
                self.treat(thing, GOAL_OF_SKILL[skill], skill)
            case _:
                self.go(thing)
                undo = _UNDOES.get(skill)
                if undo is not None and ObjectState(undo[0]) in thing.states:  # it counts from when the call succeeds
                    self.call(undo[1], thing.id)
                self.call(skill, thing.id)

    def fetch(self, thing: Thing) -> None:
        """Take a thing into the hand."""
        if thing.id == self._world.held_id:
            return
        self.free_hand()
        self.go(thing)
        self.do("PickupObject", thing.id)

    def free_hand(self) -> None:
        """Put down what the hand holds: where it was, or else wherever it may lie."""
        held = self._world.held
        if held is None:
            return
        before = self._life.taken_from
        places = [one for one in self._world if before is not None and one.id == before.parent_id]
        self.put(held, [*places, *self._tops()])

    def _tops(self) -> list[Thing]:
        """Return the furniture on which things can be put."""
        return [one for one in self._world if one.fixed and one.kind.holds == "on" and not is_person(one)]

    def put(self, thing: Thing, places: Iterable[Thing]) -> None:
        """Put a thing on or in the first of some places where there is room and no fault."""
        for place in places:
            opening = self._is_shut(place) and not self._can_open(place)
            if opening or not self.is_allowed("PutObject", thing.id, place.id) or not self._has_room(thing, place):
                continue
            if self._never("PutObject", thing.id, place.id):
                continue
            self.fetch(thing)
            if self._is_shut(place):
                self.open(place)
            self.go(place)
            self.do("PutObject", thing.id, place.id)
            return
        raise CannotError(f"there is nowhere to put {thing.id}")

    def _is_shut(self, place: Thing) -> bool:
        return place.kind.holds == "in" and not place.is_open

    def _can_open(self, place: Thing) -> bool:
        return self.is_allowed("OpenObject", place.id) and not self._never("OpenObject", place.id)

    def _never(self, skill: str, *things: str) -> bool:
        """Return whether a call fails, and nothing puts that right."""
        fault = self._life.faults.hinders_always(meant_by(self._life.robot, SkillCall(skill, things)))
        return fault is not None and fault.unless is None

    def _has_room(self, thing: Thing, place: Thing) -> bool:
        if place in self._world.with_contents(thing) or not place.kind.is_receptacle or not fits(thing, place):
            return False
        others = [one for one in self._world.contents(place.id) if one is not thing]
        return free_spot(thing, place, others) is not None

    def places_in(self, room_name: str) -> list[Thing]:
        """Return the furniture of a room on which things can be put."""
        room = room_called(self._world, room_name)
        if room is None:
            return []
        return [one for one in self._tops() if room.contains(*one.box.center[:2])]

    # --- what is done to things

    def treat(self, thing: Thing, goal: GoalKind, skill: str) -> None:
        """Clean, heat or cool a thing at the first appliance where that is possible, else by hand."""
        usual = self._world.types.catalogue.treatments_of(goal)
        found = [one for treatment in usual for name in treatment.at for one in self._world.of_class(name)]
        places = self._preferred(found)
        if places and not any(self._is_possible(skill, thing, one) for one in places):
            self._treat_by_hand(thing, places)
            return
        # The skill itself drives there.
        self._at_one_of(places, skill, thing, lambda place: self.do(skill, thing.id, place.id))

    def _treat_by_hand(self, thing: Thing, places: Sequence[Thing]) -> None:
        """Put a thing into the first appliance that takes it, shut that, let run what runs there, and take it out."""
        self.put(thing, places)
        place = self._world[thing.parent_id]
        if place.is_open and place.can(Property.OPENABLE):
            self.do("CloseObject", place.id)
        tap = tap_of(self._world, place) if place.can(Property.DRAINS) else None
        for runs in filter(None, (place, tap)):
            if runs.can(Property.TOGGLEABLE):
                self.go(runs)
                if ObjectState.ON not in runs.states:
                    self.do("ToggleOn", runs.id)
                self.do("ToggleOff", runs.id)
        self.fetch(thing)

    def fill(self, thing: Thing) -> None:
        """Fill a vessel at the first tap or coffee machine where that is possible."""
        taps = [one for one in self._world if one.can(Property.WATERS) or one.can(Property.BREWS)]

        def pour(tap: Thing) -> None:
            self.go(tap)
            self.do("FillObject", thing.id, tap.id)

        self._at_one_of(self._preferred(taps), "FillObject", thing, pour)

    def slice(self, thing: Thing, tools: Sequence[str] | None) -> None:
        """Cut a thing; tools: ids of the things that may be touched, None for any."""
        knives = [
            one
            for one in self._world
            if one.can(Property.CUTS) and (tools is None or one.id in tools) and self._can_take(one)
        ]
        if not knives:
            raise CannotError("no knife may be used")
        self._prepare("SliceObject", thing.id)
        self.fetch(knives[0])
        self.go(thing)
        self.do("SliceObject", thing.id)
        self.free_hand()

    def _can_take(self, thing: Thing) -> bool:
        return self.is_allowed("PickupObject", thing.id) and not self._never("PickupObject", thing.id)

    def _at_one_of(self, places: Sequence[Thing], skill: str, thing: Thing, act: Callable[[Thing], None]) -> None:
        for place in places:
            if self._is_possible(skill, thing, place):
                self._prepare(skill, thing.id, place.id)
                self.fetch(thing)
                act(place)
                return
        raise CannotError(f"{skill} of {thing.id} is possible nowhere")

    def _is_possible(self, skill: str, thing: Thing, place: Thing) -> bool:
        return self.is_allowed(skill, thing.id, place.id) and not self._never(skill, thing.id, place.id)

    def _preferred(self, places: Iterable[Thing]) -> list[Thing]:
        """Return places, those first that a wanted call names, then the nearest."""
        named = {thing for text in self._want.calls for thing in text.split()[1:]}
        here = self._life.robot.body.pose.position
        return sorted(
            dict.fromkeys(places),
            key=lambda one: (one.id not in named, self._world.grid.distance(here, one.box.center)),
        )


class IdlePlayer:
    """Does and says nothing."""

    def execute(
        self, words: str, goals: Sequence[form.GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Return at once; see Player."""
        return _result(words, False)

    def restart(self) -> None:
        """Do nothing."""


class ScriptedPlayer:
    """Remembers everything. inner: does what nobody judges and no typed goals tell."""

    def __init__(self, life: RobotLife, day: Day, inner: Player) -> None:
        self._life = life
        self._inner = inner
        steps = [one for one in day.scenario.events if isinstance(one, form.Step)]
        self._steps = iter(zip(steps, [*steps[1:], None], strict=True))

    def restart(self) -> None:
        """Begin a new conversation."""
        self._inner.restart()

    def execute(
        self, words: str, goals: Sequence[form.GoalForm], note: Callable[[PlanProgress], None], limit: int | None
    ) -> InstructionResult:
        """Do what the step wants; see Player."""
        event, following = next(self._steps)
        want = event.want
        asks = isinstance(following, form.Answer) or (want is not None and bool(want.asks))
        typed = event.goals if isinstance(event, form.Do) else ()
        if want is None and not typed and not asks:
            return self._inner.execute(words, goals, note, limit)
        hands = ScriptedHands(self._life, limit, want)
        problem = ""
        try:
            if want is not None:
                _Wishes(self._life, hands, want).fulfil()
            elif not asks:
                _Wishes(self._life, hands, form.Want()).pursue(typed)
        except OutOfCallsError:
            problem = "canceled"
        except CannotError as error:
            problem = str(error)
        done = want.done if want is not None and want.done is not None else not problem
        return _result(words, done and not asks, _words(want), asks, problem)


class _Wishes:
    """Fulfils what one step wants."""

    def __init__(self, life: RobotLife, hands: ScriptedHands, want: form.Want) -> None:
        self._life = life
        self._world = life.world
        self._hands = hands
        self._want = want

    def fulfil(self) -> None:
        """Do all that is wanted and not so yet."""
        for name, states in self._want.state.items():
            for one in states:
                self._make(name, one.state if one.holds else _ENDED_BY.get(one.state), one)
        for name, place in self._want.at.items():
            if not is_at(self._world, self._life.robot.body.pose, name, place):
                self._bring(name, place)
        for skill, *things in map(str.split, self._want.calls):
            if not self._is_called(skill, things):
                self._call(skill, things)

    def pursue(self, goals: Sequence[form.GoalForm]) -> None:
        """Pursue typed goals."""
        for goal in goals:
            state = STATE_OF_GOAL.get(goal.kind)
            if state is not None:
                self._make(goal.object, state, form.WantedState(state=state))
            if goal.place and goal.kind not in (_G.FILL, _G.GO):
                self._bring(goal.object, goal.place)
            elif goal.kind is _G.FETCH:
                self._hands.fetch(things_meant(self._world, goal.object)[0])
            elif goal.kind in (_G.FIND, _G.GO):
                for thing in things_meant(self._world, goal.object or goal.place)[:1]:
                    self._hands.go(thing)

    def _make(self, name: str, state: ObjectState | None, wanted: form.WantedState) -> None:
        if is_in_state(self._world, name, wanted.state) == wanted.holds:
            return
        things = things_meant(self._world, name)
        if state is None or not things:
            raise CannotError(f"nothing makes {name} {state}")
        thing = self._allowed(things)[0]
        if state in (_S.OPENED, _S.CLOSED, _S.ON, _S.OFF):
            self._switch(thing, state)
        elif state is _S.SLICED:
            self._hands.slice(thing, self._want.only)
        else:
            self._treat(thing, state)
            if name not in self._want.at and self._want.most_calls is None:
                self._hands.free_hand()

    def _switch(self, thing: Thing, state: ObjectState) -> None:
        if state is _S.OPENED:
            self._hands.open(thing)
            return
        light = "Switch" if thing.type.can(Property.LIGHT) else "Toggle"
        skill = {_S.CLOSED: "CloseObject", _S.ON: f"{light}On", _S.OFF: f"{light}Off"}[state]
        self._hands.go(thing)
        self._hands.do(skill, thing.id)

    def _treat(self, thing: Thing, state: ObjectState) -> None:
        hands = self._hands
        match state:
            case _S.CLEANED:
                hands.treat(thing, _G.CLEAN, "CleanObject")
            case _S.HEATED | _S.COOKED:
                hands.treat(thing, _G.HEAT, "HeatObject")
            case _S.COLD:
                hands.treat(thing, _G.COOL, "CoolObject")
            case _S.FILLED:
                hands.fill(thing)
            case _S.USED_UP:
                hands.fetch(thing)
                hands.do("EmptyObject", thing.id)
            case _S.BROKEN:
                hands.go(thing)
                hands.do("BreakObject", thing.id)
            case _:
                raise CannotError(f"no skill makes {thing.id} {state}")

    def _bring(self, name: str, place: str) -> None:
        things = self._allowed(things_meant(self._world, name))
        if not things:
            raise CannotError(f"there is no {name}")
        if place == HAND_PLACE:
            self._hands.fetch(things[0])
            return
        places = things_meant(self._world, place) or self._hands.places_in(place)
        for thing in things:
            with_room = [one for one in places if is_person(one) or one is not thing]
            try:
                self._hands.put(thing, with_room)
                return
            except CannotError as error:
                problem = error
        raise problem

    def _allowed(self, things: Sequence[Thing]) -> list[Thing]:
        """Return things, those first that may be touched; what the hand holds before all."""
        only = self._want.only
        return sorted(things, key=lambda one: (one.id != self._world.held_id, only is not None and one.id not in only))

    def _is_called(self, skill: str, things: Sequence[str]) -> bool:
        tried = self._life.trace.tried
        return any(one.success and one.meant.skill == plain(skill) and one.meant.things >= set(things) for one in tried)

    def _call(self, skill: str, things: Sequence[str]) -> None:
        if things and skill not in ("PutObject", "Explore"):
            first = next(iter(things_meant(self._world, things[0])), None)
            if first is not None:
                self._hands.go(first)
        self._hands.do(skill, *things)


def _words(want: form.Want | None) -> str:
    """Return what must be said, in words of which none must not be."""
    if want is None:
        return ""
    return ". ".join(_sayable(words, want.silent_on) for words in want.says)


def _sayable(words: Sequence[str], silent_on: Sequence[str]) -> str:
    said: Iterator[str] = (one.replace("*", "") for one in words)
    return next((one for one in said if not any(is_said(other, one) for other in silent_on)), "")


def _result(words: str, done: bool, said: str = "", asks: bool = False, problem: str = "") -> InstructionResult:
    question = f"{said}?" if asks else ""
    outcome = PlanOutcome((words,), (done,), planner="scripted", question=question, answer="" if asks else said)
    return InstructionResult(words, outcome, (), (), problem if not done else "")
