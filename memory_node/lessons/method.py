"""A lesson in fixed sentences: how a kind of task is done, as rules write, merge and read it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memory_node.lessons.lesson import Lesson, LessonKind, Wording

GOAL = "the goal"
# Stands behind the verbs of a task that asks for several things of a kind.
SEVERAL = "again"
_MOST_PLACES = 8

_TASK = re.compile(r"^Task: (?P<verbs>[^.]+?) with (?P<thing>[^.]+)\.")
_WAY = re.compile(r"\bWay: (?P<steps>[^.]+)\.")
_FOUND = re.compile(r"\bLook first at: (?P<places>[^.]+)\.")
_VAIN = re.compile(r"\bSeldom at: (?P<places>[^.]+)\.")
_EMPTY = re.compile(r"Task: [^.]+ with [^.]+\.(?: (?:Seldom at|Trap): [^.]+\.)*")
# What belongs to the form of a step that puts a thing somewhere.
_FORM_OF_STEP = re.compile(rf" at\b(?: {GOAL}\b)?")


@dataclass(frozen=True)
class Method:
    """What is known of one kind of task. All names are kinds.

    verbs: what is done with the thing, in order; () where nobody has succeeded yet. thing: what the task is about, ""
    where that is not known. way: the steps that worked. found_at: where it was found, the best place first. vain: where
    it was looked for without success.
    """

    verbs: tuple[str, ...] = ()
    thing: str = ""
    way: tuple[str, ...] = ()
    found_at: tuple[str, ...] = ()
    vain: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The memory that says it."""
        verbs = ", ".join(self.verbs) or "not done yet"
        sentences = [
            f"Task: {verbs} with {self.thing or 'a thing'}.",
            f"Way: {'; '.join(self.way)}." if self.way else "",
            f"Look first at: {', '.join(self.found_at)}." if self.found_at else "",
            f"Seldom at: {', '.join(self.vain)}." if self.vain else "",
        ]
        return " ".join(filter(None, sentences))

    @property
    def told(self) -> str:
        """The same for a reader who does not know the form."""
        verbs, thing = ", ".join(self.verbs), self.thing or "the thing"
        said = [
            f"way that worked ({verbs}): {'; '.join(self.way)}" if self.way else "",
            f"it was found at {', then '.join(self.found_at)}" if self.found_at else "",
            f"looked for in vain at {', '.join(self.vain)}" if self.vain else "",
        ]
        return f"{thing[:1].upper()}{thing[1:]}: {'. '.join(filter(None, said)) or f'done: {verbs}'}."

    @property
    def kind(self) -> LessonKind:
        """What the lesson is that says it."""
        return LessonKind.WAY if self.way else LessonKind.WHERE

    @property
    def says_something(self) -> bool:
        """Whether it tells a way, or where the thing was: that it was looked for in vain alone helps nobody."""
        return bool(self.way or self.found_at)

    @property
    def names(self) -> tuple[str, ...]:
        """Its thing and places, and what each step names, without its verb and the words of its form."""
        steps = (_FORM_OF_STEP.sub("", step).partition(" ")[2] for step in self.way)
        return tuple(filter(None, (self.thing, *self.found_at, *self.vain, *steps)))

    @property
    def falls_short(self) -> bool:
        """Whether the sequence brings one thing although the task asks for several, because another one was there
        already."""
        return SEVERAL in self.verbs and len(set(self.way)) == len(self.way)

    def same_kind(self, other: Method) -> bool:
        """Return whether both are about the same kind of task; a note without a success fits every note about its
        thing."""
        same_way = self.verbs == other.verbs or not self.verbs or not other.verbs
        return self.thing == other.thing and same_way

    def merged(self, newer: Method) -> Method:
        """Return both in one: the shorter way, and places in the order in which they proved themselves.

        A place where the thing was found again moves up by one (Rivest's transposition rule, 1976), so one odd
        attempt does not overthrow many.
        """
        ways = [note for note in (newer, self) if note.way]
        # A sequence that brought one thing does not show how to bring several.
        best = min(ways, key=lambda note: (note.falls_short, len(note.way))) if ways else self
        found = list(self.found_at)
        for place in newer.found_at:
            if place not in found:
                found.append(place)
            elif (rank := found.index(place)) > 0:
                found[rank - 1], found[rank] = found[rank], found[rank - 1]
        vain = tuple(p for p in dict.fromkeys((*self.vain, *newer.vain)) if p not in found)
        return replace(
            self,
            verbs=best.verbs,
            thing=self.thing or newer.thing,
            way=best.way,
            found_at=tuple(found[:_MOST_PLACES]),
            vain=vain[:_MOST_PLACES],
        )


def read_method(value: str) -> Method | None:
    """Return the method that a lesson says, None where it is written in other words."""
    task = _TASK.match(value)
    if task is None:
        return None
    verbs, thing = task["verbs"].strip(), task["thing"].strip()
    return Method(
        () if verbs == "not done yet" else tuple(verbs.split(", ")),
        "" if thing == "a thing" else thing,
        _listed(_WAY.search(value), "steps", "; "),
        _listed(_FOUND.search(value), "places", ", "),
        _listed(_VAIN.search(value), "places", ", "),
    )


def says_something(lesson: Lesson) -> bool:
    """Return whether a lesson says anything: a note that names a task and neither a way nor a place does not, nor does
    an older program's, which named a cause of failure as well."""
    return not _EMPTY.fullmatch(lesson.text)


def in_plain_words(lesson: Lesson) -> str:
    """Return what a lesson says, for a reader who does not know the form."""
    method = read_method(lesson.text)
    return lesson.text if method is None else method.told


def of_other_things(value: str, other: str) -> bool:
    """Return whether two lessons are methods, each about a thing of its own."""
    methods = (read_method(value), read_method(other))
    things = {one.thing for one in methods if one is not None and one.thing}
    return len(things) > 1


def written(lesson_id: str, wording: Wording, writer: str, known: Lesson | None = None) -> Lesson:
    """Return a lesson that says a wording: a new one, or a known one reworded. Its kind, things and steps are those of
    the method that it says; in other words it is advice."""
    method = read_method(wording.text)
    lesson = known.reworded(wording, writer) if known is not None else None
    if lesson is None:
        evidence = (wording.episode_id,) if wording.episode_id else ()
        lesson = Lesson(
            lesson_id,
            LessonKind.PREFER,
            (wording,),
            helped_ns=wording.stamp_ns,
            evidence_for=evidence,
            writer=writer,
        )
    kind = LessonKind.PREFER if method is None else method.kind
    steps = method.way if method is not None else ()
    things = frozenset({method.thing} if method is not None and method.thing else ())
    return replace(lesson, kind=kind, steps=steps, object_classes=things)


def _listed(match: re.Match[str] | None, group: str, between: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in match[group].split(between) if part.strip()) if match is not None else ()
