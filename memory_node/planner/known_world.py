"""The things that a language model's calls may name, their believed states, and the calls that are possible now. Names
are "Mug", "Mug 2", ...: a small model spells them right, they cost a token or two, and they contain no text from
outside. Each name stands for a reference that the skills take.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import Skill, declaration
from memory_node.domain.states import ObjectState, believed
from memory_node.planner.belief import Belief, is_on_lid
from memory_node.planner.found_things import FoundThings
from memory_node.planner.goal_check import JudgedThing
from memory_node.planner.lids import Lids, lid_over
from memory_node.planner.needed_classes import NeededClasses
from memory_node.planner.prompt_objects import prompt_objects
from memory_node.planner.shown_names import ShownNames
from memory_node.planner.world_prompt import world_lines
from memory_node.world.skills import possible
from memory_node.world.state import Thing, WorldState

# Least value of a thing whose existence is doubtful: it can still be looked at.
_LEAST_VALUE = 0.01
# Factor on a call's value for each of its things that the instruction does not name.
_VALUE_BESIDE = 0.2
# Factor on a call's value for each repetition.
_VALUE_OF_AGAIN = 0.2
# Factor on the value of taking up what is where a goal wants it.
_VALUE_OF_UNDOING = 0.02


@dataclass
class KnownWorld:
    """The things of one instruction; `refresh` follows memory.

    about: the classes that the instruction speaks of, the most important first. most: how many things are named,
    besides what they lie on. brief: only things of the instruction, things that the skills need, and their supports are
    named. found: by earlier attempts at the instruction. handled: identities of things that were handled before; of the
    things of a class these are named first.
    """

    kinds: ObjectCatalogue
    about: tuple[str, ...]
    skills: tuple[Skill, ...]
    most: int = 40
    brief: bool = False
    found: InitVar[FoundThings | None] = None
    handled: Collection[str] = frozenset()
    belief: Belief = field(init=False)
    _names: ShownNames = field(init=False)
    _robot_ids: dict[str, str] = field(default_factory=dict)  # name -> the robot's own id
    _found: FoundThings = field(init=False)
    _needed: NeededClasses = field(init=False)
    _places: dict[str, str] = field(default_factory=dict)  # an area's name -> its position as Explore takes it
    _existence: dict[str, float] = field(default_factory=dict)  # by name
    _gone: set[str] = field(default_factory=set)
    _made: Counter[tuple[str, ...]] = field(default_factory=Counter)  # by skill and names
    _failed: set[SkillCall] = field(default_factory=set)
    _known: Mapping[str, SceneObject] = field(default_factory=dict)  # by memory's ids
    _lids: Lids = field(default_factory=Lids)
    _apart: set[str] = field(default_factory=set)  # names of what was out of reach from where its support was reached
    _at: str = ""

    def __post_init__(self, found: FoundThings | None) -> None:
        self.belief = Belief(WorldState(self.kinds))
        self._found = found if found is not None else FoundThings(self.kinds)
        self._names = ShownNames(self.kinds, self._found)
        self._needed = NeededClasses(self.kinds, self.skills)

    def refresh(self, scene: SceneSnapshot, held_id: str = "", held_class: str = "") -> None:
        """Take over what memory believes now; held_id: memory's id of what the hand holds, "" for nothing."""
        self._places = {area.name: f"{area.position[0]:.2f},{area.position[1]:.2f}" for area in scene.areas}
        known = {found.id: found for found in scene.objects if not found.removed and found.id not in self._gone}
        self._known = known
        in_the_way = bool(held_class) and folded(held_class) not in map(folded, self.about)
        chosen = prompt_objects(
            known,
            self.about,
            self._needed.fixtures(self.brief, in_the_way),
            self._names.named_ids,
            self.most,
            self.brief,
            self.handled,
        )
        names = {found.id: self._names.of(found) for found in chosen}
        self._existence = {names[found.id]: found.existence for found in chosen}
        things = {names[found.id]: self._thing(names[found.id], found) for found in chosen}
        for name, place in self._supports(chosen, names):
            things[name] = replace(things[name], container=place)
        things.update(self._found.things)
        held = names.get(held_id, "") or self._held_otherwise(things, held_class, held_id)
        at = self._at if self._at in things else ""
        state = WorldState(self.kinds, things, held, at, frozenset(self._apart))
        self.belief = Belief(state.put(held, "") if held else state)

    def _supports(self, chosen: Iterable[SceneObject], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield (name, name of what it is in or on) of the things whose support has a name. names: by memory's ids."""
        class_of = {found.id: found.class_name for found in chosen}
        for found in chosen:
            support, name = class_of.get(found.support_id), names[found.id]
            if name in self._lids.inside:
                yield name, self._lids.inside[name]
            elif support is not None and not is_on_lid(found, support, self.kinds):
                yield name, names[found.support_id]

    def _states(self, name: str, found: SceneObject) -> Iterator[tuple[str, ObjectState]]:
        """Yield what memory believes of a thing; whether it is open, the robot's last skills tell better."""
        known = self._lids.state_of(name)
        if known is not None:
            yield name, known
        for state in believed(found.states):
            if known is None or state not in (ObjectState.OPENED, ObjectState.CLOSED):
                yield name, state

    def admissible(self) -> dict[str, SkillCall]:
        """Return every call that can be made now and changes something, as it is written, and for the robot."""
        calls: dict[str, SkillCall] = {}
        for skill in self.skills:
            if skill.name == "Explore":
                calls.update((f"Explore({name})", SkillCall("Explore", (name,))) for name in self.unknown_classes())
        for named in possible(self.belief.state, self.skills):
            call = SkillCall(named.skill, tuple(self.belief.things[name].call_name for name in named.arguments))
            if call not in self._failed:
                calls[str(named)] = call
        return calls

    def to_open_first(self, calls: Mapping[str, SkillCall]) -> dict[str, SkillCall]:
        """Return those of some calls that lead to what a wanted thing is shut in, or to another thing of its class."""
        tools = set(map(folded, self._needed.tools))

        def is_wanted(name: str) -> bool:
            thing = self.things.get(name)
            return thing is not None and (self._matters(name) or folded(thing.object_class) in tools)

        return self._lids.leading(calls, self.belief, is_wanted)

    def value(self, call: SkillCall, settled: Collection[str] = ()) -> float:
        """Return memory's value of a call, in (0, 1]: how sure memory is that the things are there, reduced for each
        thing that the instruction does not name, for each repetition of the call, and for taking up what is to stay.

        settled: ids of the things that are to stay; see GoalCheck.settled.
        """
        names = [self._named((reference,)) for reference in call.arguments]
        there = math.prod(self._existence.get(name, 1.0) for name in names)
        beside = sum(bool(name) and name != self.held and not self._matters(name) for name in names)
        again = self._made[self._plain(call)]
        undoing = call.skill == "PickupObject" and any(
            not {name, self.things[name].memory_id}.isdisjoint(settled) for name in names if name
        )
        worth = there * _VALUE_BESIDE**beside * _VALUE_OF_AGAIN**again
        return max(_LEAST_VALUE, worth * (_VALUE_OF_UNDOING if undoing else 1.0))

    def follow(self, result: SkillResult) -> None:
        """Note where the robot stands, its ids of things, and failures."""
        call, subject = result.call, self._named(result.call.arguments)
        self._made[self._plain(call)] += 1
        if not result.success:
            self._note_failure(result, subject)
            return
        self._failed = {other for other in self._failed if set(other.arguments).isdisjoint(call.arguments)}
        self._found.observe(result)
        if call.skill == "Explore" and result.object_id:
            self._add_found(call.arguments[0], result.object_id)
            return
        if subject and result.object_id:
            self._robot_ids[subject] = result.object_id
        if call.skill == "OpenObject":
            self._lids.note_opened(subject)
            self._failed.clear()  # whatever was behind the door, known to be there or not
        elif call.skill == "CloseObject":
            self._lids.note_closed(subject)
        elif call.skill == "PickupObject":
            self._lids.note_taken(subject)
        elif call.skill == "PutObject":
            self._lids.note_used(self._named(call.arguments[1:]))
        self._at = self._where_after(call, subject)

    def _where_after(self, call: SkillCall, subject: str) -> str:
        """Return the name of what the robot stands at after a call that succeeded."""
        if call.skill == "GoToObject":
            return subject
        if call.skill in ("PickupObject", "SliceObject") and self._at == subject:
            # The thing's support is still within reach; a cut thing has left its pieces there.
            return self.belief.state.container_of(subject) or subject
        if call.skill == "PutObject" or declaration(call.skill).composite:
            return self._named(call.arguments[1:]) or self._at
        return self._at

    @property
    def things(self) -> Mapping[str, Thing]:
        """The things by name."""
        return self.belief.things

    @property
    def unmoved(self) -> Hashable:
        """All beliefs but the robot's place: two values are equal if nothing else has changed."""
        state = self.belief.state
        return tuple(self.things), state.standing_at("").changing

    @property
    def areas(self) -> tuple[str, ...]:
        """The names of the areas that can be searched."""
        return tuple(self._places)

    @property
    def held(self) -> str:
        """The name of what the hand holds, "" for nothing."""
        return self.belief.state.held or ""

    def with_references(self, call: SkillCall) -> SkillCall:
        """Return a call whose names are replaced by what they stand for; what is no name stays."""

        def reference(text: str) -> str:
            thing = self.belief.things.get(text)
            # A bare class stays: memory looks it up when the call is made, because the thing may be elsewhere by then.
            if thing is not None and text != thing.object_class:
                return thing.call_name
            return self._places.get(text, text) if call.skill == "Explore" else text

        return SkillCall(call.skill, tuple(map(reference, call.arguments)))

    def thing_of(self, reference: str) -> Thing | None:
        """Return the thing that an argument of a call stands for."""
        return self.belief.named(reference)

    def lines(self) -> list[str]:
        """Return what is known of each thing, one a line."""
        return world_lines(self.belief)

    def unknown_classes(self) -> tuple[str, ...]:
        """Return the classes of unseen things that the instruction names or its treatments need."""
        known = {folded(thing.object_class) for thing in self.belief.things.values()}
        return self._needed.missing(self.about, known)

    def _matters(self, name: str) -> bool:
        """Return whether the instruction names a thing or its contents, or its treatments need the thing."""
        state, wanted = self.belief.state, self._needed.places.union(map(folded, self.about))
        if folded(self.things[name].object_class) in wanted:
            return True
        return any(folded(one.object_class) in wanted for one in state.contents(name))

    # --- which things, and their names

    def _thing(self, name: str, found: SceneObject) -> Thing:
        kind = self.kinds.get(found.class_name)
        object_class = kind.name if kind is not None else found.class_name
        x, y, z = found.box.center.tolist()
        reference = str(ObjectReference.at(object_class, (x, y, z)))
        states = frozenset(state for _, state in self._states(name, found))
        return Thing(name, object_class, reference, self._robot_ids.get(name, ""), found.id, states=states)

    def _held_otherwise(self, things: dict[str, Thing], held_class: str, held_id: str) -> str:
        """Return the name of what the hand holds and memory does not place; a thing without one is named and added."""
        if not held_class:
            return ""
        name = self._found.of_class(held_class)
        if not name:
            name = self._names.new(held_class)
            # Skills know the thing in the hand by its class; memory's id is not the robot's.
            things[name] = Thing(name, held_class, held_class, memory_id=held_id)
            self._found.add_held(things[name])
        return name

    def found_things(self) -> Iterable[JudgedThing]:
        """Return what the robot found and memory does not hold, as a check of goals sees it; the names are the ids."""
        return self._found.judged()

    def _add_found(self, object_class: str, robot_id: str) -> None:
        name = self._names.new(object_class)
        self._found.add(Thing(name, object_class, object_class, robot_id))
        self._robot_ids[name] = robot_id
        self._at = name

    def _named(self, references: Sequence[str]) -> str:
        thing = self.belief.named(references[0]) if references else None
        return thing.id if thing is not None else ""

    def _plain(self, call: SkillCall) -> tuple[str, ...]:
        return (call.skill, *(self._named((reference,)) or reference for reference in call.arguments))

    def _note_failure(self, result: SkillResult, subject: str) -> None:
        """Do not offer the call again until something was done with its things; drop things that are not there. A robot
        that cannot reach a thing, or has ended a drive on the way, is not where it was believed to be."""
        self._failed.add(result.call)
        if result.reason is FailureReason.TOO_FAR or result.call.skill == "GoToObject":
            self._at = ""
        if subject and result.reason is FailureReason.NOT_FOUND and result.call.skill == "GoToObject":
            thing = self.belief.things[subject]
            self._gone.add(thing.memory_id)
            self._found.leave_out(subject)
        elif result.reason is FailureReason.TOO_FAR:
            self._apart.update(filter(None, (self._named((one,)) for one in result.call.arguments)))
        elif result.reason is FailureReason.CLOSED:
            self._note_closed(self._named(result.call.arguments[-1:]), result.object_id)

    def _note_closed(self, name: str, robot_id: str) -> None:
        thing = self.things.get(name)
        found = lid_over(thing, robot_id, self._known, self.kinds, self.things.values()) if thing is not None else None
        lid = self._names.of(found) if found is not None else ""
        if lid and robot_id:
            self._robot_ids[lid] = robot_id
        if lid or (thing is not None and self.kinds[thing.object_class].can(Property.OPENABLE)):
            self._lids.note_closed(name, lid)
