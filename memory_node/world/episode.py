"""What is believed in one instruction: what memory holds, and what the robot's own skills told of that memory has not
taken over.

A memory that is a map made beforehand follows nothing, and one that follows a camera is late. A planner knows all the
same what it has just found, opened, moved and treated.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.scene import HeldObject, SceneObject, SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import declaration
from memory_node.domain.states import ObjectState
from memory_node.world.remembered import remembered
from memory_node.world.skills import after, after_failure
from memory_node.world.state import Thing, WorldState, name_of_class

# What a thing is shut in has its middle so near (m) to the thing, at most: half of a wide cabinet, and some error.
_REACH_M = 1.0
_LID = "Container"  # what a thing is shut in, as far as only the robot knows it


class EpisodeWorld:
    """The world of one instruction, of all its attempts. Things are known by memory's names ("Mug 2"); what was found a
    moment ago, and what a map has that gives no names, is called after its class until the instruction ends.

    state: everything that is believed now. shut_in: things that turned out to be shut in others, by name, until they
    are taken out. same: names of things that turned out to be others, which have another name.
    """

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self.state = WorldState(kinds)
        self.shut_in: dict[str, str] = {}
        self.same: dict[str, str] = {}
        self._kinds = kinds
        self._names: dict[str, str] = {}  # by memory's ids
        self._last: dict[str, Thing] = {}  # as they were when memory had them last, by its ids
        self._own: dict[str, Thing] = {}  # as skills left them, where memory has not taken it over; by name
        self._gone: set[str] = set()  # memory's ids of what was not there
        self._robot_ids: dict[str, str] = {}  # by memory's ids
        self._found: dict[str, int] = {}  # by name of what Explore found: the stamp of the scene before
        self._untold: set[str] = set()  # of these, since the last refresh
        self._stamp_ns = 0  # of the last scene

    # --- what memory holds

    def refresh(self, scene: SceneSnapshot, held: HeldObject | None = None) -> WorldState:
        """Take over what memory holds now, under what skills told and it does not hold; return the state."""
        known = [one for one in scene.objects if not one.removed and one.id not in self._gone]
        there = replace(scene, objects=tuple(known))
        self._keep_names(known)
        self._merge_found(there.believed)
        self._stamp_ns = scene.stamp_ns
        names = {found.id: self._name_of(found.id, found.name, found.class_name) for found in there.believed}
        held_id = held.object_id if held is not None else ""
        memory = remembered(there, self._kinds, held_id, names)
        things = dict(memory.things)
        for name, own in list(self._own.items()):
            seen = things.get(name)
            if seen is None and own.memory_id in self._names and own.memory_id != held_id:
                del self._own[name]  # memory has lost sight of it
            else:
                things[name] = own if seen is None else _placed(own, seen)
        for name, one in list(things.items()):
            robot_id = self._robot_ids.get(one.memory_id, "") or self._robot_id_of(name)
            things[name] = replace(one, object_id=robot_id) if robot_id else one
        for name, outer in self.shut_in.items():
            if name in things and outer in things:
                things[name] = replace(things[name], container=outer, inside=True)
        self._last.update((one.memory_id, one) for one in things.values() if one.memory_id)
        in_hand = memory.held or (self._held_otherwise(held, things) if held is not None else "")
        at = self.state.at if self.state.at is None or self.state.at in things else ""
        self._untold.clear()
        self.state = replace(self.state, things=things, held=in_hand, at=at)
        if in_hand:
            self.state = self.state.put(in_hand, "")
        return self.state

    def _keep_names(self, there: Sequence[SceneObject]) -> None:
        """Let a thing that is new in memory keep the name of one of its class that memory has lost close by: pieces of
        what was cut are taken for one, and told apart again."""
        present = {one.id for one in there} | self._gone
        lost = {key: one for key, one in self._last.items() if key in self._names and key not in present}
        new_ones = [one for one in there if one.id not in self._names] if lost else []
        for new in new_ones:
            distances = [
                (math.dist(one.position, new.box.center), key)
                for key, one in lost.items()
                if one.position is not None and folded(one.object_class) == folded(new.class_name)
            ]
            distance, key = min(distances, default=(math.inf, ""))
            if distance <= _REACH_M:
                del lost[key]
                self._names[new.id] = self._names.pop(key)
                self._robot_ids.update({new.id: self._robot_ids.pop(key)} if key in self._robot_ids else {})

    def _robot_id_of(self, name: str) -> str:
        known = self.state.things.get(name)
        return known.object_id if known is not None else ""

    def _merge_found(self, there: Sequence[SceneObject]) -> None:
        """Drop what Explore found, where memory knew that thing and has seen it meanwhile: it is no second one."""
        for name, before_ns in list(self._found.items()):
            own = self._own.get(name)
            if own is None or own.memory_id:
                del self._found[name]
                continue
            alike = [one for one in there if folded(one.class_name) == folded(own.object_class)]
            seen = [one for one in alike if one.last_seen_ns > before_ns]
            if not seen or any(one.id not in self._names for one in seen):
                continue
            del self._found[name], self._own[name]
            if len(seen) == 1:
                self.same[name] = self._names[seen[0].id]
                self._robot_ids[seen[0].id] = own.object_id
                if self.state.at == name:
                    self.state = self.state.standing_at(self._names[seen[0].id])

    def _held_otherwise(self, held: HeldObject, things: dict[str, Thing]) -> str:
        """Return the name of what the hand holds and memory does not place; a thing without one is named and added."""
        same = (name for name, one in self._own.items() if folded(one.object_class) == folded(held.object_class))
        name = next(same, "") or self._new_name(held.object_class)
        # Skills know the thing in the hand by its class; memory's id is not the robot's.
        self._own.setdefault(name, Thing(name, held.object_class, held.object_class, memory_id=held.object_id))
        things.setdefault(name, self._own[name])
        return name

    def _name_of(self, memory_id: str, name: str, object_class: str) -> str:
        """Return the name of a thing that memory holds. One that was found by searching, and that memory has seen later
        than others were told of it, keeps its name."""
        if memory_id not in self._names:
            found = (key for key, one in self._own.items() if not one.memory_id and one.object_class == object_class)
            twin = next(found, "")
            own = self._own.pop(twin, None)
            if own is not None and own.object_id:
                self._robot_ids[memory_id] = own.object_id
            is_free = name and name not in {*self._names.values(), *self._own}
            called = name if is_free else self._new_name(object_class)
            self._names[memory_id] = called if not twin or twin in self._untold else twin
            if twin and self.state.at == twin:
                self.state = self.state.standing_at(self._names[memory_id])
        return self._names[memory_id]

    def _taken_names(self) -> set[str]:
        return {*self._names.values(), *self._own}

    def _new_name(self, object_class: str) -> str:
        """Return a name for a thing of a class that no other thing has: the class, with a number where others of it
        have names."""
        kind = self._kinds.get(object_class)
        plain = kind.name if kind is not None else name_of_class(object_class)
        same = [name.removeprefix(plain).strip() for name in self._taken_names() if name.startswith(plain)]
        numbers = [int(number or 1) for number in same if number.isdigit() or not number]
        return f"{plain} {max(numbers) + 1}" if numbers else plain

    def keep(self, thing: Thing) -> Thing:
        """Hold on to a thing that memory does not hold, or no longer; return it as it is believed from now on."""
        known = next(filter(None, map(self.state.named, sorted(thing.identities))), None)
        if known is not None:
            return known
        outer = thing.container if thing.container in self.state.things else ""
        name = thing.id if thing.id not in self._taken_names() else self._new_name(thing.object_class)
        self._own[name] = replace(thing, id=name, container=outer)
        self.state = self.state.with_thing(self._own[name])
        return self._own[name]

    def suppose(self, key: str, state: ObjectState, value: bool) -> None:
        """Take a thing to be in a state, or not, whatever was known of it."""
        self._own[key] = self.state.things[key].with_state(state, value)
        self.state = self.state.with_thing(self._own[key])

    def refute(self, classes: Collection[str], states: Collection[ObjectState]) -> None:
        """Take the things of some classes to be in none of some states: a picture shows that they are not."""
        for thing in self.state.of_class(*classes):
            for state in thing.states.intersection(states):
                self.suppose(thing.id, state, False)

    # --- what skills tell

    def follow(self, result: SkillResult, memory_ids: Mapping[str, str] = MappingProxyType({})) -> None:
        """Take over how a skill ended: its declared effects and the changes that it reports, or what its failure tells.

        memory_ids: memory's ids by the robot's, of the things whose changes memory has taken over.
        """
        before = self.state
        self._robot_ids.update((memory_id, robot_id) for robot_id, memory_id in memory_ids.items())
        if not result.success:
            self._fail(result)
            self._keep(before, frozenset())
        elif result.call.skill == "Explore":
            self._add_found(result)
        else:
            self._succeed(result, memory_ids)
            taken_over = map(self.state.named, (one.object_id for one in result.changes if one.object_id in memory_ids))
            self._keep(before, frozenset(thing.id for thing in taken_over if thing is not None))
            for whole in [one.id for one in self._own.values() if one.object_id in memory_ids and one.count > 1]:
                del self._own[whole]  # memory knows its pieces one by one

    def _succeed(self, result: SkillResult, memory_ids: Mapping[str, str]) -> None:
        skill, call = declaration(result.call.skill), self._as_done(result, memory_ids)
        subject = self.state.named(call.arguments[0])
        is_whole = not any(change.created_from for change in result.changes)
        if subject is not None and result.object_id and is_whole:
            self._identify(subject, result.object_id)
        before = self.state
        self.state = before.told(result.changes)
        things = [before.named(text) for text in call.arguments]
        keys = [one.id for one in things if one is not None and one.id in self.state.things]
        if len(keys) == len(things):
            # Where the robot stands follows from where things were.
            named = SkillCall(call.skill, tuple(keys))
            self.state = after(skill, self.state, named).standing_at(after(skill, before, named).at)
        elif call.skill == "GoToObject":
            self.state = self.state.standing_at("")
        for name in [key for key in self.shut_in if self.state.held == key]:
            del self.shut_in[name]

    def _as_done(self, result: SkillResult, memory_ids: Mapping[str, str]) -> SkillCall:
        """Return a call over what the robot did it with: where things are close together, that may be another thing
        than it was asked for, and what was taken to be shut in that one is shut in this."""
        asked = self.state.named(result.call.arguments[0])
        # Only of what the call has changed memory has just told the id; an older one may stand for nothing by now.
        is_told = any(one.object_id == result.object_id for one in result.changes)
        done_id = memory_ids.get(result.object_id, "") if is_told else ""
        done = self.state.named(done_id)
        if asked is not None and done_id and not any(change.created_from for change in result.changes):
            self._go_on_with(asked, done_id, bool(asked.object_id) and asked.object_id == result.object_id)
            asked, done = self.state.things[asked.id], self.state.named(done_id)
        if asked is None or done is None or asked.id == done.id or not asked.memory_id:
            return result.call
        self.shut_in = {name: done.id if outer == asked.id else outer for name, outer in self.shut_in.items()}
        self._robot_ids.pop(asked.memory_id, None)
        self._own.pop(asked.id, None)
        self.state = self.state.with_thing(replace(asked, object_id=""))
        return SkillCall(result.call.skill, (done.id, *result.call.arguments[1:]))

    def _go_on_with(self, asked: Thing, done_id: str, is_same: bool) -> None:
        """Let the name of what was asked for go on with what memory holds that the robot took, where that is the same
        to the robot (`is_same`) or nobody was told of it: memory has two entries of one thing. They change names."""
        known = asked.memory_id in self._names and done_id != asked.memory_id
        # Nobody tells the pieces of one thing apart: what was taken is the one that was asked for.
        is_piece = self._kinds.whole(asked.object_class) != asked.object_class
        taken = self._last.get(done_id)  # None: memory has it only since this call
        if is_piece and taken is not None:
            is_same = is_same or folded(taken.object_class) == folded(asked.object_class)
        if not known or not (is_same or done_id not in self._names):
            return
        other = self._names.get(done_id, "")
        self._names[done_id] = self._names.pop(asked.memory_id)
        self._robot_ids.pop(asked.memory_id, None)
        if other:
            self._names[asked.memory_id] = other
        if other in self.state.things:  # memory may have lost sight of it
            twin = replace(self.state.things[other], memory_id=asked.memory_id, object_id="")
            self.state = self.state.with_thing(twin)
        self.state = self.state.with_thing(replace(asked, memory_id=done_id))

    def _identify(self, thing: Thing, robot_id: str) -> None:
        """Note the robot's own id of a thing. What was found and what memory holds may turn out to be one thing: it
        keeps memory's name."""
        twin = next((one for one in self.state if one.object_id == robot_id and one.id != thing.id), None)
        self.state = self.state.with_thing(replace(thing, object_id=robot_id))
        if twin is None or (thing.memory_id and twin.memory_id):
            return
        known, other = (thing, twin) if thing.memory_id else (twin, thing)
        self._own.pop(other.id, None)
        self._found.pop(other.id, None)
        self.same[other.id] = known.id
        self.state = self.state.renamed(other.id, known.id)

    def _fail(self, result: SkillResult) -> None:
        call, skill = result.call, declaration(result.call.skill)
        things = list(filter(None, map(self.state.named, call.arguments)))
        if not things:
            return
        is_missing = result.reason is FailureReason.NOT_FOUND and call.skill != "Explore"
        if is_missing and things[0].id != self.state.held:
            self._gone.add(things[0].memory_id)
            self._own.pop(things[0].id, None)
            self.state = self.state.without(things[0].id).standing_at("")
            return
        told = result.object_id
        if result.reason is FailureReason.CLOSED and not self._recognize_lid(things[-1], told):
            told = ""
            if not self._kinds[things[-1].object_class].can(Property.OPENABLE):
                return
        told = told if self.state.named(told) is not None else ""
        self.state = after_failure(skill, self.state, call, result.reason, told)

    def _recognize_lid(self, thing: Thing, robot_id: str) -> bool:
        """Find out what a thing that could not be reached is shut in: what the robot names, else the thing's own
        container or the nearest that has a lid. Return whether there is any."""
        if robot_id in thing.identities or not self._kinds[thing.object_class].pickupable:
            return False
        lid = self.state.named(robot_id) if robot_id else None
        own = self.state.things.get(thing.container)
        if lid is None and own is not None and self._may_be_lid(own, robot_id):
            lid = own
        lid = lid or self._nearest_lid(thing, robot_id)
        if lid is None and not robot_id:
            return False
        if lid is None:  # memory has not seen what the robot names
            lid = Thing(self._new_name(_LID), "", object_id=robot_id)
        self.state = self.state.with_thing(replace(lid, object_id=robot_id or lid.object_id))
        self.state = self.state.put(thing.id, lid.id, inside=True)
        self.shut_in[thing.id] = lid.id
        return True

    def _may_be_lid(self, thing: Thing, robot_id: str) -> bool:
        return self._kinds[thing.object_class].lidded and (not robot_id or thing.object_id in ("", robot_id))

    def _nearest_lid(self, thing: Thing, robot_id: str) -> Thing | None:
        near = self.state.nearest(thing, (one for one in self.state if self._may_be_lid(one, robot_id)))
        is_there = near is not None and math.dist(near.position or (), thing.position or ()) <= _REACH_M
        return near if is_there else None

    def _add_found(self, result: SkillResult) -> None:
        if not result.object_id:
            return
        known = self.state.named(result.object_id)
        if known is not None:
            self.state = self.state.standing_at(known.id)
            return
        object_class = result.call.arguments[0]
        name = self._new_name(object_class)
        self._found[name] = self._stamp_ns
        self._untold.add(name)
        self._own[name] = Thing(name, object_class, object_class, result.object_id)
        self.state = self.state.with_thing(self._own[name]).standing_at(name)

    def _keep(self, before: WorldState, taken_over: Collection[str]) -> None:
        """Keep what has changed since a state and memory has not taken over. taken_over: names of what it has."""
        for name, thing in self.state.things.items():
            old = before.things.get(name)
            if name in taken_over and thing.memory_id in self._names:
                self._own.pop(name, None)
            elif name in self._own or old is None or _beliefs(thing) != _beliefs(old):
                self._own[name] = thing


def _beliefs(thing: Thing) -> tuple[object, ...]:
    return thing.object_class, thing.container, thing.inside, thing.states, thing.denied, thing.count


def _placed(own: Thing, seen: Thing) -> Thing:
    """Return a thing as skills left it, with what only memory knows of it."""
    return replace(
        own,
        reference=seen.reference,
        memory_id=seen.memory_id,
        position=seen.position,
        room=seen.room,
        existence=seen.existence,
        description=seen.description,
    )
