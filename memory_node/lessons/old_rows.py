"""Reads what earlier releases stored, guidelines, memory entries and prescriptions, as lessons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memory_node.catalogue.spoken_names import SpokenNames
from memory_node.domain.errors import InvalidValueError
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.lessons.method import written
from memory_node.lessons.plugmem import calls_named, way_over_roles, without_fetching

GUIDELINES, ENTRIES, PRESCRIPTIONS = "guideline", "memory_entry", "prescription"
# Least return of a stored prescription that was recommended: complete, or with minor gaps.
_WORTH_GOING = 8.0


def lesson_of_guideline(values: dict[str, Any]) -> Lesson | None:
    """Return a stored guideline as a lesson; None for one that says what the skill library declares, or what an entry
    says itself.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        key, kind = str(values["key"]), str(values.get("kind", ""))
        if kind in ("repair", "order") or key.startswith("memory|"):
            return None
        task_types = frozenset(map(str, values.get("task_types", ())))
        return Lesson(
            key,
            LessonKind.WAY if kind == "procedure" else LessonKind.PREFER,
            (Wording("", str(values["text"])),),
            object_classes=frozenset(map(str, values.get("object_classes", ()))),
            task_types=task_types,
            given=Tally(float(values.get("successes", 0)), int(values.get("trials", 0))),
            helped_ns=int(values.get("helped_ns", 0)),
            evidence_for=tuple(map(str, values.get("episode_ids", ()))),
            support=int(values.get("support", 0)),
            writer="an earlier release",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValueError(f"a stored guideline: {error!r}") from None


def lesson_of_prescription(values: dict[str, Any], names: SpokenNames) -> Lesson | None:
    """Return a stored prescription as a way; None for a part of an episode, for one that led nowhere, and for one of
    other commands than skills.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        intent, stamp_ns = str(values["intent"]), int(values.get("stamp_ns", 0))
        calls = calls_named(map(str, values["actions"]))
        sources = [f"{one}:0" for one in values["sources"]]
        is_whole = not intent.startswith("get to: ") and len(calls) == len(values["actions"])
        if not is_whole or not sources or float(values.get("returned", _WORTH_GOING)) < _WORTH_GOING:
            return None
        return way_over_roles(intent, names, without_fetching(calls), sources, stamp_ns)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValueError(f"a stored prescription: {error!r}") from None


def lesson_of_entry(values: dict[str, Any]) -> Lesson:
    """Return a stored entry of the optimizer's bank as a lesson.

    Raises:
        InvalidValueError: it is none.
    """
    try:
        versions = [
            Wording(
                str(one["query"]),
                str(one["value"]),
                str(one["episode_id"]),
                int(one.get("stamp_ns", 0)),
                str(one.get("task_type", "")),
            )
            for one in values["versions"]
        ]
        by, lesson = str(values.get("made_by", "")), None
        for version in versions:
            lesson = written(str(values["id"]), version, by, lesson)
        if lesson is None:
            raise ValueError("no version")
        tallies: dict[str, Any] = {name: Tally(**values[name]) for name in ("given", "withheld") if name in values}
        evidence = tuple(map(str, values.get("episode_ids", ()))) or lesson.evidence_for
        return replace(lesson, evidence_for=evidence, support=len(evidence), **tallies)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(f"a stored entry: {error!r}") from None
