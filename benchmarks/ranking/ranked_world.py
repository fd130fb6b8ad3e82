"""The calls that can be made now, and what memory makes of each: what a model, or chance, chooses among."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.catalogue.class_name import folded
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import Skill
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import GoalCheck
from memory_node.planner.known_world import KnownWorld, missing_classes, needed_places, needed_tools
from memory_node.world.skills import possible

# Least value of a thing whose existence is doubtful: it can still be looked at.
_LEAST_VALUE = 0.01
# Factor on a call's value for each of its things that the instruction does not name.
_VALUE_BESIDE = 0.2
# Factor on a call's value for each repetition.
_VALUE_OF_AGAIN = 0.2
# Factor on the value of taking up what is where a goal wants it.
_VALUE_OF_UNDOING = 0.02


class SettledThings(GoalCheck):
    """What is to stay where and as it is."""

    def of(self, goal: Goal) -> frozenset[str]:
        """Return the keys of the things that are to stay: those that are as and where a goal wants them, those in a
        room that it does not mean, and of a stack also those in their container while that is elsewhere."""
        place, targets = goal.destination, self._in_wanted_state(goal)
        if place is None or not place.candidates:
            return frozenset()
        if goal.container is None:
            meant = self._in_room(goal, targets)
            not_meant = {found.id for found in targets} - {found.id for found in meant}
            return frozenset(found.id for found in self._placed(goal, targets, place)) | not_meant
        vessels = self._state.of_class(*goal.container.candidates)
        all_vessels = {vessel.id for vessel in vessels}
        inside = [target for target in targets if target.container in all_vessels]
        full = {target.container for target in inside}
        return frozenset(target.id for target in inside) | (full & self._ids_at(vessels, place))


@dataclass
class RankedWorld(KnownWorld):
    """The things of one instruction, and the value of each call with them. skills: those that it lets the robot use."""

    skills: tuple[Skill, ...] = ()
    _made: Counter[tuple[str, ...]] = field(default_factory=Counter)  # by skill and names
    _failed: set[SkillCall] = field(default_factory=set)

    def admissible(self) -> dict[str, SkillCall]:
        """Return every call that can be made now and changes something, as it is written, and for the robot."""
        calls: dict[str, SkillCall] = {}
        for skill in self.skills:
            if skill.name == "Explore":
                calls.update((f"Explore({name})", SkillCall("Explore", (name,))) for name in self.unknown_classes())
        for named in possible(self.state, self.skills):
            call = SkillCall(named.skill, tuple(self.things[name].call_name for name in named.arguments))
            if call not in self._failed:
                calls[str(named)] = call
        return calls

    def to_open_first(self, calls: Mapping[str, SkillCall]) -> dict[str, SkillCall]:
        """Return those of some calls that lead to what a wanted thing is shut in, or to another thing of its class."""
        tools, shut_in = set(map(folded, needed_tools(self.kinds, self.skills))), self.episode.shut_in

        def is_wanted(name: str) -> bool:
            return name in self.things and (self._matters(name) or folded(self.things[name].object_class) in tools)

        over = {name: lid for name, lid in shut_in.items() if self.state.has(lid, ObjectState.CLOSED)}
        wanted = [name for name in over if is_wanted(name)]
        lids, classes = {over[name] for name in wanted}, {folded(self.things[name].object_class) for name in wanted}

        def leads_on(call: SkillCall) -> bool:
            things = filter(None, map(self.state.named, call.arguments))
            return any(thing.id in lids or folded(thing.object_class) in classes for thing in things)

        return {text: call for text, call in calls.items() if leads_on(call)}

    def value(self, call: SkillCall, settled: Collection[str] = ()) -> float:
        """Return memory's value of a call, in (0, 1]: how sure memory is that the things are there, reduced for each
        thing that the instruction does not name, for each repetition of the call, and for taking up what is to stay.

        settled: names or ids of the things that are to stay; see SettledThings.
        """
        things = list(filter(None, map(self.state.named, call.arguments)))
        there = math.prod(thing.existence for thing in things)
        beside = sum(thing.id != self.held and not self._matters(thing.id) for thing in things)
        again = self._made[self._plain(call)]
        undoing = call.skill == "PickupObject" and any(
            not {thing.id, *thing.identities}.isdisjoint(settled) for thing in things
        )
        worth = there * _VALUE_BESIDE**beside * _VALUE_OF_AGAIN**again
        return max(_LEAST_VALUE, worth * (_VALUE_OF_UNDOING if undoing else 1.0))

    def follow(self, result: SkillResult, memory_ids: Mapping[str, str] | None = None) -> None:
        """Count the call; one that failed is not offered again until something was done with its things."""
        call = result.call
        self._made[self._plain(call)] += 1
        if not result.success:
            self._failed.add(call)
        elif call.skill == "OpenObject":
            self._failed.clear()  # whatever was behind the door, known to be there or not
        else:
            self._failed = {other for other in self._failed if set(other.arguments).isdisjoint(call.arguments)}
        super().follow(result, memory_ids)

    def unknown_classes(self) -> tuple[str, ...]:
        """Return the classes of unseen things that the instruction names or its treatments need."""
        known = {folded(thing.object_class) for thing in self.state}
        return missing_classes(self.kinds, self.skills, self.about, known)

    def _matters(self, name: str) -> bool:
        """Return whether the instruction names a thing or its contents, or its treatments need the thing."""
        places = (name for names in needed_places(self.kinds, self.skills) for name in names)
        wanted = set(map(folded, (*places, *self.about)))
        return any(folded(one.object_class) in wanted for one in (self.things[name], *self.state.contents(name)))

    def _plain(self, call: SkillCall) -> tuple[str, ...]:
        return (call.skill, *self._named(call.arguments))

    def _named(self, references: Sequence[str]) -> list[str]:
        things = [(text, self.state.named(text)) for text in references]
        return [thing.id if thing is not None else text for text, thing in things]
