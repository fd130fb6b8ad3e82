"""One lesson: a call to avoid, or what to do before it, with its evidence."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class LessonKind(str, enum.Enum):
    """What a lesson says."""

    AVOID = "avoid"  # the call fails there
    WAY = "way"  # the call works after other calls

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Preparation:
    """A call that made another one work: a skill and memory's id and class of its thing."""

    skill: str
    thing_id: str
    thing_class: str


@dataclass(frozen=True)
class Lesson:
    """skill, object_class: of the call; place_id, place_class: what it is done at, or the thing itself where it is
    opened or switched. part_of_day: when alone it holds, "" for always. before: what makes it work, of a WAY.
    evidence_for, evidence_against: "episode:step" of the tries that bear it out, and of those that do not.
    """

    kind: LessonKind
    skill: str
    object_class: str
    place_id: str
    place_class: str
    part_of_day: str = ""
    before: tuple[Preparation, ...] = ()
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lesson in words."""
        of = f" of {self.object_class}" if self.object_class and self.object_class != self.place_class else ""
        when = f" in the {self.part_of_day}" if self.part_of_day else ""
        call = f"{self.skill}{of} at this {self.place_class}"
        if self.kind is LessonKind.AVOID:
            return f"{call} fails{when}"
        first = " and ".join(f"{one.skill} {one.thing_class}" for one in self.before)
        return f"{call} works after {first}"
