"""One lesson: what it is about, what it says, its evidence and what its use was worth; where lessons become durable."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.domain.text_enum import TextEnum

# Later wordings that can be taken back; of older ones only the episodes are named.
_WORDINGS_KEPT = 8
# Newest pieces of evidence that are named.
_EVIDENCE_KEPT = 64
# Outcomes at the mean of all tasks that are added to each side of a comparison, so that one lucky task proves little.
_PRIOR_TRIALS = 2.0


class LessonKind(TextEnum):
    """What a lesson says."""

    AVOID = "avoid"  # a call fails there
    REPAIR = "repair"  # what to do before a call that fails without it
    WAY = "way"  # how a kind of task is done
    WHERE = "where"  # where a thing is found
    PREFER = "prefer"  # advice in words


@dataclass(frozen=True)
class Preparation:
    """A call that made another one work.

    thing_id, thing_class: memory's id and class of its thing; an id of "" for the very thing that the other call is
    about. place_id, place_class: where it was put, "" for other calls.
    """

    skill: str
    thing_id: str
    thing_class: str
    place_id: str = ""
    place_class: str = ""

    @property
    def text(self) -> str:
        """The call over classes."""
        return " ".join(filter(None, (self.skill, self.thing_class, self.place_class)))


@dataclass(frozen=True)
class Tally:
    """Outcomes of tasks, each in [0, 1]: their sum and how many they are."""

    total: float = 0.0
    trials: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.total <= self.trials:
            raise InvalidValueError(f"Tally: outcomes of {self.total} in {self.trials} trials")

    def plus(self, outcome: float) -> Tally:
        """Return it with one more outcome."""
        return Tally(self.total + outcome, self.trials + 1)

    def halved(self) -> Tally:
        """Return half of it: an outcome counts less after the lesson was reworded."""
        left = self.trials // 2
        return Tally(self.total * left / self.trials, left) if left else Tally()

    def mean(self, prior: float) -> float:
        """Return the mean outcome, drawn towards `prior` while there are few."""
        return (self.total + _PRIOR_TRIALS * prior) / (self.trials + _PRIOR_TRIALS)


@dataclass(frozen=True)
class Wording:
    """One wording of a lesson. situation: the words of the task that it came from, by which it is found, "" where it is
    found by what it is about; task_type: what kind of task that was, "" where nobody said; episode_id: the attempt
    that it was drawn from."""

    situation: str
    text: str
    episode_id: str = ""
    stamp_ns: int = 0
    task_type: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidValueError(f"a lesson of {self.situation!r:.60}: expected words, got {self.text!r:.60}")


@dataclass(frozen=True)
class Lesson:
    """What earlier tries teach. What the skill library declares is no lesson.

    id: unique; one that is computed anew from tries each time says of which call. wordings: what it says, the one that
    holds last. skill, object_classes: of the call that it is about, or of the things of its tasks; empty: any.
    place_id, place_class: what that call is done at, or the thing itself where it is opened or switched. room: the one
    in which it holds, task_types: the kinds of tasks; empty: all. part_of_day: when alone it holds, "" for always.
    before: what makes the call work. steps: a way as calls over kinds, in order. given, withheld: the outcomes of
    related tasks in which a planner was given it, and in which it was not. helped_ns: when it last helped, or was
    written. evidence_for, evidence_against: "episode:step", or the episode, of what bears it out and of what does not;
    support: how many bore it out, those included that are not named any more. contradicted: how often in a row it was
    given, followed, and did not help. writer: who wrote it.
    """

    id: str
    kind: LessonKind
    wordings: tuple[Wording, ...]
    skill: str = ""
    object_classes: frozenset[str] = frozenset()
    place_id: str = ""
    place_class: str = ""
    room: str = ""
    task_types: frozenset[str] = frozenset()
    part_of_day: str = ""
    before: tuple[Preparation, ...] = ()
    steps: tuple[str, ...] = ()
    given: Tally = Tally()
    withheld: Tally = Tally()
    helped_ns: int = 0
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()
    support: int = 0
    contradicted: int = 0
    writer: str = ""

    def __post_init__(self) -> None:
        if not self.wordings:
            raise InvalidValueError(f"Lesson {self.id!r}: expected at least one wording")
        object.__setattr__(self, "support", max(self.support, len(self.evidence_for)))

    @property
    def situation(self) -> str:
        """The words of the task that it is found by, "" where it is found by what it is about."""
        return self.wordings[-1].situation

    @property
    def text(self) -> str:
        """What it says."""
        return self.wordings[-1].text

    @property
    def note(self) -> str:
        """What a planner says that uses it."""
        return f"I have learnt: {self.text}."

    @property
    def episodes(self) -> tuple[str, ...]:
        """The episodes whose tries bear it out, each once."""
        return tuple(dict.fromkeys(source.partition(":")[0] for source in self.evidence_for))

    def is_needed_with(self, object_class: str) -> bool:
        """Return whether what makes a call work is needed with things of a class: where a place is at fault with all,
        else with those of the classes that failed; others may do without."""
        return bool(self.place_id) or object_class in self.object_classes

    def applies(self, task_type: str, classes: Collection[str], room: str = "") -> bool:
        """Return whether it speaks about this kind of task, things and room; what is empty on either side fits."""
        fits_task = not self.task_types or not task_type or task_type in self.task_types
        fits_things = not self.object_classes or not classes or not self.object_classes.isdisjoint(classes)
        return fits_task and fits_things and (not self.room or not room or self.room == room)

    def is_for_one_of(self, kinds: Collection[str]) -> bool:
        """Return whether all goals of a kind of task that it is about are of these kinds; one about none fits all."""
        return not self.task_types or any(set(task.split("+")) <= set(kinds) for task in self.task_types)

    def marginal_utility(self, prior: float) -> float:
        """Return the mean outcome of tasks with the lesson less that of related tasks without it, in [-1, 1] (UMEM).

        prior: the mean outcome of all tasks. A lesson that nobody has tried has a utility of about 0.
        """
        return self.given.mean(prior) - self.withheld.mean(prior)

    def reworded(self, wording: Wording, writer: str) -> Lesson:
        """Return it with another wording; what was found out about the last one counts half."""
        return replace(
            self,
            wordings=(*self.wordings, wording)[-_WORDINGS_KEPT:],
            given=self.given.halved(),
            withheld=self.withheld.halved(),
            contradicted=0,
            helped_ns=max(self.helped_ns, wording.stamp_ns),
            evidence_for=with_evidence(self.evidence_for, wording.episode_id),
            writer=writer,
        )

    def without(self, episode_id: str) -> Lesson | None:
        """Return the lesson as it was before an attempt contributed to it; None when nothing is left.

        A later wording may contain what the attempt taught, so all wordings from the attempt's first one on are
        dropped. A way, and what several attempts say in the same words, lose what the attempt itself gave alone.
        """
        written = next((n for n, one in enumerate(self.wordings) if one.episode_id == episode_id), None)
        if written is None and episode_id not in self.episodes:
            return self
        gone, wordings = {episode_id}, self.wordings
        is_reworded = written is not None and self.kind is not LessonKind.WAY
        if is_reworded:
            gone, wordings = {one.episode_id for one in wordings[written:]}, wordings[:written]
        elif self.kind is LessonKind.WAY:
            wordings = tuple(one for one in wordings if one.episode_id != episode_id)
        elif wordings[0].episode_id:
            return None  # it wrote an older wording than those that are kept
        left = tuple(source for source in self.evidence_for if source.partition(":")[0] not in gone)
        support = self.support - (len(self.evidence_for) - len(left))
        if not wordings or not (left or is_reworded):
            return None
        return replace(self, wordings=wordings, evidence_for=left, support=support)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        values = dataclasses.asdict(self)
        return values | {"kind": str(self.kind)} | {name: sorted(values[name]) for name in _SETS}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Lesson:
        """Return the lesson of stored values; what a newer program added is left out.

        Raises:
            InvalidValueError: values are missing, or one is none.
        """
        try:
            return _STORED.validate_python(values)
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidValueError(f"Lesson: {first['loc']}: {first['msg']}") from None


_STORED = TypeAdapter(Lesson)
_SETS = ("object_classes", "task_types")


def with_evidence(evidence: tuple[str, ...], *sources: str) -> tuple[str, ...]:
    """Return evidence with more sources, the newest last; of many the newest are kept."""
    others = (one for one in evidence if one not in sources)
    return (*others, *dict.fromkeys(filter(None, sources)))[-_EVIDENCE_KEPT:]


LESSONS = "lesson"


class ExperienceLog:
    """Where episodes and lessons become durable. This one keeps nothing: what is learnt ends with the process."""

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode's summary."""

    def put_step(self, step: StepRecord) -> None:
        """Keep a step."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


def write_lessons(log: ExperienceLog, put: Iterable[Lesson], gone: Iterable[Lesson] = ()) -> None:
    """Keep lessons as they stand now, each with the episodes that bear it out, and drop others."""
    log.remove_documents(LESSONS, [lesson.id for lesson in gone])
    log.put_documents(LESSONS, [(lesson.id, lesson.to_dict(), lesson.episodes) for lesson in put])
