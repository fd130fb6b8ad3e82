"""The symbolic world that the offline planner searches in: named things, what holds of them, where the robot is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.skill_library import ALL_SKILLS, KIND_PREDICATES, Fact, Predicate
from memory_node.domain.states import ObjectState


@dataclass(frozen=True)
class Thing:
    """A thing that a plan is about.

    reference: how skills name it; object_id: the robot's own id once known; memory_id: memory's id if that knew it.
    is_setting: it is only known as the support of another thing; no goal has named it. is_cover: it is only known as a
    closed container of another thing, of unknown class.
    """

    name: str
    object_class: str
    reference: str
    object_id: str = ""
    memory_id: str = ""
    is_setting: bool = False
    is_cover: bool = False

    @property
    def call_name(self) -> str:
        """How calls refer to it: by the robot's own id where it is known, because things of a class may lie close
        together."""
        return self.object_id or self.reference

    @property
    def identities(self) -> frozenset[str]:
        """Every name that it goes by outside the plan."""
        return frozenset({self.reference, self.object_id, self.memory_id} - {""})


@dataclass(frozen=True)
class WorldState:
    """One state of the search: what is held, where the robot stands, what is in or on what, and states of things."""

    held: str = ""
    at: str = ""
    inside: frozenset[tuple[str, str]] = frozenset()
    states: frozenset[tuple[str, ObjectState]] = frozenset()

    def container_of(self, name: str) -> str:
        """Return what the thing is in or on, "" when that is unknown."""
        return next((outer for inner, outer in self.inside if inner == name), "")

    def root_of(self, name: str) -> str:
        """Return the outermost thing that the thing is in or on: where one stands to reach it."""
        for _ in range(4):
            outer = self.container_of(name)
            if not outer:
                return name
            name = outer
        return name

    def has(self, name: str, state: ObjectState) -> bool:
        """Return whether the thing is believed to be in the state."""
        return (name, state) in self.states

    def with_state(self, name: str, state: ObjectState, value: bool = True) -> WorldState:
        """Return the world with a state of a thing begun (which ends its opposites) or ended."""
        ended = {state, *state.opposites} if value else {state}
        kept = {(one, held) for one, held in self.states if one != name or held not in ended}
        return replace(self, states=frozenset(kept | ({(name, state)} if value else set())))

    def put(self, name: str, container: str) -> WorldState:
        """Return the world with the thing in or on another ("" = nowhere known)."""
        kept = {(inner, outer) for inner, outer in self.inside if inner != name}
        return replace(self, inside=frozenset(kept | ({(name, container)} if container else set())))

    def renamed(self, old: str, new: str) -> WorldState:
        """Return the world with a thing under another name; one that had this name before is taken to be the same."""

        def name_of(name: str) -> str:
            return new if name == old else name

        inside = {(name_of(inner), name_of(outer)) for inner, outer in self.inside}
        return WorldState(
            name_of(self.held),
            name_of(self.at),
            frozenset((inner, outer) for inner, outer in inside if inner != outer),
            frozenset((name_of(name), held) for name, held in self.states),
        )


@dataclass
class Belief:
    """The things that the current goal is about and the state that they are believed to be in.

    apart: things that were out of reach from where what they are on or in was reached. skills: names of those that the
    robot does.
    """

    kinds: ObjectCatalogue
    things: dict[str, Thing] = field(default_factory=dict)
    state: WorldState = field(default_factory=WorldState)
    apart: set[str] = field(default_factory=set)
    skills: frozenset[str] = ALL_SKILLS

    def add(self, thing: Thing, container: str = "") -> None:
        """Take in a thing, or replace what was known of it."""
        self.things[thing.name] = thing
        if container:
            self.state = self.state.put(thing.name, container)

    def forget(self, name: str) -> None:
        """Drop a thing that is not where it was believed to be."""
        self.things.pop(name, None)
        inside = frozenset(pair for pair in self.state.inside if name not in pair)
        states = frozenset(pair for pair in self.state.states if pair[0] != name)
        held = "" if self.state.held == name else self.state.held
        at = "" if self.state.at == name else self.state.at
        self.state = WorldState(held, at, inside, states)

    def rename(self, old: str, new: str) -> None:
        """Give a thing another name; all that is believed of it stays."""
        self.things[new] = replace(self.things.pop(old), name=new, is_setting=False)
        self.state = self.state.renamed(old, new)

    def named(self, reference: str) -> Thing | None:
        """Return the thing that a skill's argument or a robot's id stands for."""
        for thing in self.things.values():
            if reference == thing.name or reference in thing.identities:
                return thing
        return None

    def identify(self, name: str, object_id: str) -> None:
        """Note the robot's own id of a thing. What stands under or around another thing may turn out to be a thing that
        the goal knows under a name of its own: the two become one, which keeps that name."""
        if name not in self.things or not object_id:
            return
        thing = self.things[name] = replace(self.things[name], object_id=object_id)
        twin = next((one for one in self.things.values() if one.object_id == object_id and one is not thing), None)
        if twin is not None and twin.is_setting:
            self._unite(twin, thing)
        elif twin is not None and thing.is_setting:
            self._unite(thing, twin)

    def recognize(self, object_id: str, memory_id: str) -> None:
        """Note by which id memory knows a thing that the robot has an id for; "" changes nothing."""
        thing = self.named(object_id)
        if thing is not None and memory_id:
            self.things[thing.name] = replace(thing, memory_id=memory_id)

    def _unite(self, setting: Thing, thing: Thing) -> None:
        self.things.pop(setting.name)
        self.things[thing.name] = replace(thing, memory_id=thing.memory_id or setting.memory_id)
        self.state = self.state.renamed(setting.name, thing.name)

    def _put_down(self, change: StateChange) -> Thing | None:
        """Return the thing that was in the hand, known by its class alone, when a skill tells that it was put down;
        from now on it goes by the id that the skill tells."""
        held = self.things.get(self.state.held)
        if held is None or held.object_id or change.held is not False:
            return None
        if folded(held.object_class) != folded(change.object_class):
            return None
        self.identify(held.name, change.object_id)
        return self.named(change.object_id)

    def observe(self, change: StateChange) -> None:
        """Take over what a skill reports to have changed, as far as it is about these things."""
        thing = self.named(change.object_id) or self._put_down(change)
        if thing is None:
            return
        for state in change.removed:
            self.state = self.state.with_state(thing.name, state, value=False)
        for state in change.added:
            self.state = self.state.with_state(thing.name, state)
        if change.held is True:
            self.state = replace(self.state.put(thing.name, ""), held=thing.name)
        elif change.held is False:
            support = self.named(change.support_id) if change.support_id else None
            held = "" if self.state.held == thing.name else self.state.held
            self.state = replace(self.state.put(thing.name, support.name if support else ""), held=held)


def is_on_lid(thing: SceneObject, support_class: str, kinds: ObjectCatalogue) -> bool:
    """Return whether a thing lies on something with a lid or door: what lies on a fridge is not behind its door."""
    return kinds[support_class].lidded and not thing.inside


def holds(fact: Fact, binding: dict[str, str], state: WorldState, belief: Belief) -> bool:
    """Return whether a declared fact holds in a state for the things bound to its arguments."""
    names = [binding[argument] for argument in fact.arguments]
    return _is_true(fact, names, state, belief) == fact.value


def _is_true(fact: Fact, names: list[str], state: WorldState, belief: Belief) -> bool:
    predicate = fact.predicate
    if predicate in KIND_PREDICATES:
        return _is_of_kind(predicate, belief.things[names[0]], belief)
    truth = _TRUTHS.get(predicate)
    return truth is not None and truth(fact, names, state, belief)


def _holds_cutter(_fact: Fact, _names: list[str], state: WorldState, belief: Belief) -> bool:
    return bool(state.held) and belief.kinds[belief.things[state.held].object_class].can(Property.CUTS)


def _is_near(_fact: Fact, names: list[str], state: WorldState, belief: Belief) -> bool:
    """Return whether the robot reaches a thing: one on the same outermost support is in reach, unless it proved too
    far."""
    if names[0] in (state.held, state.at) or names[0] in belief.apart:
        return names[0] in (state.held, state.at)
    return bool(state.at) and state.root_of(names[0]) == state.root_of(state.at)


def _is_contained(_fact: Fact, names: list[str], state: WorldState, _belief: Belief) -> bool:
    outer = state.container_of(names[0])
    return bool(outer) and (len(names) == 1 or outer == names[1])


def _has_state(fact: Fact, names: list[str], state: WorldState, _belief: Belief) -> bool:
    assert fact.state is not None
    return state.has(names[0], fact.state)


def _is_accessible(_fact: Fact, names: list[str], state: WorldState, belief: Belief) -> bool:
    return state.held == names[0] or _is_open(state.container_of(names[0]), state, belief)


# How each predicate is evaluated in a state. Facts of other predicates are never believed.
_TRUTHS: dict[Predicate, Callable[[Fact, list[str], WorldState, Belief], bool]] = {
    Predicate.HAND_EMPTY: lambda _fact, _names, state, _belief: not state.held,
    Predicate.HOLDING: lambda _fact, names, state, _belief: state.held == names[0],
    Predicate.HOLDING_CUTTER: _holds_cutter,
    Predicate.NEAR: _is_near,
    Predicate.CONTAINED: _is_contained,
    Predicate.STATE: _has_state,
    Predicate.ACCESSIBLE: _is_accessible,
    Predicate.OPEN_OR_UNLIDDED: lambda _fact, names, state, belief: _is_open(names[0], state, belief),
    Predicate.KNOWN: lambda _fact, _names, _state, _belief: True,
}


def _is_of_kind(predicate: Predicate, thing: Thing, belief: Belief) -> bool:
    if thing.is_cover:
        return predicate is Predicate.OPENABLE
    return belief.kinds[thing.object_class].satisfies(predicate)


def _is_open(name: str, state: WorldState, belief: Belief) -> bool:
    thing = belief.things.get(name)
    if thing is None or not (thing.is_cover or belief.kinds[thing.object_class].lidded):
        return True
    return state.has(name, ObjectState.OPENED)
