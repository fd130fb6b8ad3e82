"""M: what all memories hold that may matter in one task, retrieved once when it begins, as entries of one shape; and
sequences that worked, adapted to a subgoal: its things replace their things."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import RankedArea
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import bind
from memory_node.domain.text_enum import TextEnum
from memory_node.episodes.episode_graph import Transition
from memory_node.lessons.brainmem import confidence
from memory_node.lessons.expectations import ENABLING, Named
from memory_node.lessons.lesson import Lesson, LessonKind
from memory_node.lessons.plugmem import PLACE, THING, calls_of, fits, intents_of
from memory_node.lessons.whereabouts import in_plain_words
from memory_node.world.skills import declared_remedy, is_of_the_robot

# Worth of an entry that was never tried.
UNTRIED_WORTH = 0.5


class EntryKind(TextEnum):
    """Which memory an entry comes from, and what it says."""

    PREPARATION = "preparation"  # what made a call work in earlier tries
    ADVICE = "advice"  # in words
    WAY = "way"  # how an instruction, or one attempt, was carried out
    PLACE = "place"  # where a thing is likely
    REMINDER = "reminder"  # what the skill library declares against a failure in a task of this kind


@dataclass(frozen=True)
class Entry:
    """One thing that memory holds.

    id: unique in a TaskMemory; a lesson's is its own. text: in words. skill: the single step that it is for, "" for
    none. goal_kinds: the first words of the subgoals that it is for ("place", "heat"); empty: any. classes: of things
    that it speaks of; empty: any. steps: templates (domain.skill_library.bind) of what to do, in order. worth: in
    [0, 1], how well it has proven itself.
    """

    id: str
    kind: EntryKind
    text: str
    skill: str = ""
    goal_kinds: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    steps: tuple[SkillCall, ...] = ()
    worth: float = UNTRIED_WORTH

    def __post_init__(self) -> None:
        if not self.id or not self.text.strip():
            raise InvalidValueError(f"Entry {self.id!r}: expected an id and a text")
        if not 0.0 <= self.worth <= 1.0:
            raise InvalidValueError(f"Entry {self.id}: worth: expected 0 to 1, got {self.worth}")


# Returns what tries teach to do before a call, as a planner reads them (`Expectations.needed`): of a skill, what it
# names and what the last of that is on or in, see there, and whether such a call failed in this task.
Needed = Callable[[str, Sequence[Named], Sequence[Named], bool], Entry | None]


@dataclass(frozen=True)
class TaskMemory:
    """The entries of one task, most worth first. Entries with one id are one entry.

    Anything that can be said as an `Entry` can be in it; the functions below say what experience and knowledge hold.
    """

    entries: tuple[Entry, ...] = field(default=())
    needed: Needed = field(default=lambda *_call: None, compare=False, repr=False)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> TaskMemory:
        """Return the memory of some entries, each once."""
        unique: dict[str, Entry] = {}
        for entry in entries:
            unique.setdefault(entry.id, entry)
        return cls(tuple(sorted(unique.values(), key=lambda entry: (-entry.worth, entry.id))))

    def of_kind(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        """Return the entries of some kinds."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)


# What to do about a thing whose place is told, while nobody has seen it.
_SEARCH = SkillCall("Explore", ("{target_class}",))


def of_lesson(lesson: Lesson) -> Entry:
    """Return a lesson as an entry: a way over roles fits any thing; where a thing is found counts while it is not
    known; all else is in words. What tries teach to do before a call is asked for by the call (`TaskMemory.needed`)."""
    is_way, kind = bool(intents_of(lesson)), EntryKind.PREPARATION if _is_switched(lesson) else EntryKind.ADVICE
    about = frozenset({lesson.place_class}) if lesson.place_class else lesson.object_classes
    if lesson.kind is LessonKind.WHERE:
        return _of_place(lesson.id, in_plain_words(lesson), about, confidence(lesson))
    return Entry(
        lesson.id,
        EntryKind.WAY if is_way else kind,
        f"{lesson.situation}: {lesson.text}" if is_way else in_plain_words(lesson),
        goal_kinds=frozenset(kind for task in lesson.task_types for kind in task.split("+")),
        classes=frozenset() if is_way else about,
        steps=calls_of(lesson) if is_way else (),
        worth=lesson.support / (lesson.support + 1) if is_way and not lesson.given.trials else confidence(lesson),
    )


def preparing(lesson: Lesson, reference_of: Callable[[str], str] = lambda _: "") -> Entry | None:
    """Return what a lesson of tries says to do before a call, None where it only says it in words. reference_of: how a
    call names the thing of an id of memory's, "" for the class."""
    if not _is_switched(lesson):
        return None
    named = [(one.skill, reference_of(one.thing_id) or one.thing_class) for one in lesson.before]
    return replace(of_lesson(lesson), skill=lesson.skill, steps=tuple(SkillCall(one, (name,)) for one, name in named))


def _is_switched(lesson: Lesson) -> bool:
    """Return whether a switch or a door makes a call work, the same one for every call; what is done with the call's
    own thing is said in words."""
    return bool(lesson.before) and all(one.skill in ENABLING for one in lesson.before)


def of_places(object_class: str, areas: Sequence[RankedArea]) -> list[Entry]:
    """Return where a thing of a class is likely as entries."""
    return [
        _of_place(
            f"place|{object_class}|{area.area_id}",
            f"{object_class} is likely in {area.name}: {area.reason}"
            if area.reason
            else f"{object_class}: {area.name}",
            frozenset({object_class}),
            area.probability,
        )
        for area in areas
    ]


def _of_place(key: str, text: str, classes: frozenset[str], worth: float) -> Entry:
    return Entry(key, EntryKind.PLACE, text, _SEARCH.skill, classes=classes, steps=(_SEARCH,), worth=worth)


def reminders(failed: Iterable[Transition]) -> Iterator[Entry]:
    """Yield the declared remedies of what failed in tasks of this kind.

    A fact about the robot (near, holding) is needed for every thing; another one for things of the class that failed.
    """
    for one in failed:
        for reason, times in one.reasons.items():
            steps = declared_remedy(one.call, reason)
            bound = bind(steps[0], one.call) if steps else None
            if bound is None:
                continue
            classes = () if is_of_the_robot(one.call, reason) else bound.arguments
            yield Entry(
                " ".join(("reminder", one.call.skill, str(reason), *classes)),
                EntryKind.REMINDER,
                f"{one.action} failed {times}x with {reason} in a task of this kind",
                skill=one.call.skill,
                classes=frozenset(classes),
                steps=steps,
                worth=1.0 - one.success_rate,
            )


_PART = re.compile(r"(?:(?P<role>to|in|with) )?(?P<name>[A-Z]\w*)")
_ROLES = {None: "target", "to": "destination", "in": "container", "with": "light"}


@dataclass(frozen=True)
class Subgoal:
    """kind: its first word. The other parts are classes, "" where it names none."""

    kind: str
    target: str = ""
    destination: str = ""
    container: str = ""
    light: str = ""

    @classmethod
    def parse(cls, text: str) -> Subgoal:
        """Return the parts of a goal's words; a text of another form has only a kind."""
        kind, _, rest = text.partition(" ")
        parts: dict[str, str] = {}
        for match in _PART.finditer(rest):
            parts.setdefault(_ROLES[match["role"]], match["name"])
        return cls(kind, **parts)

    @property
    def classes(self) -> frozenset[str]:
        """All classes that it names."""
        return frozenset({self.target, self.destination, self.container, self.light} - {""})


def fitted(entry: Entry, subgoal: Subgoal, kinds: ObjectCatalogue) -> list[SkillCall]:
    """Return a way over roles with this subgoal's things, over classes; [] where it is about no thing, or about one
    with which it cannot be done. Steps are left out whose role the subgoal does not name."""
    place = subgoal.destination
    if not (any(THING in call.arguments for call in entry.steps) and fits(entry.steps, subgoal.target, kinds)):
        return []
    if place and not fits(entry.steps, place, kinds, PLACE):
        return []
    calls = [call.renamed({THING: subgoal.target, PLACE: place}) for call in entry.steps]
    return [call for call in calls if all(call.arguments)]


def left_of(way: Sequence[SkillCall], done: Iterable[SkillCall]) -> Sequence[SkillCall]:
    """Return the rest of a sequence: each finished step removes everything up to its next occurrence."""
    at = 0
    for call in done:
        later = [index for index in range(at, len(way)) if way[index] == call]
        at = later[0] + 1 if later else at
    return way[at:]
