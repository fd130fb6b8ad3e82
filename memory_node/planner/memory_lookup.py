"""Asks memory for the things that a goal needs, and answers questions about the home from it, without motion."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, RankedArea
from memory_node.domain.names import is_called, may_be_meant, plural
from memory_node.domain.scene import HeldObject, Room, SceneObject, SceneSnapshot
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import STATE_CALLED, ObjectState, believed
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.planner import Lookup, PlanningContext, PlanProgress, ProgressKind

# How far a look around shows what else is in a room (m), and what is missed of it.
_LOOK_M = 1.0
_OVERLOOKED = 0.1


def in_search_order(
    areas: Sequence[RankedArea], look_cost_m: float, room_of: Mapping[str, str] = MappingProxyType({})
) -> tuple[RankedArea, ...]:
    """Return ranked areas in the order of a search: the first, then always the one with most worth for its way.

    A greedy route for the expected time until a thing is found. An area is worth its probability, but no more than
    those that memory ranks before it: these cost less work to look into. What lies beside an area in its room was seen
    from there, too. Distances are straight lines in the map frame.
    look_cost_m: what a look around costs, as metres of way; inf: ways cost nothing, and the ranks stay. room_of: ids of
    areas' rooms; an area without one is looked at by itself. O(n^2).
    """
    left = list(zip(areas, itertools.accumulate((area.probability for area in areas), min)))
    ordered: list[RankedArea] = []
    while left:
        here = ordered[-1].position if ordered else left[0][0].position
        gains = [worth / (1.0 + math.dist(here, area.position) / look_cost_m) for area, worth in left]
        at = left.pop(gains.index(max(gains)))[0]
        ordered.append(at)
        room = room_of.get(at.area_id, "") if math.isfinite(look_cost_m) else ""
        for number, (area, worth) in enumerate(left if room else ()):
            if room_of.get(area.area_id) == room and math.dist(area.position, at.position) <= _LOOK_M:
                left[number] = area, worth * _OVERLOOKED
    return tuple(ordered)


_TRUSTED = frozenset({AnswerStatus.OK, AnswerStatus.PROBABLY_GONE})
_ENOUGH = 8


def is_on(one: SceneObject, places: Sequence[str], scene: SceneSnapshot) -> bool:
    """Return whether memory has a thing on or in a thing of some classes, at any depth; of what is on or in nothing
    that is known, whether it lies inside one."""
    wanted, at = {folded(name) for name in places}, scene.by_id.get(one.support_id)
    if at is None:
        alike = (place for place in scene.objects if folded(place.class_name) in wanted and not place.removed)
        return any(bool(place.box.contains(one.box.center[None, :])[0]) for place in alike)
    seen = {one.id}
    while at is not None and at.id not in seen:
        if folded(at.class_name) in wanted:
            return True
        seen.add(at.id)
        at = scene.by_id.get(at.support_id)
    return False


def _stop(area: RankedArea) -> str:
    return f"{area.position[0]:.2f},{area.position[1]:.2f}"


class MemoryLookup:
    """One planner run's view of memory; every question is reported to the situation's listeners."""

    def __init__(self, situation: PlanningContext) -> None:
        self._memory = situation.memory
        self._look_cost_m = situation.look_cost_m
        self._report = situation.report
        self._on_lookup = situation.on_lookup
        self._scene: SceneSnapshot | None = None
        self._first_scene: SceneSnapshot | None = None
        self._areas: dict[str, tuple[RankedArea, ...]] = {}

    def locate(
        self,
        object_class: str,
        text: str = "",
        states: Sequence[ObjectState] = (),
        excluded: frozenset[str] = frozenset(),
        not_on: frozenset[str] = frozenset(),
        near: tuple[float, float, float] | None = None,
    ) -> ObjectAnswer | None:
        """Return the best remembered object of a class; None when memory knows of none.

        excluded: ids that do not count; not_on: ids of supports whose contents do not count. near: where the thing is
        needed, (x, y, z) in map; the nearest of those that memory is sure of is the best one then.
        """
        started = time.monotonic()
        # The words have been grounded already: asking by class and states alone cannot be led astray by them.
        query = FindQuery(
            "", object_class, tuple(states), "", near, _ENOUGH, exclude_ids=excluded, exclude_supports=not_on
        )
        location = self._memory.locate(query)
        self._areas[object_class] = location.areas
        # What is likely gone is still worth a look when nothing better is known.
        trusted = [one for one in location.answers if one.status in _TRUSTED]
        answer = next((one for one in trusted if folded(one.object_class) == folded(object_class)), None)
        recalled = tuple(one for one in location.answers if one.source == "short_term")
        self._on_lookup(Lookup(object_class, text or object_class, answer, time.monotonic() - started, recalled))
        found = f"{answer.object_class} ({answer.source})" if answer else "nothing"
        self._report(PlanProgress(ProgressKind.MEMORY, f"asked memory for {object_class}: {found}"))
        return answer

    def recall_classes(self, text: str, states: Sequence[ObjectState]) -> tuple[str, ...]:
        """Return the classes of what the short-term memory holds that fits a description, most relevant first."""
        recollection = self._memory.recall(FindQuery(text=text, states=tuple(states), k=_ENOUGH))
        return tuple(dict.fromkeys(answer.object_class for answer in recollection.answers))

    def search_stops(self, object_class: str, room_id: str = "") -> tuple[str, ...]:
        """Return the places to look for a class at, as arguments of Explore: the likeliest for the way first.

        room_id: only in that room.
        """
        areas = self._areas.get(object_class) or self._memory.rank_search_areas(object_class)
        if room_id:
            within = self._areas_of(room_id)
            areas = tuple(area for area in areas if area.area_id in within)
        return tuple(map(_stop, self._in_search_order(areas)))

    def _in_search_order(self, areas: Sequence[RankedArea]) -> tuple[RankedArea, ...]:
        rooms = {area.id: area.room_id for area in self.scene_now().areas}
        return in_search_order(areas, self._look_cost_m, rooms)

    def stops_room_by_room(self, object_class: str) -> tuple[str, ...]:
        """Return the places to look for a class at, one in each room before the others."""
        ranked = self._areas.get(object_class) or self._memory.rank_search_areas(object_class)
        areas = self._in_search_order(ranked)
        room_of = self.scene_now().room_of_area
        first = {room_of.get(area.area_id) or area.area_id: area.area_id for area in reversed(areas)}.values()
        return tuple(map(_stop, sorted(areas, key=lambda area: area.area_id not in first)))

    def scene_object(self, object_id: str) -> SceneObject | None:
        """Return an object of the scene graph by its id, or None."""
        return self.scene_now().by_id.get(object_id)

    def support_of(self, answer: ObjectAnswer) -> SceneObject | None:
        """Return what an answer's object is on or in by the scene graph; None where that is unknown."""
        itself = self.scene_object(answer.object_id)
        known = itself.support_id if itself is not None else ""
        return self.scene_object(answer.support_id or known)

    def stands_on(self, one: SceneObject, kinds: ObjectCatalogue) -> SceneObject | None:
        """Return what a thing is on or in; for what seems to be on a thing that holds nothing, such as a lamp, the
        furniture below both. None where that is unknown."""
        support = self.scene_object(one.support_id)
        if support is not None and (kinds[support.class_name].is_receptacle or support.class_name == kinds.recipient):
            return support
        if support is None and one.support_id:
            return None  # in the hand
        below = [
            place
            for place in self.scene_now().objects
            if kinds[place.class_name].holds == "on" and not place.removed and place.box.center[2] < one.box.center[2]
        ]
        below = [place for place in below if place.box.distance_m(one.box.center[:2]) <= 0.0]
        return max(below, key=lambda place: float(place.box.center[2]), default=None)

    def of_classes(self, names: Sequence[str]) -> list[SceneObject]:
        """Return the scene graph's objects of some classes, however they are spelt, in the order of the classes."""
        wanted = {folded(name): rank for rank, name in enumerate(names)}
        found = [one for one in self.scene_now().objects if folded(one.class_name) in wanted and not one.removed]
        return sorted(found, key=lambda one: wanted[folded(one.class_name)])

    def is_believed(self, names: Sequence[str]) -> bool:
        """Return whether a thing of some classes is held to be there still."""
        wanted = {folded(name) for name in names}
        return any(folded(one.class_name) in wanted for one in self.scene_now().believed)

    def supported_by(self, object_id: str) -> list[SceneObject]:
        """Return the scene graph's objects that are on or in another one."""
        scene = self.scene_now()
        there = [one for one in scene.objects if one.support_id == object_id and not one.removed]
        return [one for one in there if not scene.was_met_elsewhere(one)]

    def room_called(self, name: str) -> str:
        """Return the id of the room of a name, "" where memory knows none, and for "": rooms may have no name yet."""
        room = self._room(name)
        return room.id if room is not None else ""

    def in_room(self, room_id: str, names: Sequence[str]) -> list[SceneObject]:
        """Return the scene graph's objects of some classes in a room, in the order of the classes."""
        within = self._areas_of(room_id)
        return [one for one in self.of_classes(names) if one.area_id in within]

    def not_where_told(self, mention: Mention) -> frozenset[str]:
        """Return the ids of the objects of a mention's classes that it does not mean: they are not in the room, or not
        on or in what it tells, and were not at the beginning of the instruction."""
        if not (mention.room or mention.on or mention.off or mention.unlike):
            return frozenset()
        now = self.scene_now()
        scenes, rooms = (now, self._first_scene or now), {one.name for one in now.rooms}

        def is_there(one: SceneObject | None, scene: SceneSnapshot) -> bool:
            if one is None or (mention.on and not is_on(one, mention.on, scene)):
                return False
            if (mention.off and is_on(one, mention.off, scene)) or not set(mention.unlike).isdisjoint(
                believed(one.states)
            ):
                return False
            return not mention.room or may_be_meant(scene.room_of(one), mention.room, rooms)

        known = self.of_classes(mention.candidates)
        return frozenset(
            one.id for one in known if not any(is_there(scene.by_id.get(one.id), scene) for scene in scenes)
        )

    def _areas_of(self, room_id: str) -> frozenset[str]:
        return frozenset(area.id for area in self.scene_now().areas if area.room_id == room_id)

    def place_of_room(self, name: str) -> tuple[float, float] | None:
        """Return where in a room of that name to drive to, (x, y) in map; None where memory knows no such room."""
        room = self._room(name)
        if room is None:
            return None
        areas = [area.position for area in self.scene_now().areas if area.room_id == room.id] or [room.center]
        return min(areas, key=lambda position: math.dist(position, room.center))

    def _room(self, name: str) -> Room | None:
        rooms = self.scene_now().rooms if name else ()
        named = [room for room in rooms if room.name.lower() == name.lower()]
        named = named or [room for room in rooms if is_called(room.name, name)]
        return named[0] if len(named) == 1 else None

    def note_step(self) -> None:
        """Ask for the scene graph, and for places to search, anew from now on: a skill has been executed."""
        self._scene = None
        self._areas.clear()

    @property
    def now_ns(self) -> int:
        """The stamp of what memory holds now."""
        return self.scene_now().stamp_ns

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds, None when it is empty."""
        return self._memory.held_object()

    @property
    def surveyed(self) -> bool:
        """Whether every area of the map was in view within a day."""
        return self.scene_now().surveyed

    def scene_now(self) -> SceneSnapshot:
        """Return the scene graph. Over a service all of it travels: between two steps it is asked for once."""
        if self._scene is None:
            self._scene = self._memory.scene()
            self._first_scene = self._first_scene or self._scene
        return self._scene


_SURE = 0.5


@dataclass(frozen=True)
class Told:
    """An answer in words; known: whether memory had one."""

    text: str
    known: bool


class Answers:
    """Answers from one planner run's view of memory."""

    def __init__(self, kinds: ObjectCatalogue, lookup: MemoryLookup) -> None:
        self._kinds = kinds
        self._lookup = lookup

    def to(self, goal: Goal) -> Told:
        """Return the answer to a TELL goal."""
        name = self._kinds[goal.target.object_class].best_name
        pieces = tuple(filter(None, (self._kinds[one].slices for one in goal.target.candidates)))
        if pieces and self._lookup.of_classes(pieces) and not self._lookup.is_believed(goal.target.candidates):
            goal = goal.changed(target=replace(goal.target, candidates=pieces), every=True)  # it was cut
        if goal.asked == "contents":
            return self._contents(goal, name)
        kind = self._kinds[goal.target.object_class]
        if STATE_CALLED.get(goal.asked) is ObjectState.USED_UP and kind.is_receptacle and not kind.pickupable:
            return self._emptiness(goal, name)
        if goal.place is not None:
            return self._at_place(goal, goal.place, name)
        if goal.asked in ("count", "exists"):
            return self._count(goal, name)
        if goal.every and goal.asked in STATE_CALLED:
            several = self._lookup.of_classes(goal.target.candidates)
            if len(several) > 1:
                return self._states(several, goal.asked, name)
        if goal.every and goal.asked == "place" and len(self._lookup.of_classes(goal.target.candidates)) > 1:
            return self._places(goal, name)
        found = self._located(goal)
        if found is None:
            return Told(f"I do not know where the {name} is.", known=False)
        if goal.asked in STATE_CALLED:
            return self._state(goal, name, found)
        is_doubtful = found.status is AnswerStatus.PROBABLY_GONE
        return Told(f"The {name} is {'probably no longer ' if is_doubtful else ''}{self._where(found)}.", known=True)

    def _places(self, goal: Goal, name: str) -> Told:
        """Tell where all things of a kind are."""
        told = [self._where(found) for found in self._all_located(goal)]
        return Told(f"Of the {plural(name)} that I know, one is {', one '.join(told)}.", known=bool(told))

    def _all_located(self, goal: Goal) -> Iterator[ObjectAnswer]:
        seen: frozenset[str] = frozenset()
        for object_class in goal.target.candidates:
            while (found := self._lookup.locate(object_class, goal.target.text, (), seen)) is not None:
                yield found
                seen |= {found.object_id}

    def _at_place(self, goal: Goal, place: Mention, name: str) -> Told:
        """Tell whether things of a kind are at a place, or how many, and where else they are."""
        found = list(self._all_located(goal))
        if not found:
            return Told(f"I know of no {name}.", known=False)
        if place.beside:
            holder = self._located(Goal(GoalKind.TELL, place))
            there = {one.id for one in self._beside(holder)} if holder is not None else set()
        else:
            away = self._lookup.not_where_told(replace(goal.target, on=place.candidates, room=place.room))
            there = {one.object_id for one in found} - away
            things = (self._lookup.scene_object(one.object_id) for one in found if not place.room)
            supports = [(one, self._lookup.stands_on(one, self._kinds)) for one in things if one is not None]
            there |= {one.id for one, at in supports if at is not None and at.class_name in place.candidates}
        here = [one for one in found if one.object_id in there]
        several = len(here or found) > 1
        where = [f"{'one' if several else f'the {name}'} is {self._where(one)}" for one in (here or found)[:_ENOUGH]]
        count = f"I know of {len(here) or 'none'} there" + (":" if here else ";")
        lead = count if goal.asked == "count" else "Yes," if here else "No,"
        return Told(f"{lead} {'; '.join(where)}.", known=True)

    def _beside(self, holder: ObjectAnswer) -> list[SceneObject]:
        """Return what stands near a thing on what that stands on, the nearest first."""
        itself = self._lookup.scene_object(holder.object_id)
        support = self._lookup.stands_on(itself, self._kinds) if itself is not None else None
        if itself is None or support is None:
            return []
        own = {kind.name for kind in self._kinds.kinds if kind.is_receptacle and not kind.pickupable}  # its drawers
        near = [
            (math.dist(one.box.center, itself.box.center), one)
            for one in self._lookup.scene_now().objects
            if one.id != itself.id
            and not one.removed
            and one.class_name not in own
            and self._lookup.stands_on(one, self._kinds) is support
        ]
        return [one for far, one in sorted(near, key=lambda pair: pair[0]) if far <= _LOOK_M]

    def _located(self, goal: Goal) -> ObjectAnswer | None:
        target = goal.target
        for object_class in target.candidates:
            alike = self._lookup.of_classes((object_class,)) if target.thing_id else ()
            others = frozenset(one.id for one in alike if one.id != target.thing_id)
            others |= self._lookup.not_where_told(target)
            found = self._lookup.locate(object_class, target.text, (), others)
            if found is not None:
                return found
        return None

    def _where(self, found: ObjectAnswer) -> str:
        support = self._lookup.support_of(found)
        itself = self._lookup.scene_object(found.object_id)
        if itself is not None and support is not None and support.id == itself.support_id:
            support = self._lookup.stands_on(itself, self._kinds) or support
        place = ""
        if support is not None and support.class_name == self._kinds.recipient:
            place = f"with {support.attributes.get('name') or 'you'}"
        elif support is not None:
            inside = found.inside or (self._kinds[support.class_name].lidded and self._is_inside(found))
            place = f"{'in' if inside else 'on'} {self._which(support)}"
        room = f"in the {found.room_name}" if found.room_name else ""
        said = " ".join(part for part in (place, room) if part)
        return said or f"at ({found.position[0]:.1f}, {found.position[1]:.1f}) on the map"

    def _which(self, place: SceneObject) -> str:
        """Return a place by its kind, and its number where there are several: "the bed", "drawer 3"."""
        if len(self._lookup.of_classes((place.class_name,))) < 2:
            return f"the {self._called(place)}"
        number = place.name.rpartition(" ")[2]
        return f"{self._called(place)} {number}" if number.isdigit() else f"the {self._called(place)}"

    def _is_inside(self, found: ObjectAnswer) -> bool:
        itself = self._lookup.scene_object(found.object_id)
        return itself is not None and itself.inside

    def _contents(self, goal: Goal, name: str) -> Told:
        if goal.every and not goal.target.beside:
            return self._contents_of_all(goal, name)
        holder = self._located(goal)
        if holder is None:
            return Told(f"I do not know of any {name}.", known=False)
        if goal.target.beside:
            near = [self._called(one) for one in self._beside(holder)]
            told = f"Beside the {name}: {_listed(near)}." if near else f"I know of nothing beside the {name}."
            return Told(told, known=bool(near))
        supported = self._lookup.supported_by(holder.object_id)
        held = [one for one in supported if one.class_name not in goal.spared]
        if not held:
            return Told(f"I know of nothing{' else' * bool(supported)} in or on the {name}.", known=False)
        return Told(f"In or on the {name}: {_listed([self._called(one) for one in held])}.", known=True)

    def _held_by_each(self, goal: Goal) -> list[tuple[SceneObject, list[SceneObject]]]:
        """Return the things that a goal is about, by their numbers, each with what is known in or on it."""
        target = goal.target
        away = self._lookup.not_where_told(target)
        places = [one for one in self._lookup.of_classes(target.candidates) if one.id not in away]
        places = [one for one in places if target.thing_id in ("", one.id)]
        places.sort(key=lambda one: (len(one.name), one.name))  # "Drawer 9" before "Drawer 10"
        return [(place, self._lookup.supported_by(place.id)) for place in places]

    def _emptiness(self, goal: Goal, name: str) -> Told:
        """Tell which pieces of furniture are empty, as far as memory knows."""
        held = self._held_by_each(goal)
        if not held:
            return Told(f"I do not know of any {name}.", known=False)
        empty = [self._which(place) for place, there in held if not there]
        if not empty:
            return Told(f"None that I know of: {self._contents_of_all(goal, name).text}", known=True)
        full = f", and of something in or on {len(held) - len(empty)} more" if len(empty) < len(held) else ""
        return Told(f"As last seen, I know of nothing in or on {_listed(empty)}{full}.", known=True)

    def _contents_of_all(self, goal: Goal, name: str) -> Told:
        """Tell what is in or on each thing of a kind that holds something."""
        held = self._held_by_each(goal)
        if not held:
            return Told(f"I do not know of any {name}.", known=False)
        told = [f"{self._which(place)}: {_listed([*map(self._called, there)])}" for place, there in held if there]
        if not told:
            return Told(f"I know of nothing in or on any {name}.", known=False)
        rest = f"; something in or on {len(told) - _ENOUGH} more" if len(told) > _ENOUGH else ""
        said = "; ".join(told[:_ENOUGH]) + rest
        return Told(f"{said[:1].upper()}{said[1:]}.", known=True)

    def _count(self, goal: Goal, name: str) -> Told:
        found = self._lookup.of_classes(goal.target.candidates)
        if not found:
            return Told(f"I know of no {name}.", known=False)
        return Told(f"I know of {len(found)} {plural(name) if len(found) > 1 else name}.", known=True)

    def _state(self, goal: Goal, name: str, found: ObjectAnswer) -> Told:
        asked = STATE_CALLED[goal.asked]
        beliefs = {belief.state: belief.probability for belief in found.states}
        if beliefs.get(asked, 0.0) >= _SURE:
            return Told(f"Yes, the {name} is {goal.asked}.", known=True)
        if asked.contrary is not None and beliefs.get(asked.contrary, 0.0) >= _SURE:
            return Told(f"No, the {name} is not {goal.asked}.", known=True)
        return Told(f"I do not know whether the {name} is {goal.asked}.", known=False)

    def _states(self, things: Sequence[SceneObject], word: str, name: str) -> Told:
        """Answer for all things of a kind: "are the windows open?"."""
        sure = [{one.state for one in thing.states if one.probability >= _SURE} for thing in things]
        asked = STATE_CALLED[word]
        so = sum(asked in states for states in sure)
        unknown = sum(asked not in states and asked.contrary not in states for states in sure)
        told = f"Of the {len(things)} {plural(name)} that I know, {so} {'is' if so == 1 else 'are'} {word}"
        told += f"; of {unknown} I do not know it." if unknown else "."
        return Told(told, known=unknown < len(things))

    def _called(self, one: SceneObject) -> str:
        return self._kinds[one.class_name].best_name


def _listed(names: Sequence[str]) -> str:
    counts = {name: names.count(name) for name in names}
    words = [f"{count} {plural(name)}" if count > 1 else name for name, count in counts.items()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
