"""What is believed of the things around a robot, its hand and its place: one immutable value.

Things are kept in a plain dict that is copied for each change. For the 6 to 400 things that a goal or a home has, that
takes 0.1 to 0.7 us; persistent maps (immutables, pyrsistent) save nothing below 100 things and hash slower.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import DOORS, ObjectState

# Of a class that no label space declares: a detector may call things anything.
_LONGEST_CLASS = 40
_UNNAMED = "Thing"
THING_NAMES = "thing_names"  # the store's kind of the last number that was given in each class


def name_of_class(class_name: str) -> str:
    """Return what the names of the things of a class begin with."""
    return "".join(letter for letter in class_name if letter.isalnum())[:_LONGEST_CLASS] or _UNNAMED


class ThingNames:
    """Which id each name stands for. Names are found however they are spelt: "side table 2" is SideTable 2."""

    def __init__(self) -> None:
        self._id_of: dict[str, str] = {}
        self._last: dict[str, int] = {}
        self._given: dict[str, int] = {}

    def id_of(self, text: str) -> str:
        """Return the id that a name or an alias stands for, "" for none."""
        return self._id_of.get(_spelling(text), "")

    def give(self, object_id: str, class_name: str) -> str:
        """Return a new name for a thing of a class."""
        word = name_of_class(class_name)
        start = self._last.get(word.casefold(), 0) + 1
        number = next(one for one in itertools.count(start) if not self.id_of(f"{word} {one}"))
        self.note_last({word: number})
        self._given[word] = number
        name = f"{word} {number}"
        self._id_of[_spelling(name)] = object_id
        return name

    def take(self, object_id: str, names: Iterable[str]) -> None:
        """Let names stand for a thing; one that was given to another thing keeps its meaning."""
        for name in filter(None, names):
            self._id_of.setdefault(_spelling(name), object_id)
            word, _, number = name.rpartition(" ")
            if word and number.isascii() and number.isdigit():
                self.note_last({word: int(number)})

    def drop(self, object_id: str, names: Iterable[str]) -> None:
        """Let the names of a thing stand for nothing."""
        for name in names:
            if self.id_of(name) == object_id:
                del self._id_of[_spelling(name)]

    @property
    def last(self) -> dict[str, int]:
        """The last number that was given in each class."""
        return dict(self._last)

    def note_last(self, last: Mapping[str, int]) -> None:
        """Take over the last numbers that were given, by class."""
        for word, number in last.items():
            self._last[word.casefold()] = max(number, self._last.get(word.casefold(), 0))

    def take_given(self) -> dict[str, int]:
        """Return the last number of each class in which names were given since this was asked last."""
        given, self._given = self._given, {}
        return given


def called(reference: str, objects: Sequence[SceneObject]) -> SceneObject | None:
    """Return which of some things an id, a name or an alias stands for, None for none."""
    names, by_id = ThingNames(), {one.id: one for one in objects}
    for one in objects:
        names.take(one.id, (one.name, *one.aliases))
    return by_id.get(reference) or by_id.get(names.id_of(reference))


def _spelling(name: str) -> str:
    return folded(name) or name


_DEPTH = 8  # containers in containers; a home has four at most


@dataclass(frozen=True)
class Thing:
    """A thing as it is believed to be.

    id: its key in a state, by which its owner knows it. object_class: "" where only an id is known. reference: how
    skills name it, "" for its id; object_id: the robot's own id; memory_id: memory's. container: the key of what it is
    in or on, "" where that is unknown; inside: in it, not on it, None where nobody knows. count: of pieces that nothing
    tells apart. states: those that are believed; denied: those that are known not to hold. position (x, y, z in map)
    and room: where memory holds it to be. existence: how sure memory is that it is there, in [0, 1]. description: what
    it looks like, in somebody's words.
    """

    id: str
    object_class: str
    reference: str = ""
    object_id: str = ""
    memory_id: str = ""
    container: str = ""
    inside: bool | None = None
    count: int = 1
    states: frozenset[ObjectState] = frozenset()
    denied: frozenset[ObjectState] = frozenset()
    position: tuple[float, float, float] | None = field(default=None, compare=False)
    room: str = field(default="", compare=False)
    existence: float = field(default=1.0, compare=False)
    description: str = field(default="", compare=False)

    @property
    def call_name(self) -> str:
        """How calls refer to it: by the robot's own id where it is known, because things of a class may lie close
        together."""
        return self.object_id or self.reference or self.id

    @property
    def identities(self) -> frozenset[str]:
        """Every name that it goes by outside the state."""
        return frozenset({self.reference, self.object_id, self.memory_id} - {""})

    @property
    def door(self) -> ObjectState | None:
        """OPENED or CLOSED, None where neither is believed."""
        return next(iter(self.states & DOORS), None)

    def has(self, state: ObjectState) -> bool | None:
        """Return whether it is in a state, None where nobody knows."""
        if state in self.states:
            return True
        return False if state in self.denied or not self.states.isdisjoint(state.opposites) else None

    def with_state(self, state: ObjectState, value: bool = True) -> Thing:
        """Return it with a state begun, which ends its opposites, or ended."""
        if not value:
            return self.changed(states=self.states - {state}, denied=self.denied | {state})
        return self.changed(states=(self.states - state.opposites) | {state}, denied=self.denied - {state})

    def changed(self, **changes: object) -> Thing:
        """Return it with other values in some fields; a search does this thousands of times, and checks nothing."""
        other = object.__new__(Thing)
        values = other.__dict__
        values.update(self.__dict__)
        values.update(changes)
        return other

    def cut_into(self, object_class: str, object_id: str = "", count: int = 1) -> Thing:
        """Return the pieces of it as one thing: they lie where it was, and keep its states. object_id: of the first."""
        reference, memory_id = (object_id, "") if object_id else (self.reference, self.memory_id)
        return replace(
            self,
            object_class=object_class,
            reference=reference,
            object_id=object_id,
            memory_id=memory_id,
            states=self.states | {ObjectState.SLICED},
            count=count,
        )


@dataclass(frozen=True, eq=False)
class WorldState:
    """One state. All keys are those of `things`.

    held: the key of what the hand holds, "" for nothing, None where nobody knows. at: of what the robot stands at, ""
    for nothing known, None where nobody knows. apart: what proved out of reach from where its support is reached.
    within: what is measured to be in reach from here.
    """

    kinds: ObjectCatalogue
    things: Mapping[str, Thing] = field(default_factory=dict)
    held: str | None = ""
    at: str | None = ""
    apart: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()

    @classmethod
    def of_things(cls, kinds: ObjectCatalogue, things: Iterable[Thing], held: str | None = "") -> WorldState:
        """Return the state of some things, the robot at none of them."""
        return cls(kinds, {thing.id: thing for thing in things}, held)

    # --- reading

    def __iter__(self) -> Iterator[Thing]:
        return iter(self.things.values())

    @property
    def changing(self) -> tuple[object, ...]:
        """What skills change of it: two states of the same things are one where this is equal."""
        things = self.things.values()
        return (self.held, self.at, *[thing.container for thing in things], *[thing.states for thing in things])

    @cached_property
    def _key_of(self) -> Mapping[str, str]:
        return {name: thing.id for thing in reversed(list(self.things.values())) for name in thing.identities}

    @cached_property
    def _spelt(self) -> ThingNames:
        names = ThingNames()
        for key in self.things:
            names.take(key, (key,))
        return names

    def called(self, name: str) -> Thing | None:
        """Return the thing that a key stands for, however it is spelt."""
        return self.things.get(name) or self.things.get(self._spelt.id_of(name))

    def named(self, reference: str) -> Thing | None:
        """Return the thing that a key, an id or a skill's argument stands for."""
        known = self.things.get(reference)
        return known or self.things.get(self._key_of.get(reference, "")) or self.called(reference)

    def of_class(self, *classes: str) -> list[Thing]:
        """Return the things of some classes, however they are spelt."""
        wanted = set(map(folded, classes))
        return [thing for thing in self if folded(thing.object_class) in wanted]

    def container_of(self, key: str) -> str:
        """Return what a thing is in or on, "" where that is unknown."""
        thing = self.things.get(key)
        return thing.container if thing is not None else ""

    def around(self, key: str) -> Iterator[tuple[Thing, Thing]]:
        """Yield what a thing is in or on, then what that is in or on, and so on, each behind what is in or on it."""
        thing = self.things.get(key)
        for _ in range(_DEPTH):
            outer = self.things.get(thing.container) if thing is not None else None
            if thing is None or outer is None:
                return
            yield thing, outer
            thing = outer

    def root_of(self, key: str) -> str:
        """Return the outermost thing that a thing is in or on: where one stands to reach it."""
        root = key
        for _, outer in self.around(key):
            root = outer.id
        return root

    def contents(self, key: str) -> list[Thing]:
        """Return what is in or on a thing, directly."""
        return [thing for thing in self if thing.container == key]

    def nearest(self, to: Thing, among: Iterable[Thing]) -> Thing | None:
        """Return the thing whose middle is nearest to another's; None where nothing, or not that one, is placed."""
        placed = [(math.dist(one.position, to.position), one) for one in among if one.position and to.position]
        return min(placed, key=lambda found: found[0], default=(0.0, None))[1]

    def has(self, key: str, state: ObjectState) -> bool:
        """Return whether a thing is believed to be in a state."""
        thing = self.things.get(key)
        return thing is not None and state in thing.states

    # --- deriving

    def _with(self, *changed: Thing) -> WorldState:
        things = dict(self.things)
        things.update((thing.id, thing) for thing in changed)
        return WorldState(self.kinds, things, self.held, self.at, self.apart, self.within)

    def with_thing(self, thing: Thing) -> WorldState:
        """Return the state with a thing, in place of what had its key."""
        return self._with(thing)

    def without(self, key: str) -> WorldState:
        """Return the state without a thing; what was in or on it is nowhere known."""
        things = {
            name: replace(thing, container="", inside=None) if thing.container == key else thing
            for name, thing in self.things.items()
            if name != key
        }
        held = "" if self.held == key else self.held
        return WorldState(self.kinds, things, held, "" if self.at == key else self.at, self.apart - {key})

    def renamed(self, old: str, new: str) -> WorldState:
        """Return the state with a thing under another key; what had this key before is taken to be the same: what is
        known of it, and of the thing where both are known, stays."""

        def key(name: str | None) -> str | None:
            return new if name == old else name

        kept: dict[str, Thing] = {}
        for name, thing in self.things.items():
            moved = replace(thing, id=key(name) or "", container=key(thing.container) or "")
            twin = kept.get(moved.id)
            if twin is not None:
                moved = replace(
                    moved if name == new else twin,
                    states=twin.states | moved.states,
                    container=next((one for one in (moved.container, twin.container) if one not in ("", new)), ""),
                )
            kept[moved.id] = moved if moved.container != moved.id else replace(moved, container="")
        apart = frozenset(key(one) or "" for one in self.apart)
        return WorldState(self.kinds, kept, key(self.held), key(self.at), apart)

    def with_state(self, key: str, state: ObjectState, value: bool = True) -> WorldState:
        """Return the state with a state of a thing begun, which ends its opposites, or ended."""
        thing = self.things.get(key)
        return self if thing is None else self._with(thing.with_state(state, value))

    def put(self, key: str, container: str, inside: bool | None = None) -> WorldState:
        """Return the state with a thing in or on another ("" = nowhere known)."""
        thing = self.things.get(key)
        return self if thing is None else self._with(thing.changed(container=container, inside=inside))

    def holding(self, key: str | None) -> WorldState:
        """Return the state with a thing in the hand, "" for nothing, None where nobody knows."""
        state = self.put(key, "") if key else self
        return WorldState(state.kinds, state.things, key, state.at, state.apart)

    def standing_at(self, key: str | None) -> WorldState:
        """Return the state with the robot at a thing, "" for none, None where nobody knows."""
        return WorldState(self.kinds, self.things, self.held, key, self.apart)

    def out_of_reach(self, *keys: str) -> WorldState:
        """Return the state in which things proved out of reach from where their supports are reached."""
        return WorldState(self.kinds, self.things, self.held, self.at, self.apart.union(keys))

    def told(self, changes: Iterable[StateChange]) -> WorldState:
        """Return the state after what a skill reports to have changed, as far as it is about these things. A thing
        that was cut continues as its pieces: one entry, of their class, where the whole was."""
        changes, state = tuple(changes), self
        pieces: dict[str, list[StateChange]] = {}
        for change in changes:
            if change.created_from:
                pieces.setdefault(change.created_from, []).append(change)
        for change in changes:
            whole = state.named(change.object_id) if change.destroyed else None
            cut = pieces.get(change.object_id, []) if whole is not None else []
            if whole is not None and cut:
                state = state._with(whole.cut_into(cut[0].object_class, cut[0].object_id, len(cut)))
            else:
                state = state._told(change)
        return state

    def _told(self, change: StateChange) -> WorldState:
        thing = self.named(change.object_id)
        if thing is None and change.held is False and self._is_put_down(change):
            assert self.held
            thing = replace(self.things[self.held], object_id=change.object_id)
        if thing is None:
            return self
        if change.destroyed:
            return self.without(thing.id)
        for one in change.removed:
            thing = thing.with_state(one, value=False)
        for one in change.added:
            thing = thing.with_state(one)
        state = self._with(thing)
        if change.held is True:
            return state.holding(thing.id)
        if change.held is False:
            support = self.named(change.support_id) if change.support_id else None
            state = state.put(thing.id, support.id if support else "", self._inside(change, support))
            return state.holding("") if state.held == thing.id else state
        return state

    def _inside(self, change: StateChange, support: Thing | None) -> bool | None:
        """Return whether what was put down is in its support, not on it. A robot that says nothing of that may mean
        either where its support takes things in."""
        kind = self.kinds.get(support.object_class) if support is not None else None
        return True if change.inside else None if kind is None or kind.holds_inside else False

    def _is_put_down(self, change: StateChange) -> bool:
        """Return whether a change is about what is in the hand, which is known by its class alone."""
        held = self.things.get(self.held or "")
        return held is not None and not held.object_id and folded(held.object_class) == folded(change.object_class)
