"""What earlier tries say of a call: whether it fails here, and what made it work.

A try teaches about its thing or place, its class of object and its time of day. Which of these the cause is, is told by
the tries that differ in one of them alone: a microwave that heats potatoes and fails with eggs fails with eggs.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import part_of_day
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill_library import SKILLS, Predicate
from memory_node.domain.states import ObjectState
from memory_node.domain.step import Deed
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.knowledge.told.fact import Relation, ToldFact
from memory_node.lessons.lesson import Lesson, LessonKind, Preparation, Wording

WRITER = "tries"

# Calls that may be the reason why another one works, as nothing else asks for them, and the state each brings about.
ENABLING = {
    "SwitchOn": ObjectState.ON,
    "ToggleOn": ObjectState.ON,
    "SwitchOff": ObjectState.OFF,
    "ToggleOff": ObjectState.OFF,
    "OpenObject": ObjectState.OPENED,
    "CloseObject": ObjectState.CLOSED,
}
_DOORS = frozenset(name for name, state in ENABLING.items() if state in (ObjectState.OPENED, ObjectState.CLOSED))
# What is done with things for its own sake: the reason of a success only where nothing else was different.
_ORDINARY = frozenset({"PutObject"}).union(
    name for name, one in SKILLS.items() if one.brings_about and one.needs(Predicate.HOLDING)
)
# What these are done with is another thing each time, and they need no place.
_ANYWHERE = frozenset({"SliceObject", "FillObject", "EmptyObject", "BreakObject", "ThrowObject"})

# How tries of a PickupObject are kept for the place that the thing is taken from, beside those for the thing itself.
TAKEN_FROM = "PickupObject from"
# A place that failed so often in an instruction before it worked is no chance.
_STUBBORN = 3
# So many places of a class that fail one after the other are no chance: what they have in common is.
_ALIKE = 3

# What was done between a failure and a success so soon after it may be the reason of the success.
LATELY_NS = 3600 * 10**9
_DONE_KEPT = 64


# Memory's id and the class of a thing; an id of "" for one that nobody can tell from others of its class.
Named = tuple[str, str]


@dataclass(frozen=True)
class _Try:
    """One try of a call: at which thing or place, with which class, at which time, after which calls that may be the
    reason: those of its own instruction, and those since it failed a short time ago.
    """

    deed: Deed
    number: int
    place_id: str
    place_class: str
    part: str
    before: tuple[Preparation, ...]

    @property
    def failed(self) -> bool:
        return bool(self.deed.reason)

    @property
    def plain(self) -> bool:
        """Whether it failed, or worked without anything before it."""
        return self.failed or not self.before


@dataclass
class _Suspects:
    """What was done between a failure and a success: sets that leave several reasons open, and reasons that are certain
    since nothing else was different, or they were different twice."""

    open: list[set[Preparation]] = field(default_factory=list)
    certain: set[Preparation] = field(default_factory=set)

    def note(self, different: set[Preparation], at_once: bool = True) -> None:
        """Take over what was different before one more success. at_once: what alone was different is the reason."""
        if len(different) == 1 and at_once:
            self.certain |= different
        for earlier in self.open:
            self.certain |= earlier & different
        self.open.append(different)


class Expectations:
    """tried: every try of the robot, the newest last; zone: of the time of day, None for the machine's. repaired: by
    the id of a place (or thing), since when (ns) people say that it works again: what was tried there before says
    nothing any more. recipient: the class of persons: each takes what another does not, and one thing for all that
    they did not take another.
    """

    def __init__(
        self,
        tried: Sequence[Deed],
        zone: tzinfo | None = None,
        repaired: Mapping[str, int] | None = None,
        recipient: str = "",
    ) -> None:
        self._zone = zone
        self._recipient = recipient
        repaired = repaired or {}
        # By skill and place (or thing), by skill and class of place, and by skill and class of thing.
        self._at: dict[tuple[str, str], list[_Try]] = {}
        self._of: dict[tuple[str, str], list[_Try]] = {}
        self._with: dict[tuple[str, str], list[_Try]] = {}
        self._tries = len(tried)
        self._done: deque[tuple[int, Deed]] = deque(maxlen=_DONE_KEPT)  # what may be the reason of a success
        self._reached: deque[tuple[int, Deed]] = deque(maxlen=_DONE_KEPT)  # what was opened only to reach into it
        self._suspected: dict[tuple[str, str], _Suspects] = {}
        explained = _explained(tried)
        for number, deed in enumerate(tried):
            place_id, place_class = place_of(deed.skill, deed)
            if deed.stamp_ns < repaired.get(place_id, 0):
                continue
            with_class = self._with.setdefault((deed.skill, deed.object_class), [])
            made = self._note(deed.skill, number, deed, (place_id, place_class), with_class)
            with_class.append(made)
            if deed.skill == "PickupObject" and deed.from_id:
                self._note(TAKEN_FROM, number, deed, (deed.from_id, deed.from_class))
            if not deed.reason and deed.object_id:
                self._note_done(number, deed, explained)

    def _note(
        self, skill: str, number: int, deed: Deed, place: tuple[str, str], with_class: Sequence[_Try] | None = None
    ) -> _Try:
        """Keep a try for its place. with_class: earlier tries with such a thing, None where only the place counts."""
        place_id, place_class = place
        of_class = self._of.setdefault((skill, place_class), [])
        before = self._switched(deed, place_id, _failed_lately(of_class, deed.stamp_ns, number))
        here = self._at.setdefault((skill, place_id), [])
        before += self._reached_into(skill, deed, place_id, _failed_lately(here, deed.stamp_ns, number))
        if not before and not deed.reason:
            before = self._still_switched(here, deed.stamp_ns)
        if with_class is not None:
            before += self._done_otherwise(deed, _failed_lately(with_class, deed.stamp_ns, number), bool(before))
        part = part_of_day(deed.stamp_ns, self._zone)
        made = _Try(deed, number, place_id, place_class, part, tuple(dict.fromkeys(before)))
        of_class.append(made)
        here.append(made)
        return made

    def _note_done(self, number: int, deed: Deed, explained: set[tuple[str, str, str]]) -> None:
        """Keep a deed that may be the reason of a later success. explained: what was opened only to reach into it, see
        `_explained`."""
        if deed.skill == "PickupObject":  # where it was put makes no difference any more
            put = [one for one in self._done if (one[1].skill, one[1].object_id) == ("PutObject", deed.object_id)]
            for one in put:
                self._done.remove(one)
        # What was only tried or looked into makes no difference; until now, it may have. What is closed may have to be.
        if deed.skill in ENABLING and deed.skill != "OpenObject":
            ended = ENABLING[deed.skill].opposites
            here = (deed.object_id, deed.episode_id)
            undone = [
                (then, other)
                for then, other in self._done
                if (other.object_id, other.episode_id) == here and ENABLING.get(other.skill) in ended
            ]
            for one in undone:
                self._done.remove(one)
            if undone:
                return
        is_explained = (deed.skill, deed.episode_id, deed.object_id) in explained
        if deed.skill in _ORDINARY or (deed.skill in ENABLING and not is_explained):
            self._done.append((number, deed))
        elif is_explained and deed.skill == "OpenObject":
            self._reached.append((number, deed))

    def _done_before(self, deed: Deed, since: int, skills: frozenset[str]) -> list[Deed]:
        return [
            other
            for number, other in self._done
            if other.skill in skills and (number > since or other.episode_id == deed.episode_id)
        ]

    def _switched(self, deed: Deed, place_id: str, since: int) -> list[Preparation]:
        """Return what was switched or opened before a try. since: the number of its last failure at such a place."""
        done = self._done_before(deed, since, frozenset(ENABLING))
        # A place is opened to reach into it; it may have to run first.
        own = frozenset(ENABLING) if deed.object_id == place_id else _DOORS
        return [_preparation(one) for one in done if one.object_id != place_id or one.skill not in own]

    def _reached_into(self, skill: str, deed: Deed, place_id: str, since: int) -> list[Preparation]:
        """Return what was opened to reach into it before a try: all of it before a failure; before a success what was
        opened between a failure and a success here twice."""
        opened = [one for one in self._reached if one[1].object_id != place_id]
        if deed.reason:
            return [_preparation(one) for _, one in opened if one.episode_id == deed.episode_id]
        suspects = self._suspected.setdefault((f"{skill} after opening", place_id), _Suspects())
        different = {_preparation(one) for number, one in opened if number > since}
        if different:
            suspects.note(different, at_once=False)
        return [one for one in different if one in suspects.certain]

    def _still_switched(self, here: Sequence[_Try], now_ns: int) -> list[Preparation]:
        """Return what was switched before a call worked here a short time ago, and was not switched back since."""
        last = here[-1] if here else None
        if last is None or last.failed or now_ns - last.deed.stamp_ns > LATELY_NS:
            return []
        switched = {one.object_id: one for _, one in self._done if one.skill in ENABLING}
        lasting = set(map(_preparation, switched.values()))
        return [one for one in last.before if one in lasting]

    def _done_otherwise(self, deed: Deed, since: int, is_switched: bool) -> list[Preparation]:
        """Return what was done for its own sake before a try: all of it before a failure, as that is no reason of a
        success; before a success what alone was different from the failure, or was different twice.

        since: the number of its last failure with such a thing. is_switched: something that was switched may be it.
        """
        others = _ORDINARY - {deed.skill}
        done = [_with_role(one, deed) for one in self._done_before(deed, since, others)]
        if deed.reason:
            return done
        suspects = self._suspected.setdefault((deed.skill, deed.object_class), _Suspects())
        lately = [one for number, one in self._done if number > since and one.skill in others]
        treated = {one.object_id for one in lately if one.skill != "PutObject"}  # in the hand, and put down for that
        lately = [one for one in lately if one.skill != "PutObject" or one.object_id not in treated]
        different = {_with_role(one, deed) for one in lately}
        if different and not is_switched:
            suspects.note(different)
        return [one for one in done if one in suspects.certain]

    def failing(self, skill: str, object_class: str, place_id: str, now_ns: int) -> Lesson | None:
        """Return the lesson that a call fails at a place (or thing) now; None where nothing says so.

        object_class: of what it is done with there; the same as the place's for a door or a switch.
        """
        part = part_of_day(now_ns, self._zone)
        at_place = self._blamed_on(skill, place_id, part)
        if at_place and self._is_person(at_place[-1].place_class):
            at_place = [one for one in at_place if one.deed.object_class == object_class]
        failures = [one for one in at_place if one.failed]
        if not failures or not _is_expected_to_fail(at_place, object_class, part):
            return None
        same = [one for one in at_place if one.deed.object_class == object_class]
        about = same if any(one.failed for one in same) else at_place
        place, part = (place_id, failures[-1].place_class), _only_part(at_place)
        text = f"{_call(skill, object_class, place[1])} fails" + (f" in the {part}" if part else "")
        lesson = _lesson(LessonKind.AVOID, skill, object_class, place, text, [one for one in about if one.failed])
        return replace(lesson, part_of_day=part, evidence_against=() if part else _worked_since(about, about))

    def _is_person(self, place_class: str) -> bool:
        return bool(place_class) and place_class == self._recipient

    def _blamed_on(self, skill: str, place_id: str, part: str) -> list[_Try]:
        """Return the tries that tell of a place (or thing). Of a place that things are taken from: once several could
        not be taken there, or one that could be elsewhere; these tell nothing of the things then."""
        tries = [one for one in self._at.get((skill, place_id), ()) if one.plain]
        if skill == "PickupObject":
            to_blame = {
                place: bool(self._blamed_on(TAKEN_FROM, place, part)) for place in {one.deed.from_id for one in tries}
            }
            return [one for one in tries if not to_blame[one.deed.from_id]]
        if skill != TAKEN_FROM:
            return tries
        stuck = {one.deed.object_id for one in tries if one.failed}
        came_off = any(
            not one.failed and one.deed.from_id != place_id
            for thing in stuck
            for one in self._at.get(("PickupObject", thing), ())
        )
        is_expected = bool(tries) and _is_expected_to_fail(tries, "", part)
        return tries if is_expected and (len(stuck) > 1 or came_off) else []

    def stubborn(self, skill: str, object_class: str, place_id: str) -> Lesson | None:
        """Return the lesson that a call worked at a place (or thing) only after many tries the last time."""
        tries = self._at.get((skill, place_id), [])
        last = tries[-1].deed if tries else None
        if last is None or last.reason:
            return None
        failed = [one for one in tries if one.failed and one.deed.episode_id == last.episode_id]
        if len(failed) < _STUBBORN:
            return None
        place = (place_id, tries[-1].place_class)
        text = f"{_call(skill, object_class, place[1])} works only after many tries"
        return _lesson(LessonKind.AVOID, skill, object_class, place, text, failed)

    def suspected(self, skill: str, object_class: str, place_id: str, place_class: str, now_ns: int) -> Lesson | None:
        """Return the lesson that a call may fail at a place (or thing) where it was not tried, since it was tried at
        several others of its class lately and worked at none."""
        if self.was_tried(skill, place_id):
            return None
        lately = itertools.takewhile(lambda one: one.failed, reversed(self._of.get((skill, place_class), ())))
        others = {one.place_id: one for one in lately}
        failing = list(filter(None, (self.failing(skill, object_class, one, now_ns) for one in others)))
        if len(failing) < _ALIKE:
            return None
        text = f"{_call(skill, object_class, place_class)} may fail as at {len(failing)} others"
        return replace(
            failing[0],
            id=f"{WRITER}|{skill}|{object_class}|{place_id}",
            wordings=(Wording("", text),),
            place_id=place_id,
            evidence_for=tuple(source for one in failing for source in one.evidence_for),
        )

    def failed_last(self, skill: str, place_id: str, object_class: str, now_ns: int) -> bool | None:
        """Return whether the last try of a call at a place (or thing) at this time of the day failed. With such a
        thing, or where none was tried, with anything; None where there is no try."""
        part = part_of_day(now_ns, self._zone)
        then = [one for one in self._at.get((skill, place_id), ()) if one.plain and one.part == part]
        then = [one for one in then if one.deed.object_class == object_class] or then
        return then[-1].failed if then else None

    def was_tried(self, skill: str, place_id: str) -> bool:
        """Return whether a call was tried at a place (or thing)."""
        return (skill, place_id) in self._at

    def has_failed_with(self, skill: str, place_id: str, object_class: str) -> bool:
        """Return whether a call failed at a place with a class, or is not known to have failed there with others."""
        failed = [one for one in self._at.get((skill, place_id), ()) if one.failed]
        return not failed or any(one.deed.object_class == object_class for one in failed)

    def worked_after(self, skill: str, place_id: str, other: str, other_id: str) -> bool:
        """Return whether a call worked at a place after another one was tried the last time."""
        worked = [one.number for one in self._at.get((skill, place_id), ()) if not one.failed]
        return bool(worked) and worked[-1] > max((one.number for one in self._at.get((other, other_id), ())), default=0)

    def never_worked(self, skill: str, place_id: str) -> bool:
        """Return whether a call was tried at a place (or thing), and never worked there in any way."""
        tries = self._at.get((skill, place_id), ())
        return bool(tries) and all(one.failed for one in tries)

    def may_be_mended(self, skill: str, place_class: str, now_ns: int) -> bool:
        """Return whether a call failed a short time ago, and what may make it work was done since."""
        failed = _failed_lately(self._of.get((skill, place_class), ()), now_ns, never=self._tries)
        return any(number > failed and one.skill != skill for number, one in self._done)

    def _class_at_fault(self, skill: str) -> str:
        """Return the one class of thing that a call failed with wherever it was tried, or where no place counts; ""
        where that may be the place's fault, or several classes failed."""
        failed = [one for (name, _), tries in self._with.items() if name == skill for one in tries if one.failed]
        classes, places = {one.deed.object_class for one in failed}, {one.place_id for one in failed}
        return classes.pop() if len(classes) == 1 and (len(places) > 1 or "" in places) else ""

    def way(
        self, skill: str, object_class: str, place_id: str, place_class: str, now_ns: int | None = None
    ) -> Lesson | None:
        """Return what to do before a call that fails without it; None where nothing says so.

        What was switched for one place, or for one class of thing there, holds for others until they were tried
        themselves; what was done with a thing holds for things of its class, wherever the call is made, and what was
        done with another one, such as a knife, for all classes with which a call without a place is made. Where the
        class is at fault, the lesson names that class and no place: another class may do without. now_ns: at whose
        time of the day the call is made, None for any.
        """
        part = part_of_day(now_ns, self._zone) if now_ns is not None else ""
        tries = self._of.get((skill, place_class), [])
        here = [one for one in tries if one.plain and one.place_id == place_id]
        alike = [one for one in here if one.deed.object_class == object_class] or here or tries
        own = [one for one in tries if one.deed.object_class == object_class]
        has_own = any(one.failed for one in own) and any(not one.plain for one in own)
        before, worked = _reasons_of_success(own if has_own else tries, alike, frozenset(ENABLING), part)
        if not before:  # each of several may need something else
            itself = [one for one in own if one.place_id == place_id]
            before, worked = _reasons_of_success(itself, alike, frozenset(ENABLING), part)
        if not before:
            tries = alike = self._with.get((skill, object_class), [])
            before, worked = _reasons_of_success(tries, alike, _ORDINARY, part)
        if not before and skill in _ANYWHERE:
            tries = self._of.get((skill, place_class), [])
            alike = self._with.get((skill, object_class), tries)
            found, worked = _reasons_of_success(tries, alike, _ORDINARY, part)
            before = tuple(one for one in found if one.thing_id)
        if not before:
            return None
        first, last = " and ".join(one.text for one in before), worked[-1]
        at_fault = self._class_at_fault(skill)
        if at_fault:
            place_id, place_class = "", ""
        text = f"{_call(skill, last.deed.object_class, last.place_class if place_class else '')} works after {first}"
        return replace(
            _lesson(LessonKind.REPAIR, skill, object_class, (place_id, place_class), text, worked),
            object_classes=frozenset({at_fault or object_class}),
            before=before,
            evidence_against=_worked_since(tries, [one for one in alike if one.plain]),
        )

    def needed(
        self, skill: str, things: Sequence[Named], supports: Sequence[Named], now_ns: int, has_failed: bool
    ) -> Lesson | None:
        """Return what to do before a call now; None where nothing is known to be needed.

        things: what the call names: what is treated, or taken, first, and what it is done at last. supports: what the
        last one lies on or in, and what that lies on in turn. has_failed: such a call failed in this instruction: what
        a thing of another class may do without is done then, too.
        """
        object_class, (place_id, place_class) = things[0][1], things[-1]
        if is_done_anywhere(skill, len(things)):
            place_id = place_class = ""
        elif self._is_person(place_class) and not self.was_tried(skill, place_id):
            return None  # what one person takes only so says nothing of another
        lesson = self.way(skill, object_class, place_id, place_class, now_ns)
        if lesson is not None and not lesson.is_needed_with(object_class) and not has_failed:
            return None  # it is tried without first
        if skill == "PickupObject" and supports:
            stuck_on = {one.deed.from_id for one in self._at.get((skill, place_id), ()) if one.failed}
            if stuck_on and stuck_on.isdisjoint(one for one, _ in supports) and not has_failed:
                lesson = None  # here it may come off by itself
            tried = (one for one in supports if self.was_tried(TAKEN_FROM, one[0]))
            ways = (self.way(TAKEN_FROM, object_class, *one, now_ns) for one in tried)
            lesson = lesson or next(filter(None, ways), None)
        return lesson

    def lessons(self, now_ns: int) -> tuple[Lesson, ...]:
        """Return every lesson that holds now, of each call at each place where it was tried, the newest first."""
        found: dict[str, tuple[int, Lesson]] = {}
        for (skill, place_id), tries in self._at.items():
            for one in {one.deed.object_class: one for one in tries if one.failed}.values():
                way = self.way(skill, one.deed.object_class, place_id, one.place_class, now_ns)
                lesson = way or self.failing(skill, one.deed.object_class, place_id, now_ns)
                lesson = lesson or self.stubborn(skill, one.deed.object_class, place_id)
                if lesson is not None:
                    found[f"{lesson.text} {lesson.place_id}"] = one.deed.stamp_ns, lesson
        return tuple(lesson for _, lesson in sorted(found.values(), key=lambda row: -row[0]))


def expectations_of(
    tried: Sequence[Deed],
    facts: Sequence[ToldFact],
    kinds: ObjectCatalogue,
    scene: Callable[[], SceneSnapshot],
    now_ns: int,
    zone: tzinfo | None,
) -> Expectations:
    """Return what tries teach beside what people told. facts: told, and read; scene: what memory knows."""
    told = any(fact.relation is Relation.BROKEN and not fact.holds for fact in facts)
    repaired = BindingFacts(facts, kinds, scene(), now_ns, zone).repaired() if told else {}
    return Expectations(tried, zone, repaired, kinds.recipient)


def _lesson(kind: LessonKind, skill: str, object_class: str, place: Named, text: str, tries: Sequence[_Try]) -> Lesson:
    """Return the lesson that some tries of a call bear out."""
    return Lesson(
        f"{WRITER}|{skill}|{object_class}|{place[0]}",
        kind,
        (Wording("", text),),
        tries[-1].deed.skill,
        frozenset({object_class}),
        *place,
        evidence_for=tuple(one.deed.source for one in tries),
        writer=WRITER,
    )


def _call(skill: str, object_class: str, place_class: str) -> str:
    of = f" of {object_class}" if object_class and object_class != place_class else ""
    name, where = ("PickupObject", "from") if skill == TAKEN_FROM else (skill, "at")
    return f"{name}{of}" + (f" {where} this {place_class}" if place_class else "")


def _worked_since(tries: Sequence[_Try], tried: Iterable[_Try]) -> tuple[str, ...]:
    """Return the sources of those tried that worked after the first failure of some tries: what worked before it, or
    with another thing, speaks against nothing."""
    first = min((one.number for one in tries if one.failed), default=-1)
    return tuple(one.deed.source for one in tried if not one.failed and one.number > first)


def is_done_anywhere(skill: str, arguments: int) -> bool:
    """Return whether a call depends on no place and no door: what is cut or filled is another thing each time."""
    return skill in _ANYWHERE and arguments < 2


def place_of(skill: str, deed: Deed) -> tuple[str, str]:
    """Return id and class of what a call depends on: the appliance or receptacle, else the door or switch itself; both
    "" where it is done anywhere."""
    if skill in SKILLS and len(SKILLS[skill].arguments) > 1:
        return deed.to_id, deed.to_class
    return ("", "") if is_done_anywhere(skill, 1) else (deed.object_id, deed.object_class)


def _reasons_of_success(
    tries: Sequence[_Try], alike: Sequence[_Try], skills: frozenset[str], part: str
) -> tuple[tuple[Preparation, ...], list[_Try]]:
    """Return the calls of some skills that came before each success since the first failure and before no failure, and
    these successes; none where the last of the tries alike that had nothing before it went well, at this time of the
    day if it was tried then."""
    plain, failed = [one for one in alike if one.plain], [one for one in tries if one.failed]
    plain = [one for one in plain if one.part == part] or plain
    if not plain or not plain[-1].failed or not failed:
        return (), []
    prepared = [one for one in tries if not one.failed and any(each.skill in skills for each in one.before)]
    # Where it had never failed it may work without: what was done before says nothing there.
    at = {one.place_id for one in failed}
    worked = [one for one in prepared if one.number > failed[0].number and one.place_id in at]
    common = [one for one in (worked[-1].before if worked else ()) if all(one in other.before for other in worked)]
    reasons = [one for one in common if one.skill in skills and not any(one in other.before for other in failed)]
    return tuple(reasons), worked


def _preparation(done: Deed) -> Preparation:
    put = (done.to_id, done.to_class) if done.skill == "PutObject" else ("", "")
    return Preparation(done.skill, done.object_id, done.object_class, *put)


def _with_role(done: Deed, deed: Deed) -> Preparation:
    """Return what was done as it is told of another thing of the kind: with the very thing, or with a tool."""
    made = _preparation(done)
    return replace(made, thing_id="") if done.object_id == deed.object_id else made


def _explained(tried: Sequence[Deed]) -> set[tuple[str, str, str]]:
    """Return the skill, episode and thing of what was opened to take something out or to put something in, and of what
    was closed after that. What was taken from such a thing, or from nobody knows where, was in what was opened just
    before: its id may be another by now."""
    found: set[tuple[str, str]] = set()
    before: Deed | None = None
    for deed in tried:
        if deed.skill not in ENABLING:
            found |= {(deed.episode_id, place) for place in (deed.from_id, deed.to_id, deed.object_id)}
            taken = deed.skill == "PickupObject" and before is not None and before.skill == "OpenObject"
            if taken and before is not None and deed.from_class in ("", before.object_class):
                found.add((before.episode_id, before.object_id))
        before = deed
    opened_in: dict[str, str] = {}
    handled, closed = set[tuple[str, str]](), set[tuple[str, str]]()
    for deed in tried:
        here = (deed.episode_id, deed.object_id)
        if deed.skill == "OpenObject" and not deed.reason:
            opened_in[deed.object_id] = deed.episode_id
        elif deed.skill == "CloseObject":
            if here in handled or (opened_in.pop(deed.object_id, ""), deed.object_id) in found:
                closed.add(here)
        elif deed.skill not in ENABLING:
            handled |= {(deed.episode_id, place) for place in (deed.from_id, deed.to_id)}
    return {("OpenObject", *one) for one in found} | {("CloseObject", *one) for one in closed}


def _failed_lately(tries: Sequence[_Try], now_ns: int, never: int) -> int:
    """Return the number of the last try of a call at such a place, if it failed a short time ago; else `never`."""
    last = tries[-1] if tries else None
    is_recent = last is not None and last.failed and now_ns - last.deed.stamp_ns <= LATELY_NS
    return last.number if last is not None and is_recent else never


def _is_expected_to_fail(at_place: Sequence[_Try], object_class: str, part: str) -> bool:
    lately = itertools.takewhile(lambda one: one.failed, reversed(at_place))
    if len({one.deed.object_class for one in lately if one.part == part}) > 1:
        return True  # no class alone is the cause, whatever worked before
    same = [one for one in at_place if one.deed.object_class == object_class and one.part == part]
    if same:
        return same[-1].failed
    worked_then = any(not one.failed and one.part == part for one in at_place)
    of_class = [one for one in at_place if one.deed.object_class == object_class]
    if of_class and of_class[-1].failed:
        # At this time of day it worked with something else: if it did so at the time of the failure, too, the class is
        # the cause.
        return not worked_then or any(not one.failed and one.part == of_class[-1].part for one in at_place)
    last = at_place[-1]
    if not last.failed:
        return not worked_then and _failed_by_turns(at_place, part)
    if of_class:
        return False
    others_worked = any(not one.failed and one.part == last.part for one in at_place)
    return not others_worked and not (worked_then and last.part != part)


def _failed_by_turns(at_place: Sequence[_Try], part: str) -> bool:
    """Return whether it failed at a time of day after it had worked at another, so that no mend ended the failures."""
    failed = [number for number, one in enumerate(at_place) if one.failed and one.part == part]
    return bool(failed) and any(not one.failed for one in at_place[: failed[-1]])


def _only_part(at_place: Sequence[_Try]) -> str:
    failed = {one.part for one in at_place if one.failed}
    worked = {one.part for one in at_place if not one.failed}
    return next(iter(failed)) if len(failed) == 1 and worked and not failed & worked else ""
