"""Checks scenarios against their homes before anything is played: what cannot be is told with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.life import day_form as form
from benchmarks.life import placing
from benchmarks.life.day_file import Day, Location
from benchmarks.life.faults import is_mended_by
from benchmarks.life.home import LifeHomes, MisfitError, add_person
from benchmarks.life.judge import HAND_PLACE, is_said
from benchmarks.life.want_check import impossible
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.sim.thing import Thing
from memory_node.sim.world import World

Fault = tuple[Location, str]


def check_days(days: Sequence[Day], homes: LifeHomes) -> None:
    """Check scenarios.

    Raises:
        InvalidValueError: what they ask for cannot be; every fault is told.
    """
    faults = [day.fault(location, text) for day in days for location, text in _faults(day, homes)]
    if faults:
        raise InvalidValueError("\n".join(faults))


def _faults(day: Day, homes: LifeHomes) -> Iterator[Fault]:
    scenario = day.scenario
    try:
        world = homes.world(scenario)
    except MisfitError as error:
        yield error.location, str(error)
        return
    if isinstance(scenario.known, tuple):
        for number, name in enumerate(scenario.known):
            if name not in {room.id for room in world.layout.rooms}:
                yield ("known", number), f"there is no room {name!r} in {world.layout.name}"
    yield from _DayCheck(scenario, world).faults()


class _DayCheck:
    """Goes through a scenario's events in a home in which no robot does anything."""

    def __init__(self, scenario: form.Scenario, world: World) -> None:
        self._scenario = scenario
        self._world = world
        self._ids = {thing.id for thing in world}
        self._faults: list[form.Fault] = []
        self._is_spoken_to = False

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong."""
        for index, event in enumerate(self._scenario.events):
            for location, text in self._event(event):
                yield ("events", index, *location), text

    def _event(self, event: form.Event) -> Iterator[Fault]:
        match event:
            case form.Move():
                for thing, place in event.move.items():
                    yield from self._done(("move", thing), thing, partial(self._put, place))
            case form.ChangeState():
                yield from self._states(event)
            case form.Add():
                yield from self._add(event)
            case form.Remove():
                for number, thing in enumerate(event.remove):
                    yield from self._done(("remove", number), thing, self._take_away)
            case form.BeginFault():
                yield from self._begin_fault(event.fault)
            case form.Mend():
                yield from self._mend(event)
            case form.See():
                if placing.room_called(self._world, event.see) is None:
                    yield ("see",), f"there is no room {event.see!r} in {self._world.layout.name}"
            case form.Do() | form.Ask() | form.Answer():
                yield from self._step(event)

    def _done(self, location: Location, thing_id: str, act: Callable[[Thing], None]) -> Iterator[Fault]:
        """Do something with a thing; yield what is wrong with that."""
        found = placing.pieces_of(self._world, thing_id)
        if not found:
            yield location, f"there is no thing {thing_id!r}" + (" any more" if thing_id in self._ids else "")
        try:
            for thing in found:
                act(thing)
        except placing.NoRoomError:
            pass  # there may be room when it is played
        except (InvalidValueError, NotFoundError) as error:
            yield location, str(error)

    def _put(self, place: str, thing: Thing) -> None:
        placing.put(self._world, thing, place)

    def _take_away(self, thing: Thing) -> None:
        placing.take_away(self._world, thing)

    def _states(self, event: form.ChangeState) -> Iterator[Fault]:
        for name, states in event.state.items():
            found = placing.pieces_of(self._world, name) or self._world.of_class(name)[:1]
            if not found:
                yield ("state", name), f"there is no thing {name!r}"
            for thing in found:
                if not any(placing.can_be(thing, state) for state in states):
                    yield ("state", name), f"{thing.class_name} cannot be {', '.join(map(str, states))}"
                placing.change_states(self._world, thing, states)

    def _add(self, event: form.Add) -> Iterator[Fault]:
        for thing_id, newcomer in event.add.items():
            location: Location = ("add", thing_id)
            if thing_id in self._world:
                yield location, f"there is something called {thing_id!r} already"
                continue
            self._ids.add(thing_id)
            try:
                if newcomer.class_name == placing.USER_CLASS:
                    add_person(self._world, thing_id, newcomer.at)
                    continue
                thing = placing.new_thing(self._world, thing_id, newcomer.class_name)
            except (InvalidValueError, placing.NoRoomError) as error:
                yield location, str(error)
                continue
            self._world.add(thing)
            yield from self._done(location, thing_id, partial(self._put, newcomer.at))

    def _begin_fault(self, fault: form.Fault) -> Iterator[Fault]:
        self._faults.append(fault)
        yield from self._keys(("fault",), fault)
        if fault.unless is not None:
            yield from self._keys(("fault", "unless"), fault.unless)

    def _mend(self, event: form.Mend) -> Iterator[Fault]:
        ended = [one for one in self._faults if is_mended_by(one, event.mend)]
        if not ended:
            yield ("mend",), "no fault with these keys has begun"
        self._faults = [one for one in self._faults if one not in ended]

    def _keys(self, location: Location, keys: form.FaultKeys) -> Iterator[Fault]:
        yield from self._known((*location, "thing"), keys.thing, classes=False)
        yield from self._known((*location, "place"), keys.place, classes=False)
        if keys.class_name and not self._is_class(keys.class_name):
            yield (*location, "class"), f"{keys.class_name!r} is no class"

    # --- steps

    def _step(self, event: form.Step) -> Iterator[Fault]:
        if isinstance(event, form.Answer) and not self._is_spoken_to:
            yield ("answer",), "the robot cannot have asked anything yet"
        self._is_spoken_to = True
        if isinstance(event, form.Do):
            for number, goal in enumerate(event.goals):
                for key in ("object", "place"):
                    yield from self._known(("goals", number, key), getattr(goal, key), rooms=True)
        if event.want is not None:
            unknown = list(self._want(event.want, event.words))
            for location, text in unknown or impossible(event.want, self._world):
                yield ("want", *location), text

    def _want(self, want: form.Want, words: str) -> Iterator[Fault]:
        for thing, place in want.at.items():
            yield from self._known(("at", thing), thing)
            if place != HAND_PLACE:
                yield from self._known(("at", thing), place, rooms=True)
        for thing in want.state:
            yield from self._known(("state", thing), thing)
        for key in ("calls", "no_calls"):
            for number, call in enumerate(getattr(want, key)):
                for thing in call.split()[1:]:
                    yield from self._known((key, number), thing, classes=False)
        for number, thing in enumerate(want.only or ()):
            yield from self._known(("only", number), thing, classes=False)
        for number, alternatives in enumerate(want.says):
            if all(is_said(one, words) for one in alternatives):
                yield ("says", number), f"the instruction itself contains {' | '.join(alternatives)}"

    def _known(self, location: Location, name: str, classes: bool = True, rooms: bool = False) -> Iterator[Fault]:
        """Yield a fault where a name is no thing's, and no class's or room's where those may stand."""
        if not name or placing.whole_of(name) in self._ids:
            return
        if (classes and self._is_class(name)) or (rooms and placing.room_called(self._world, name) is not None):
            return
        meant = " or class" if classes else ""
        yield location, f"there is no thing{meant} {name!r} in {self._world.layout.name}"

    def _is_class(self, name: str) -> bool:
        return bool(self._world.types.called(name))
