"""A lesson in fixed sentences: where things of a kind are found, as rules write, merge and read it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memory_node.lessons.lesson import Lesson, LessonKind, Wording

_MOST_PLACES = 8

# Notes of earlier programs begin with what was done with the thing, and tell how.
_THING = re.compile(r"^(?:Thing: |Task: [^.]+? with )(?P<thing>[^.]+)\.")
_FOUND = re.compile(r"\bLook first at: (?P<places>[^.]+)\.")
_VAIN = re.compile(r"\bSeldom at: (?P<places>[^.]+)\.")


@dataclass(frozen=True)
class Whereabouts:
    """Where one kind of thing is found. All names are kinds.

    found_at: where it was found, the best place first. vain: where it was looked for without success.
    """

    thing: str
    found_at: tuple[str, ...] = ()
    vain: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The memory that says it."""
        sentences = [
            f"Thing: {self.thing}.",
            f"Look first at: {', '.join(self.found_at)}." if self.found_at else "",
            f"Seldom at: {', '.join(self.vain)}." if self.vain else "",
        ]
        return " ".join(filter(None, sentences))

    @property
    def told(self) -> str:
        """The same for a reader who does not know the form."""
        said = [
            f"it was found at {', then '.join(self.found_at)}" if self.found_at else "",
            f"looked for in vain at {', '.join(self.vain)}" if self.vain else "",
        ]
        return f"{self.thing[:1].upper()}{self.thing[1:]}: {'. '.join(filter(None, said))}."

    def merged(self, newer: Whereabouts) -> Whereabouts:
        """Return both in one, with places in the order in which they proved themselves.

        A place where the thing was found again moves up by one (Rivest's transposition rule, 1976), and one where it
        was looked for in vain down, the last one out; so one odd attempt does not overthrow many.
        """
        found = list(self.found_at)
        for place in newer.found_at:
            if place not in found:
                found.append(place)
            elif (rank := found.index(place)) > 0:
                found[rank - 1], found[rank] = found[rank], found[rank - 1]
        for place in newer.vain:
            if place in found:
                rank = found.index(place)
                found[rank : rank + 2] = found[rank + 1 : rank + 2] + [place] * (rank + 1 < len(found))
        vain = tuple(p for p in dict.fromkeys((*self.vain, *newer.vain)) if p not in found)
        return replace(self, found_at=tuple(found[:_MOST_PLACES]), vain=vain[:_MOST_PLACES])


def read_whereabouts(value: str) -> Whereabouts | None:
    """Return where a lesson says that a thing is found, None where it is written in other words."""
    thing = _THING.match(value)
    if thing is None:
        return None
    return Whereabouts(thing["thing"].strip(), _listed(_FOUND.search(value)), _listed(_VAIN.search(value)))


def says_something(lesson: Lesson) -> bool:
    """Return whether a lesson says anything: a note that names no place where its thing was found does not."""
    note = read_whereabouts(lesson.text)
    return note is None or bool(note.found_at)


def in_plain_words(lesson: Lesson) -> str:
    """Return what a lesson says, for a reader who does not know the form."""
    note = read_whereabouts(lesson.text)
    return lesson.text if note is None else note.told


def of_other_things(value: str, other: str) -> bool:
    """Return whether two lessons tell where things are found, each of a thing of its own."""
    return len({note.thing for note in map(read_whereabouts, (value, other)) if note is not None}) > 1


def written(lesson_id: str, wording: Wording, writer: str, known: Lesson | None = None) -> Lesson:
    """Return a lesson that says a wording: a new one, or a known one reworded. It is about the thing of which it tells
    where it is found; in other words it is advice."""
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
    note = read_whereabouts(wording.text)
    if note is None:
        return replace(lesson, kind=LessonKind.PREFER, object_classes=frozenset())
    return replace(lesson, kind=LessonKind.WHERE, object_classes=frozenset({note.thing}))


def _listed(match: re.Match[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in match["places"].split(",") if part.strip()) if match is not None else ()
