"""Skills as ScienceWorld's commands: which are sent, in which order, and what they change."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

from benchmarks.scienceworld.focus import Focus
from benchmarks.scienceworld.senses import LessonSenses, Thing
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.exploration import Exploration
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_library import check_call
from memory_node.domain.states import ObjectState
from memory_node.sim.execution import SkillFailure

_R, _S = FailureReason, ObjectState
LOOK = "look around"
# Heat and cold need time to work; each wait is ten moments of the lesson.
_WAIT = "wait"
_WAITS = 2
# A skill on its way: it yields commands, and is sent the replies or thrown the failure of what was refused; it returns
# the id of the thing that it was about.
Commands = Generator[str, str, str]


class LessonSkills:
    """Turns skills into commands, by what was read so far.

    searched: rooms gone to, to search.
    """

    def __init__(self, kinds: ObjectCatalogue, senses: LessonSenses, focus: Focus) -> None:
        self.searched = 0
        self._kinds = kinds
        self._senses = senses
        self._focus = focus
        self._perform: Mapping[str, Callable[..., Commands]] = {
            "Explore": self._explore,
            "GoToObject": self._go_to,
            "PickupObject": self._pick_up,
            "PutObject": self._put,
            "OpenObject": self._open,
            "CloseObject": self._close,
            "ToggleOn": self._switch_on,
            "ToggleOff": self._switch_off,
            "SwitchOn": self._switch_on,
            "SwitchOff": self._switch_off,
            "FillObject": self._fill,
            "EmptyObject": self._empty,
            "HeatObject": self._heat,
            "CoolObject": self._cool,
        }

    @property
    def names(self) -> frozenset[str]:
        """The skills that the lessons have commands for."""
        return frozenset(self._perform)

    def commands(self, call: SkillCall) -> Commands:
        """Return a skill on its way.

        Raises:
            InvalidValueError: the call is none.
            SkillFailure: a lesson knows no such skill; while it is on its way: it fails.
        """
        check_call(call)
        if call.skill not in self._perform:
            raise SkillFailure(_R.INVALID_CALL, f"the lesson has no command for {call.skill}")
        return self._perform[call.skill](*call.arguments)

    # --- skills

    def _explore(self, *arguments: str) -> Commands:
        """Look at rooms in order, and into what is closed there, until a thing of the class is seen; rooms that are
        found on the way come last."""
        asked = Exploration.of(SkillCall("Explore", arguments))
        rooms = list(dict.fromkeys(map(self._room, asked.stops)))
        for room in rooms:
            if self._senses.route(room) is None:
                continue
            self.searched += room != self._senses.at
            yield from self._enter(room)
            if room not in self._senses.seen:
                yield LOOK
            found = self._found(asked)
            for shut in self._shut_here() if found is None else ():
                try:
                    yield f"open {shut.name}"
                    yield f"look in {shut.name}"
                except SkillFailure as failure:
                    if failure.reason is _R.CANCELED:
                        raise
                found = self._found(asked)
                if found is not None:
                    break
            if found is not None:
                return found.id
            rooms += [one for one in self._senses.site.places if one not in rooms and one not in self._senses.seen]
        raise SkillFailure(_R.NOT_FOUND, f"no {asked.target_class} seen in {len(rooms)} rooms")

    def _go_to(self, text: str) -> Commands:
        thing = self._resolve(text)
        yield from self._enter(thing.room)
        if self._focus.due_before(thing.name, is_taken=False):
            yield f"focus on {thing.name}"
        return thing.id

    def _pick_up(self, text: str) -> Commands:
        thing = self._resolve(text)
        if self._senses.held:
            raise SkillFailure(_R.HAND_FULL, f"the hand holds {self._senses.held}", self._senses.held)
        self._require_near(thing)
        if self._focus.due_before(thing.name, is_taken=True):
            yield f"focus on {thing.name}"
        if thing.room:
            yield f"pick up {thing.name}"
        self._senses.take(thing)
        return thing.id

    def _put(self, text: str, receptacle: str) -> Commands:
        thing, place = self._held_thing(text), self._resolve(receptacle)
        self._require_near(place)
        yield f"move {thing.name} to {place.name}"
        self._senses.put(thing, place)
        return thing.id

    def _open(self, text: str) -> Commands:
        return (yield from self._with_lid(text, "open"))

    def _close(self, text: str) -> Commands:
        return (yield from self._with_lid(text, "close"))

    def _with_lid(self, text: str, verb: str) -> Commands:
        thing = self._resolve(text)
        self._require_near(thing)
        yield f"{verb} {thing.name}"
        gained, lost = (_S.OPENED, _S.CLOSED) if verb == "open" else (_S.CLOSED, _S.OPENED)
        self._senses.report(thing, (gained,), (lost,))
        if verb == "open":
            yield f"look in {thing.name}"
        return thing.id

    def _switch_on(self, text: str) -> Commands:
        return (yield from self._switch(text, "activate", _S.ON, _S.OFF))

    def _switch_off(self, text: str) -> Commands:
        return (yield from self._switch(text, "deactivate", _S.OFF, _S.ON))

    def _switch(self, text: str, verb: str, gained: ObjectState, lost: ObjectState) -> Commands:
        thing = self._resolve(text)
        self._require_near(thing)
        yield f"{verb} {thing.name}"
        self._senses.report(thing, (gained,), (lost,))
        return thing.id

    def _fill(self, text: str, source: str = "") -> Commands:
        """Fill what the hand holds at a tap, which runs meanwhile."""
        thing = self._held_thing(text)
        tap = self._resolve(source) if source else self._serving("FillObject")
        yield from self._enter(tap.room)
        yield from (f"activate {tap.name}", f"move {thing.name} to {tap.name}", f"pick up {thing.name}")
        yield f"deactivate {tap.name}"
        self._senses.report(thing, (_S.FILLED,), (_S.USED_UP,))
        return thing.id

    def _empty(self, text: str) -> Commands:
        thing = self._held_thing(text)
        drain = self._serving("FillObject")
        yield from self._enter(drain.room)
        yield f"pour {thing.name} in {drain.name}"
        self._senses.report(thing, (_S.USED_UP,), (_S.FILLED,))
        return thing.id

    def _heat(self, text: str, appliance: str = "") -> Commands:
        return (yield from self._treat("HeatObject", text, appliance, _S.HEATED, _S.COLD))

    def _cool(self, text: str, appliance: str = "") -> Commands:
        return (yield from self._treat("CoolObject", text, appliance, _S.COLD, _S.HEATED))

    def _treat(self, skill: str, text: str, appliance: str, gained: ObjectState, lost: ObjectState) -> Commands:
        """Leave what the hand holds in or on an appliance for a while."""
        thing = self._held_thing(text)
        place = self._resolve(appliance) if appliance else self._serving(skill)
        yield from self._enter(place.room)
        if self._senses.is_shut(place.id):
            yield f"open {place.name}"
        yield f"move {thing.name} to {place.name}"
        if skill == "HeatObject":
            yield f"activate {place.name}"
        for _ in range(_WAITS):
            yield _WAIT
        if skill == "HeatObject":
            yield f"deactivate {place.name}"
        yield f"pick up {thing.name}"
        self._senses.report(thing, (gained,), (lost,))
        return thing.id

    # --- what skills are made of

    def _enter(self, room: str) -> Generator[str, str, None]:
        """Go to a room through the doors on the way; "" is where the robot is."""
        way = self._senses.route(room) if room else ()
        if way is None:
            raise SkillFailure(_R.UNREACHABLE, f"no way to the {room} is known")
        for step in way:
            if not self._senses.doors[self._senses.at].get(step, False):
                yield f"open door to {step}"
                self._senses.note_door(step, True)
            yield f"go to {step}"
            self._senses.at = step
            if step not in self._senses.seen:
                yield LOOK

    def _found(self, asked: Exploration) -> Thing | None:
        here = self._senses.in_room(self._senses.at)
        sought = (one for one in here if self._senses.is_called(one, asked.target_class))
        return next((one for one in sought if one.id not in asked.passed_over), None)

    def _shut_here(self) -> list[Thing]:
        return [one for one in self._senses.in_room(self._senses.at) if self._senses.is_shut(one.id)]

    def _serving(self, skill: str) -> Thing:
        things = self._senses.things.values()
        serving = (one for one in things if one.room and self._kinds.serves(one.object_class, skill))
        found = min(serving, key=lambda one: len(self._senses.route(one.room) or ()), default=None)
        if found is None:
            raise SkillFailure(_R.NOT_FOUND, f"nothing that serves for {skill} has been seen")
        return found

    def _resolve(self, text: str) -> Thing:
        thing = self._senses.meant(text)
        if thing is None:
            raise SkillFailure(_R.NOT_FOUND, f"no {text} has been seen")
        return thing

    def _held_thing(self, text: str) -> Thing:
        thing = self._resolve(text)
        if thing.id != self._senses.held:
            raise SkillFailure(_R.NOT_HOLDING, f"the hand does not hold {text}", thing.id)
        return thing

    def _room(self, text: str) -> str:
        """Return the room of a stop: a room by its name, a position "x,y", or a thing."""
        if text in self._senses.site.places:
            return text
        try:
            x, y = (float(part) for part in text.split(","))
        except ValueError:
            return self._resolve(text).room or self._senses.at
        return self._senses.site.place_near(x, y)

    def _require_near(self, thing: Thing) -> None:
        if thing.room not in ("", self._senses.at):
            raise SkillFailure(_R.TOO_FAR, f"{thing.id} is in the {thing.room}", thing.id)
