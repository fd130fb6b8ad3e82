"""Players by which days are proven: one that remembers everything, and one that does nothing.

The first knows what each step wants, the home as it is, and its faults. It shows that a day can be done; whoever does
nothing must pass no day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.life import day_form as form
from benchmarks.life.calls import plain
from benchmarks.life.day_file import Day
from benchmarks.life.judge import HAND_PLACE, is_at, is_in_state, is_said, things_meant
from benchmarks.life.placing import is_person
from benchmarks.life.player import Player
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.scripted_hands import CannotError, OutOfCallsError, ScriptedHands, wanted_calls
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanOutcome, PlanProgress
from memory_node.sim.thing import Thing

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
        steps = [one for one in day.scenario.events if isinstance(one, form.Do | form.Ask | form.Answer)]
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
        for skill, things in wanted_calls(self._want):
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
