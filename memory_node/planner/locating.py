"""Locates the things that a goal needs: in the hand, in memory, or by exploring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import replace

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import ObjectAnswer
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import Exploration, FailureReason, ObjectReference, SkillCall, SkillResult
from memory_node.domain.states import ObjectState, believed
from memory_node.knowledge.text import stems
from memory_node.planner.goal import Mention
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.plan_execution import GoalAttempt, NothingFound, Setback, Steps
from memory_node.planner.planner import PlannedStep
from memory_node.planner.reading.english import is_indefinite
from memory_node.world.state import Thing

# What serves as well as another of its kind: the one that is nearest to the target is taken.
_WHERE_WORK_IS_DONE = frozenset({"fixture", "place", "vessel", "tool", "surface"})
_BESIDE_M = 1.0  # from the middle of a thing to the edge of the furniture beside it
_LOOKS_SO = 0.6  # share of what was said of a thing, or of its description, that both have
_LOOKED_AT = "where it is told to be"
_SOUGHT = 4  # kinds of furniture that are looked for when memory knows of none


class Locator:
    """Finds things with one robot's memory and eyes.

    first_places: what the first thing of each class was on or in when it was first located. sought_in_vain: classes
    for which the whole home was searched; no more of them are sought.
    """

    def __init__(self, kinds: ObjectCatalogue, lookup: MemoryLookup, sought_in_vain: set[str] | None = None) -> None:
        self._kinds = kinds
        self._lookup = lookup
        self.first_places: dict[str, Thing] = {}
        self._sought_in_vain = sought_in_vain if sought_in_vain is not None else set()
        self._hindered = False  # a search ended otherwise than by seeing every place

    @property
    def surveyed(self) -> bool:
        """Whether every area of the map was in view within a day."""
        return self._lookup.surveyed

    def refresh(self, attempt: GoalAttempt) -> None:
        """Let an attempt believe what memory holds now."""
        attempt.world.refresh(self._lookup.scene_now(), self._lookup.held_object())

    def need(self, attempt: GoalAttempt, name: str, mention: Mention) -> Steps:
        """Have a thing located under a name: in the hand, remembered, or found by exploring.

        Raises:
            NothingFound: it is nowhere.
        """
        attempt.mentions[name] = mention
        if name in attempt.parts:
            return
        self.refresh(attempt)
        held = attempt.held
        wanted = held is not None and held.object_class in mention.candidates and not mention.another
        if held is not None and mention.thing_id:
            wanted = mention.thing_id in held.identities
        if held is not None and wanted and not held.identities & attempt.taken:
            attempt.parts[name] = held
            return
        if mention.looks:
            mention = yield from self._looking_so(attempt, mention)
        if self._is_remembered(attempt, name, mention):
            return
        last = attempt.avoided.intersection(one.id for one in self._lookup.of_classes(mention.candidates))
        if last:  # nothing else will do
            attempt.avoided -= last
            if self._is_remembered(attempt, name, mention):
                return
        if name in attempt.not_sought:
            raise attempt.not_sought[name]
        yield from self._seek(attempt, name, mention)

    def _seek(self, attempt: GoalAttempt, name: str, mention: Mention) -> Steps:
        """Look for what is not where memory knows it to be."""
        if mention.thing_id and self._knows_others(mention):
            if mention.object_class != self._kinds.recipient:
                # A search would end at any of its kind.
                raise NothingFound(f"{mention.text} is not where I know it to be")
            yield from self._meet(attempt, name, mention)
            return
        try:
            yield from self._explore(attempt, name, mention)
        except NothingFound:
            if not mention.stand_ins:
                raise
            yield from self.need(attempt, name, replace(mention, candidates=mention.stand_ins, stand_ins=()))

    def _meet(self, attempt: GoalAttempt, name: str, mention: Mention) -> Steps:
        """Go from place to place until one certain person is seen: people walk about.

        Raises:
            NothingFound: they were seen nowhere.
        """
        person, begun_ns = self._lookup.scene_object(mention.thing_id), self._lookup.now_ns
        wanted = person.attributes.get("name") if person is not None else None
        for stop in self._lookup.search_stops(mention.object_class):
            attempt.follow((yield PlannedStep(SkillCall("GoToObject", (stop,)))))
            people = self._lookup.of_classes(mention.candidates)
            seen = [one for one in people if one.attributes.get("name") == wanted and one.last_seen_ns > begun_ns]
            self.refresh(attempt)
            found = attempt.world.state.named(seen[0].id) if seen else None
            if found is not None:
                attempt.parts[name] = found
                return
        raise NothingFound(f"{mention.text} is nowhere to be seen")

    def _looking_so(self, attempt: GoalAttempt, mention: Mention) -> Generator[PlannedStep, SkillResult, Mention]:
        """Return a mention of the one thing that looks as it was told and is in view, seen from place to place until it
        is; of things that nobody described, any.

        Raises:
            NothingFound: others of its class were seen, and are described otherwise.
        """
        known = self._lookup.of_classes(mention.candidates)
        if known and not any(one.description for one in known):
            return replace(mention, looks=frozenset())
        begun_ns = self._lookup.now_ns
        missing: set[str] = set()  # not where memory holds them; they may be seen elsewhere
        for object_class in mention.candidates:
            self._lookup.locate(object_class)
        stops = [stop for name in mention.candidates for stop in self._lookup.stops_room_by_room(name)]
        while True:
            found = self._fitting(attempt, mention, {one for one in missing if not self._was_seen(one, begun_ns)})
            if found is not None and found.last_seen_ns >= begun_ns:
                return replace(mention, thing_id=found.id, candidates=(found.class_name,), looks=frozenset())
            if found is None and not stops:
                break
            # What memory holds to be there may be another by now: it is looked at before it is taken.
            place = found.reference if found is not None else stops.pop(0)
            result = yield PlannedStep(SkillCall("GoToObject", (place,)))
            attempt.follow(result)
            if found is not None and (not result.success or not self._was_seen(found.id, begun_ns)):
                missing.add(found.id)
        if any(one.description for one in self._lookup.of_classes(mention.candidates)):
            raise NothingFound(f"no {self._name(mention)} that I have seen is described so")
        return replace(mention, looks=frozenset())

    def _was_seen(self, object_id: str, since_ns: int) -> bool:
        found = self._lookup.scene_object(object_id)
        return found is not None and found.last_seen_ns >= since_ns

    def _fitting(self, attempt: GoalAttempt, mention: Mention, missing: set[str]) -> SceneObject | None:
        """Return the thing of a class whose description clearly fits best what was said of it; None without one."""
        ruled_out = attempt.ruled_out | missing
        known = [one for one in self._lookup.of_classes(mention.candidates) if one.id not in ruled_out]
        names = {word for name in mention.candidates for word in stems(self._kinds[name].best_name)}
        said = mention.looks - names
        shares = sorted(
            ((_likeness(one.description, said, names), one) for one in known), key=lambda pair: pair[0], reverse=True
        )
        if not shares or shares[0][0][0] < _LOOKS_SO:
            return None
        best = shares[0][1]
        rivals = [one for share, one in shares[1:] if share == shares[0][0] and one.description != best.description]
        return best if not rivals else None

    def _is_remembered(self, attempt: GoalAttempt, name: str, mention: Mention) -> bool:
        # Memory does not know every state: where it knows of none like that, any of the kind may be.
        for likened in (mention, replace(mention, states=())) if mention.states else (mention,):
            if any(self.remembered(attempt, object_class, likened, name) for object_class in mention.candidates):
                return True
        return False

    def _knows_others(self, mention: Mention) -> bool:
        return any(one.id != mention.thing_id for one in self._lookup.of_classes(mention.candidates))

    def remembered(self, attempt: GoalAttempt, object_class: str, mention: Mention, name: str) -> bool:
        """Return whether memory knows a thing of a class; it is then located under a name."""
        meant = replace(mention, candidates=(object_class,))
        excluded = frozenset(attempt.ruled_out | attempt.in_another_part(name)) | self._lookup.not_where_told(meant)
        if mention.thing_id:
            others = {one.id for one in self._lookup.of_classes((object_class,))} - {mention.thing_id}
            excluded |= others
        # The second of two must not be the one that has just been put there.
        placed = attempt.part("destination").identities if attempt.taken and "destination" in attempt.parts else ()
        near = self._near(attempt, name, mention)
        not_on = frozenset(placed)
        answer = self._lookup.locate(object_class, mention.text, mention.states, excluded, not_on, near)
        if answer is None:
            return False
        found = attempt.world.state.named(answer.object_id) or attempt.world.keep(self._answered(attempt, answer))
        attempt.parts[name] = found
        attempt.mentions.setdefault(name, Mention(answer.object_class, (answer.object_class,)))
        self._note_first_place(attempt, found)
        return True

    def _near(self, attempt: GoalAttempt, name: str, mention: Mention) -> tuple[float, float, float] | None:
        """Return where a thing is needed, (x, y, z) in map, where any of its kind will do: at what is handled, or where
        that goes; None where it is not known, and for things of which a certain one is meant."""
        is_any = is_indefinite(mention.text)
        if name == "target":
            return attempt.goes_to if is_any else None
        is_any |= any(mention.object_class in one.at for one in self._kinds.treatments)
        if name in _WHERE_WORK_IS_DONE or (name == "destination" and is_any):
            return _place_of(attempt, "target")
        return None

    def _answered(self, attempt: GoalAttempt, answer: ObjectAnswer) -> Thing:
        """Return what memory answers with and its scene graph does not hold."""
        support = attempt.world.state.named(answer.support_id)
        x, y, z = (float(value) for value in answer.position)
        return Thing(
            answer.object_class,
            answer.object_class,
            str(ObjectReference.at(answer.object_class, answer.position)),
            memory_id=answer.object_id,
            container=support.id if support is not None else "",
            inside=answer.inside if support is not None else None,
            states=frozenset(believed(answer.states)),
            position=(x, y, z),
        )

    def _note_first_place(self, attempt: GoalAttempt, thing: Thing) -> None:
        """Remember what a thing was on or in when it was first located."""
        support, kinds = attempt.world.state.things.get(thing.container), self._kinds
        if support is None or not kinds[thing.object_class].pickupable:
            return
        if thing.inside or not kinds[support.object_class].lidded:
            self.first_places.setdefault(thing.object_class, support)

    def _explore(self, attempt: GoalAttempt, name: str, mention: Mention) -> Steps:
        """Look for any of the classes meant: at the ranked places, then inside what is closed."""
        if not mention.candidates:
            raise Setback(f"{mention.text!r} fits nothing that is known")
        if self._is_nowhere(mention):
            raise NothingFound(f"I have seen no {self._name(mention)} anywhere")
        if name == "target" and (mention.another or attempt.taken) and self.surveyed:
            raise NothingFound(f"I know of no other {self._name(mention)}")
        if mention.on:
            if (yield from self._look_where_told(attempt, name, mention)):
                return
            where = self._kinds[mention.on[0]].best_name
            raise NothingFound(f"I found no {self._name(mention)} in or on the {where}{self._known_elsewhere(mention)}")
        if name == "target" and self._sought_in_vain.issuperset(mention.candidates):
            again = f"say 'look for the {self._name(mention)}' if I am to look again"
            raise NothingFound(f"I have looked for the {self._name(mention)} today and found none; {again}")
        room_id, self._hindered = self._lookup.room_called(mention.room), False
        for object_class in mention.candidates:
            stops = self._lookup.search_stops(object_class, room_id)
            found = yield from self._search(attempt, name, object_class, stops)
            if found:
                return
        for object_class in mention.candidates:
            if self._kinds[object_class].pickupable:
                found = yield from self._look_inside(attempt, name, object_class)
                if found:
                    return
        self._sought_in_vain |= set() if room_id or self._hindered else set(mention.candidates)
        raise NothingFound(f"I found no {self._name(mention)}")

    def _name(self, mention: Mention) -> str:
        return self._kinds[mention.object_class].best_name if mention.candidates else mention.text

    def _is_nowhere(self, mention: Mention) -> bool:
        """Return whether furniture was sought in vain, or need not be: every place was looked at, and another can
        take its part. Things that can be carried may turn up."""
        if any(self._kinds[name].pickupable for name in mention.candidates):
            return False
        sought = self._sought_in_vain.issuperset(mention.candidates)
        return sought or (bool(mention.stand_ins) and self._lookup.surveyed)

    def _known_elsewhere(self, mention: Mention) -> str:
        """Return in words what one that was not meant is on or in; "" where memory knows of none."""
        supports = (self._lookup.scene_object(one.support_id) for one in self._lookup.of_classes(mention.candidates))
        support = next(filter(None, supports), None)
        return f"; I know of one at the {self._kinds[support.class_name].best_name}" if support is not None else ""

    def _look_where_told(
        self, attempt: GoalAttempt, name: str, mention: Mention
    ) -> Generator[PlannedStep, SkillResult, bool]:
        """Go to the furniture that the thing is told to be in or on, and open it; where memory knows none of it, look
        for that first."""
        elsewhere = self._lookup.not_where_told(Mention("", mention.on, room=mention.room))
        places = [one.id for one in self._lookup.of_classes(mention.on) if one.id not in elsewhere]
        for place in places:
            if (yield from self._look_at(attempt, name, mention, place)):
                return True
        unknown = () if places else mention.on
        return (yield from self._look_into(attempt, unknown, lambda one: self._look_at(attempt, name, mention, one)))

    def _look_at(
        self, attempt: GoalAttempt, name: str, mention: Mention, place_id: str
    ) -> Generator[PlannedStep, SkillResult, bool]:
        """Go to furniture and open it; close it again where the thing is not in it."""
        place = attempt.world.state.named(place_id)
        if place is None:
            return False
        attempt.parts[_LOOKED_AT] = place
        try:
            shut = self._kinds[place.object_class].lidded and place.door is not ObjectState.OPENED
            for skill in ("GoToObject", "OpenObject", "CloseObject")[: 3 if shut else 1]:
                if skill not in attempt.skills:
                    return False
                result = yield PlannedStep(SkillCall(skill, (attempt.part(_LOOKED_AT).call_name,)))
                attempt.follow(result)
                if not result.success:
                    return False
                self.refresh(attempt)
                if skill != "CloseObject" and self._is_remembered(attempt, name, mention):
                    return True
            return False
        finally:
            del attempt.parts[_LOOKED_AT]

    def _look_inside(
        self, attempt: GoalAttempt, name: str, object_class: str
    ) -> Generator[PlannedStep, SkillResult, bool]:
        """Go to furniture that may hold or hide the thing: what memory knows of, then kinds that are still unknown."""
        order = self._kinds.hiding_places(object_class)
        known = self._lookup.of_classes((*order, *self._kinds.put_down_places))
        if known and (yield from self._search(attempt, name, object_class, [one.reference for one in known])):
            return True
        here = {folded(one.class_name) for one in known}
        unknown = [kind for kind in order if folded(kind) not in here][:_SOUGHT]
        return (
            yield from self._look_into(attempt, unknown, lambda one: self._search(attempt, name, object_class, [one]))
        )

    def _look_into(
        self,
        attempt: GoalAttempt,
        kinds: Iterable[str],
        look: Callable[[str], Generator[PlannedStep, SkillResult, bool]],
    ) -> Generator[PlannedStep, SkillResult, bool]:
        """Look for furniture of some kinds, one after the other, until a look at it succeeds."""
        for kind in kinds:
            looked_into: frozenset[str] = frozenset()
            while True:
                seen = yield _exploring(attempt, Exploration(kind, self._lookup.search_stops(kind), looked_into))
                attempt.follow(seen)
                if not seen.success or seen.object_id in looked_into:
                    break
                if (yield from look(seen.object_id)):
                    return True
                looked_into |= {seen.object_id}
        return False

    def _search(
        self, attempt: GoalAttempt, name: str, object_class: str, stops: Sequence[str]
    ) -> Generator[PlannedStep, SkillResult, bool]:
        """Look for a thing of a class at some places. Where a robot ends a search at one that it was told to pass over,
        the places are gone through one by one."""
        one_by_one = [(stop,) for stop in stops] if len(stops) > 1 else []
        for number, places in enumerate([tuple(stops), *one_by_one]):
            passed_over = attempt.passed_over(name) | self._lookup.not_where_told(attempt.mentions[name])
            result = yield _exploring(attempt, Exploration(object_class, places, passed_over))
            attempt.follow(result)
            # Where it was seen from, it need not be in reach.
            attempt.world.state = attempt.world.state.standing_at("")
            found = attempt.world.state.named(result.object_id)
            if result.success and found is not None and result.object_id not in passed_over:
                attempt.parts[name] = found
                self.refresh(attempt)
                self._note_first_place(attempt, attempt.part(name))
                return True
            if number == 0 and not result.success:
                self._hindered |= result.reason is not FailureReason.NOT_FOUND
                return False
        return False

    def somewhere_in(self, room: str, object_class: str) -> Mention:
        """Return where in a room a thing may be put: on furniture of the kind that such a thing lies on elsewhere, or
        else on what is handy.

        Raises:
            Setback: memory knows no such room.
        """
        room_id, places = self._lookup.room_called(room), self._kinds.put_down_places
        if not room_id:
            raise Setback(f"no room called {room!r} is known")
        supports = (self._lookup.scene_object(one.support_id) for one in self._lookup.of_classes((object_class,)))
        usual = [one.class_name for one in supports if one is not None and one.class_name in places]
        here = {one.class_name for one in self._lookup.in_room(room_id, places)}
        known = [name for name in dict.fromkeys((*usual, *places)) if name in here]
        return Mention(f"a place in the {room}", tuple(known) or places[:_SOUGHT], room=room)

    def surface_beside(self, thing: Thing) -> Thing | None:
        """Return the furniture that a remembered thing stands on, or else the nearest beside it; None without."""
        itself = self._lookup.scene_object(thing.memory_id)
        if itself is None:
            return None
        support = self._lookup.scene_object(itself.support_id)
        if support is not None and not self._kinds[support.class_name].is_receptacle:
            support = None  # a basin is in its sink, and nothing can be put there
        others = (one for one in self._lookup.of_classes(self._kinds.put_down_places) if one.id != itself.id)
        near = {one.id: (one.box.distance_m(itself.box.center[:2]), one) for one in others}
        nearest = min(near.values(), key=lambda found: found[0], default=None)
        if support is None and nearest is not None and nearest[0] <= _BESIDE_M:
            support = nearest[1]
        if support is None:
            return None
        return Thing("beside it", support.class_name, support.reference, memory_id=support.id)

    def place_of_only(self, mention: Mention | None) -> tuple[float, float, float] | None:
        """Return where the only thing is that a mention can mean, (x, y, z) in map; None where there are several."""
        if mention is None:
            return None
        known = self._lookup.of_classes(mention.candidates)
        meant = [one for one in known if mention.thing_id in ("", one.id)]
        if len(meant) != 1:
            return None
        x, y, z = (float(value) for value in meant[0].box.center)
        return x, y, z

    def surfaces(self) -> Mention:
        """Return where something that is in the way may be put down."""
        places = self._kinds.put_down_places
        known = [found.class_name for found in self._lookup.of_classes(places)]
        return Mention("somewhere to put it", tuple(dict.fromkeys(known)) or places[:_SOUGHT])


def _likeness(description: str, said: Collection[str], names: Collection[str]) -> tuple[float, int]:
    """Return which share of a description's words was said of a thing, or of what was said stands in it, whichever is
    larger, and how many words that are."""
    words = set(stems(description)) - set(names)
    both = len(words & set(said))
    return (both / min(len(words), len(said)) if both else 0.0), both


def _exploring(attempt: GoalAttempt, exploration: Exploration) -> PlannedStep:
    """Return the step that explores; raises Setback where the robot does not."""
    if "Explore" not in attempt.skills:
        sought = exploration.target_class
        raise Setback(f"it is not known where {sought} is, and Explore is not available on this robot")
    return PlannedStep(exploration.call)


def _place_of(attempt: GoalAttempt, name: str) -> tuple[float, float, float] | None:
    """Return where memory knows a thing to be, (x, y, z) in map; for one in the hand that is where the robot stands."""
    thing, state = attempt.find(name) if name in attempt.parts else None, attempt.world.state
    if thing is not None and thing.id == state.held:
        thing = state.things.get(state.at or "")
    return thing.position if thing is not None else None
