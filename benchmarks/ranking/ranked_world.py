"""The calls that can be made now, and what memory makes of each: what a model, or chance, chooses among."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_kind import Treatment
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind, Skill
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, GoalCheck, Mention
from memory_node.planner.known_world import KnownWorld, missing_classes, needed_places, needed_tools
from memory_node.world.skills import possible
from memory_node.world.state import Thing, WorldState

_K = GoalKind


@dataclass(frozen=True)
class GoalNeeds:
    """One goal, and what is believed."""

    goal: Goal
    state: WorldState

    def is_target(self, thing: Thing) -> bool:
        """Return whether a thing may be what the goal is about, as it is cut now."""
        return _is_one_of(thing, self._forms)

    def is_cut(self, thing: Thing) -> bool:
        """Return whether a thing may be what the goal wants cut."""
        return _is_one_of(thing, self.goal.target.candidates) and self._wants_a_cut

    def is_light(self, thing: Thing) -> bool:
        """Return whether a thing may be the light of the goal."""
        return self.goal.light is not None and _is_one_of(thing, self.goal.light.candidates)

    def carries(self, thing: Thing) -> bool:
        """Return whether a thing, as it is now, is wanted in the hand, or in a certain place."""
        where = self.goal.destination
        if where is not None and (where.beside or where.original_place or not where.candidates):
            return False  # any place may be the one
        is_wanted = self.is_target(thing) or self._is_full_container(thing)
        kind = GOALS[self.goal.kind]
        return (kind.carried or kind.in_hand) and is_wanted

    def keeps_in_hand(self, thing: Thing) -> bool:
        """Return whether a thing is carried, or cuts what is to be cut."""
        return self.carries(thing) or self._cuts_with(thing)

    def names(self, object_class: str) -> bool:
        """Return whether the goal is about things of a class, or wants others to be there."""
        where = self.goal.destination
        places = self.state.kinds.with_wholes(where.candidates) if where is not None else ()
        treated_at = self._treatment.at if self._treatment is not None else ()
        named = (*self._about, *places, *treated_at)
        can_cut = self._is_tool(object_class)
        return can_cut or folded(object_class) in map(folded, named)

    def has_part(self, thing: Thing) -> bool:
        """Return whether the goal is about a thing, or about something in or on it; the place where it wants others to
        be has no part in it by itself."""
        return any(self._is_about(one) for one in self.with_contents(thing))

    def may_hide(self, place: Thing) -> bool:
        """Return whether something that the goal is about is not known, and may be shut in a place."""
        is_open = self.state.has(place.id, ObjectState.OPENED)
        if is_open or not self.state.kinds[place.object_class].lidded:
            return False
        wanted = ((*mention.candidates, *self._pieces(mention.candidates)) for mention in self._mentions)
        return any(names and not self._is_known(names) for names in wanted)

    def shuts_away(self, place: Thing) -> bool:
        """Return whether a place, closed, hides what the goal needs, and not for the goal's sake."""
        if self.goal.kind is _K.CLOSE or self.treats_at(place):
            return False
        inside = [thing for thing in self.with_contents(place) if thing.id != place.id]
        where = self.goal.destination
        if where is not None and any(self._is_place(thing, where) for thing in inside):
            return True
        return any(self._is_about(thing) and not self.puts(thing, place) for thing in inside)

    def puts(self, thing: Thing, place: Thing) -> bool:
        """Return whether a thing, as it is now, is wanted in or on a place."""
        where = self._destination(thing)
        if where is None or where.beside or where.original_place or not GOALS[self.goal.kind].carried:
            return False
        begun = self._begun(where) if self.goal.kind is GoalKind.PLACE_TWO else set()
        return place.id in begun if begun else self._is_place(place, where)

    def treats_at(self, place: Thing) -> bool:
        """Return whether the treatment that the goal asks for is done in or at a place."""
        treatment = self._treatment
        return treatment is not None and _is_one_of(place, (*treatment.at, *treatment.vessels))

    def with_contents(self, thing: Thing) -> Iterable[Thing]:
        """Return a thing and all that is in or on it."""
        things, names = self.state.things, [thing.id]
        for name in names:
            names += [one.id for one in self.state.contents(name) if one.id not in names]
        return (things[name] for name in names if name in things)

    def _is_about(self, thing: Thing) -> bool:
        return _is_one_of(thing, self._about) or self._cuts_with(thing)

    def _is_tool(self, object_class: str) -> bool:
        """Return whether a thing of a class is what the hand must hold for the goal."""
        treated = GOALS[self.goal.kind].skills[:1] if GOALS[self.goal.kind].treats else ()
        skills = [*treated, *(("SliceObject",) if self._wants_a_cut else ())]
        abilities = {SKILLS[skill].tool_ability for skill in skills} - {""}
        if self.goal.kind is GoalKind.SLICE and not self._wants_a_cut:
            return False
        return any(self.state.kinds[object_class].satisfies(one) for one in abilities)

    def _cuts_with(self, tool: Thing) -> bool:
        """Return whether a thing cuts, and something is to be cut."""
        return self._is_tool(tool.object_class)

    def _destination(self, thing: Thing) -> Mention | None:
        """Return where a thing is wanted next: a target, once it is as wanted, in the container; that with a target in
        it at the destination. None for nowhere yet."""
        if self.is_target(thing):
            states = GOALS[self.goal.kind].wants
            is_ready = not states or any(self.state.has(thing.id, state) for state in states)
            return (self.goal.container or self.goal.destination) if is_ready else None
        return self.goal.destination if self._is_full_container(thing) else None

    def _begun(self, where: Mention) -> set[str]:
        """Return the names of the places that the goal means and that have a target already."""
        things = self.state.things
        placed = {thing.container for thing in self.state if thing.container and self.is_target(thing)}
        return {name for name in placed if name in things and self._is_place(things[name], where)}

    def _is_full_container(self, thing: Thing) -> bool:
        if self.goal.container is None or not _is_one_of(thing, self.goal.container.candidates):
            return False
        return any(map(self.is_target, self.with_contents(thing)))

    def _is_place(self, place: Thing, where: Mention) -> bool:
        """Return whether a place may be meant: one of the classes, or where none is known, furniture like them."""
        kinds = self.state.kinds
        names = kinds.with_wholes(where.candidates)
        if self._is_known(names) or any(kinds[name].pickupable for name in where.candidates):
            return _is_one_of(place, names)
        return _is_one_of(place, kinds.alike(where.candidates))

    def _is_known(self, names: Iterable[str]) -> bool:
        """Return whether a thing of one of some classes is known."""
        known = {folded(thing.object_class) for thing in self.state.things.values()}
        return not known.isdisjoint(map(folded, names))

    @property
    def _mentions(self) -> Iterable[Mention]:
        """What the goal is about, as it was said."""
        return filter(None, (self.goal.target, self.goal.container, self.goal.light))

    @property
    def _about(self) -> Collection[str]:
        """The classes of what the goal is about, and of what its treatment is done in."""
        named = [name for mention in self._mentions for name in (*mention.candidates, *mention.stand_ins)]
        vessels = self._treatment.vessels if self._treatment is not None else ()
        return (*named, *self._forms, *vessels)

    def _pieces(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the classes of the pieces of some classes."""
        return tuple(filter(None, (self.state.kinds[name].slices for name in names)))

    @property
    def _forms(self) -> Collection[str]:
        """The classes of what the goal is about: of the things, or of their pieces."""
        names = self.goal.target.candidates
        return self._pieces(names) if self.goal.sliced else names

    @property
    def _wants_a_cut(self) -> bool:
        """Whether something is to be cut, or pieces of it are wanted and none are known."""
        if self.goal.kind is GoalKind.SLICE:
            return True
        return self.goal.sliced and not any(map(self.is_target, self.state.things.values()))

    @property
    def _treatment(self) -> Treatment | None:
        return self.state.kinds.meant_treatment(self.goal.kind, self.goal.treatment)


def _is_one_of(thing: Thing, names: Iterable[str]) -> bool:
    """Return whether a thing is of one of some classes."""
    return folded(thing.object_class) in set(map(folded, names))


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
