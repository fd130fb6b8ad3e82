"""Entries of the bank as guidelines: what a planner is told, and what it can carry out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import StepRecord
from memory_node.episodes.remedy import described, remedy_of_rule
from memory_node.lessons.guideline import Guideline, lifted_key, repair_key, repair_text
from memory_node.lessons.optimizer.entry import MemoryEntry
from memory_node.lessons.optimizer.method_note import MethodNote, RepairNote, read_note, read_repairs

_PREFIX = "memory|"


def guidelines_of(entry: MemoryEntry, kinds: ObjectCatalogue) -> tuple[Guideline, ...]:
    """Return an entry as one piece of advice, and as the repairs that its text says."""
    last = entry.versions[-1]
    note, repairs = _read(entry.value)
    taught = _Taught(last.stamp_ns, entry.episode_ids)
    advice = Guideline(
        key=f"{_PREFIX}{entry.id}",
        text=entry.value,
        task_types=frozenset({last.task_type} if last.task_type else ()),
        object_classes=frozenset({note.thing} if note is not None and note.thing in kinds else ()),
        helped_ns=last.stamp_ns,
        episode_ids=entry.episode_ids,
    )
    return (advice, *_structured(repairs, taught, kinds))


def guidelines_at_once(
    repairs: Iterable[RepairNote], step: StepRecord, kinds: ObjectCatalogue
) -> tuple[Guideline, ...]:
    """Return the repairs that a failed step of a running episode teaches, as those of an entry."""
    return _structured(repairs, _Taught(step.stamp_ns, (step.episode_id,)), kinds)


@dataclass(frozen=True)
class _Taught:
    """When and by which episodes."""

    stamp_ns: int
    episode_ids: tuple[str, ...]


def _structured(repairs: Iterable[RepairNote], taught: _Taught, kinds: ObjectCatalogue) -> tuple[Guideline, ...]:
    found = (_repair(repair, taught, kinds) for repair in repairs)
    return tuple({guideline.key: guideline for guideline in found if guideline is not None}.values())


@lru_cache(maxsize=4096)
def _read(value: str) -> tuple[MethodNote | None, tuple[RepairNote, ...]]:
    return read_note(value), read_repairs(value)


def _repair(repair: RepairNote, taught: _Taught, kinds: ObjectCatalogue) -> Guideline | None:
    """Return a repair that the library declares, for all skills that the same root cause stops; None for another."""
    failed = SKILLS.get(repair.skill)
    rules = failed.preconditions if failed is not None else ()
    declared = (rule for rule in rules if str(rule.reason) == repair.reason and remedy_of_rule(rule))
    rule = next((rule for rule in declared if described(remedy_of_rule(rule)) == repair.before), None)
    if rule is None:
        return None
    what = f"do {repair.before}"
    # What has no door or lid needs none opened.
    opens = rule.fact.predicate is Predicate.OPEN_OR_UNLIDDED
    return Guideline(
        key=lifted_key(repair_key(repair.skill, repair.reason, what)),
        text=repair_text(repair.skill, repair.reason, what),
        object_classes=frozenset(kinds.able(Property.OPENABLE)) if opens else frozenset(),
        helped_ns=taught.stamp_ns,
        episode_ids=taught.episode_ids,
        kind="repair",
        skill=repair.skill,
        reason=repair.reason,
        remedy=remedy_of_rule(rule),
        lifted=True,
    )
