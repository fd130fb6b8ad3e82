"""Checks scenarios against their homes before anything is played: what cannot be is told with file and line.

Of what a step wants it refuses what can never hold, and errs on the side of letting through: a robot may do before the
step what no event tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations

from benchmarks.life import day_form as form
from benchmarks.life import home
from benchmarks.life.calls import is_mended_by, plain
from benchmarks.life.day_file import Day, Location
from benchmarks.life.day_form import Want
from benchmarks.life.home import LifeHomes, MisfitError
from benchmarks.life.judge import HAND_PLACE, is_said, things_meant
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.sim.thing import Thing
from memory_node.sim.world import World

# What is looked into on a search is no call of its own.
_UNCOUNTED = frozenset({"OpenObject"})
# Stands for any ending in a wanted word ("mug*"), so that it is one word to `is_said`.
_ANY_ENDING = "\u02bc"
Fault = tuple[Location, str]


def impossible(want: Want, world: World) -> Iterator[Fault]:
    """Yield what of a step can never hold in a home as the events leave it, whatever the robot does."""
    for name, place in want.at.items():
        if text := _never_at(world, name, place):
            yield ("at", name), text
    held = [name for name, place in want.at.items() if place == HAND_PLACE and home.pieces_of(world, name)]
    if len(held) > 1:
        yield ("at", held[1]), f"the hand holds one thing, not {' and '.join(held)}"
    for name, states in want.state.items():
        things = _may_be(world, name)
        for one in states:
            if one.holds and not any(one.state in thing.states or home.can_be(thing, one.state) for thing in things):
                yield ("state", name), f"{name} can never be {one.state}"
        for one, other in combinations(states, 2):
            opposed = other.state in one.state.opposites if one.holds and other.holds else one.state is other.state
            if opposed and one != other and name in world:
                yield ("state", name), f"{name} cannot be both {one} and {other}"
    yield from _calls(want, world)
    for number, words in enumerate(want.says):
        if all(any(is_said(silent, _as_word(one)) for silent in want.silent_on) for one in words):
            yield ("says", number), f"silent_on forbids to say {' | '.join(words)}"


def _may_be(world: World, name: str) -> Sequence[Thing]:
    """Return the things that a name means, or those that are cut into such things."""
    return things_meant(world, name) or [thing for thing in world if thing.kind.slices == name]


def _never_at(world: World, name: str, place: str) -> str:
    """Return why a thing can never be at a place, "" where it can."""
    things = _may_be(world, name)
    if not things:
        return f"there is no {name} then"
    if place == HAND_PLACE:
        return "" if any(thing.kind.pickupable for thing in things) else f"a hand cannot take {name}"
    if place not in world and home.room_called(world, place) is not None:
        return ""
    places = things_meant(world, place)
    if not places:
        return f"there is no {place} then"
    why = [_never_on(world, thing, support) for thing in things for support in places]
    return "" if "" in why else why[0]


def _never_on(world: World, thing: Thing, support: Thing) -> str:
    """Return why a thing can never be directly on or in another, "" where it can or is."""
    if thing.parent_id == support.id:
        return ""
    if not thing.kind.pickupable:
        return f"{thing.id} is nothing that can be put at {support.id}"
    # A piece may fit where the whole does not.
    if home.is_person(support) or (thing.kind.slices and support.kind.is_receptacle):
        return ""
    try:
        home.receptacle_called(world, support.id, thing)
    except InvalidValueError as error:
        return str(error)
    return ""


def _calls(want: Want, world: World) -> Iterator[Fault]:
    for number, call in enumerate(want.calls):
        skill, *names = call.split()
        for name in names:
            if not home.pieces_of(world, home.whole_of(name)):
                yield ("calls", number), f"there is no thing {name!r} any more"
        things = [thing for name in names for thing in home.pieces_of(world, home.whole_of(name))]
        if things and not any(_takes(skill, thing) for thing in things):
            yield ("calls", number), f"{skill} can never be done with {' '.join(names)}"
        if any(_covers(one, call) for one in want.no_calls):
            yield ("calls", number), f"no_calls forbids {call}"
    counted = {plain(call.split()[0]) for call in want.calls} - _UNCOUNTED
    if want.most_calls is not None and len(counted) > want.most_calls:
        yield ("most_calls",), f"{len(counted)} calls are wanted"
    if want.most_searches == 0 and "Explore" in counted:
        yield ("most_searches",), "Explore is wanted, which is a search"


def _takes(skill: str, thing: Thing) -> bool:
    """Return whether a thing can be one of a skill's arguments, as far as its kind decides."""
    declared = SKILLS[skill]
    facts = [rule.fact for rule in declared.preconditions if rule.fact.predicate is Predicate.KIND]
    if skill == "PutObject" and (thing.kind.pickupable or home.is_person(thing)):
        return True
    first = [fact for fact in facts if fact.arguments[0] == declared.arguments[0].name]
    others = declared.composite or len(declared.arguments) > 1
    if others and thing.fixed and skill != "PutObject":
        return True  # the appliance or the source
    return all(thing.kind.satisfies(fact.ability) for fact in (first or facts))


def _covers(forbidden: str, call: str) -> bool:
    """Return whether whatever fits a wanted call fits a forbidden one."""
    skill, *things = forbidden.split()
    wanted, *others = call.split()
    return plain(skill) == plain(wanted) and set(things) <= set(others)


def _as_word(text: str) -> str:
    return text.replace("*", _ANY_ENDING)


def check_days(days: Sequence[Day], homes: LifeHomes, read_faults: Sequence[str] = ()) -> list[str]:
    """Check scenarios; return where a thing will find no room unless the robot makes it.

    read_faults: what is wrong in their files, to be told with the rest.

    Raises:
        InvalidValueError: what they ask for cannot be; every fault is told.
    """
    crowded: list[str] = []
    faults = [*read_faults, *(day.fault(*one) for day in days for one in _faults(day, homes, crowded))]
    if faults:
        raise InvalidValueError("\n".join(faults))
    return crowded


def _faults(day: Day, homes: LifeHomes, crowded: list[str]) -> Iterator[Fault]:
    scenario = day.scenario
    try:
        world = homes.world(scenario)
    except MisfitError as error:
        yield from error.faults
        return
    if isinstance(scenario.known, tuple):
        for number, name in enumerate(scenario.known):
            if name not in {room.id for room in world.layout.rooms}:
                yield ("known", number), f"there is no room {name!r} in {world.layout.name}"
    check = _DayCheck(scenario, world)
    yield from check.faults()
    crowded += [day.fault(location, f"{text} unless the robot makes it") for location, text in check.crowded]


class _DayCheck:
    """Goes through a scenario's events in a home in which no robot does anything. crowded: what finds no room there."""

    def __init__(self, scenario: form.Scenario, world: World) -> None:
        self._scenario = scenario
        self._world = world
        self._ids = {thing.id for thing in world}
        self._faults: list[form.Fault] = []
        self.crowded: list[Fault] = []
        self._is_spoken_to = False

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong."""
        for index, event in enumerate(self._scenario.events):
            known = len(self.crowded)
            for location, text in self._event(event):
                yield ("events", index, *location), text
            self.crowded[known:] = [(("events", index, *where), text) for where, text in self.crowded[known:]]

    def _event(self, event: form.Event) -> Iterator[Fault]:
        match event:
            case form.Move():
                for thing, place in event.move.items():
                    yield from self._done(("move", thing), thing, partial(home.put, self._world, place=place))
            case form.ChangeState():
                yield from self._states(event)
            case form.Add():
                yield from self._add(event)
            case form.Remove():
                for number, thing in enumerate(event.remove):
                    yield from self._done(("remove", number), thing, partial(home.take_away, self._world))
            case form.BeginFault():
                yield from self._begin_fault(event.fault)
            case form.Mend():
                yield from self._mend(event)
            case form.See():
                if home.room_called(self._world, event.see) is None:
                    yield ("see",), f"there is no room {event.see!r} in {self._world.layout.name}"
            case form.Step():
                yield from self._step(event)

    def _done(self, location: Location, thing_id: str, act: Callable[[Thing], None]) -> Iterator[Fault]:
        """Do something with a thing; yield what is wrong with that."""
        found = home.pieces_of(self._world, thing_id)
        if not found:
            yield location, f"there is no thing {thing_id!r}" + (" any more" if thing_id in self._ids else "")
        try:
            for thing in found:
                act(thing)
        except home.NoRoomError as error:
            self.crowded.append((location, str(error)))
        except (InvalidValueError, NotFoundError) as error:
            yield location, str(error)

    def _states(self, event: form.ChangeState) -> Iterator[Fault]:
        for name, states in event.state.items():
            found = home.pieces_of(self._world, name) or self._world.of_class(name)[:1]
            if not found:
                yield ("state", name), f"there is no thing {name!r}"
            for thing in found:
                if not any(home.can_be(thing, state) for state in states):
                    yield ("state", name), f"{thing.class_name} cannot be {', '.join(map(str, states))}"
                home.change_states(self._world, thing, states)

    def _add(self, event: form.Add) -> Iterator[Fault]:
        for thing_id, newcomer in event.add.items():
            location: Location = ("add", thing_id)
            if thing_id in self._world:
                yield location, f"there is something called {thing_id!r} already"
                continue
            self._ids.add(thing_id)
            try:
                if newcomer.class_name == home.USER_CLASS:
                    home.add_person(self._world, thing_id, newcomer.at)
                    continue
                thing = home.new_thing(self._world, thing_id, newcomer.class_name)
            except (InvalidValueError, home.NoRoomError) as error:
                yield location, str(error)
                continue
            self._world.add(thing)
            yield from self._done(location, thing_id, partial(home.put, self._world, place=newcomer.at))

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
        if not name or home.whole_of(name) in self._ids:
            return
        if (classes and self._is_class(name)) or (rooms and home.room_called(self._world, name) is not None):
            return
        meant = " or class" if classes else ""
        yield location, f"there is no thing{meant} {name!r} in {self._world.layout.name}"

    def _is_class(self, name: str) -> bool:
        return bool(self._world.types.called(name))
