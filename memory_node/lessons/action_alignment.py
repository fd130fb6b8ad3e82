"""Aligns the action sequences of several successes of one task type, and finds their common steps and orders."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from memory_node.lessons.guideline import Guideline
from memory_node.lessons.record import ExperienceRecord

# Successes that are compared: older ones add little.
_ALIGNED = 10
# A common procedure shorter than this adds nothing to the plan itself.
_MIN_PROCEDURE = 3
# An order seen less often may be chance.
_MIN_SUPPORT = 3
# Travel occurs between any two actions, so it is left out.
_TRAVEL = frozenset({"GoToObject", "Explore"})


def shared_skills(successes: Sequence[ExperienceRecord]) -> list[str]:
    """Return the skills that the newest successes have in common, in their common order."""
    newest = _newest(successes)
    shared = _skills(newest[0]) if newest else []
    for record in newest[1:]:
        blocks = SequenceMatcher(None, shared, _skills(record), autojunk=False).get_matching_blocks()
        shared = [skill for block in blocks for skill in shared[block.a : block.a + block.size]]
    return shared


def procedure_guideline(successes: Sequence[ExperienceRecord]) -> Guideline | None:
    """Return the procedure that the successes of a task type share; None when it is too short to tell anything."""
    shared = shared_skills(successes)
    if len(shared) < _MIN_PROCEDURE:
        return None
    newest = _newest(successes)
    task_type = newest[-1].task_type
    return Guideline(
        # One a task type: each success refines the procedure, the newest wording holds.
        key=f"procedure|{task_type}",
        text=f"For {task_type} tasks this order worked: {', then '.join(shared)}.",
        task_types=frozenset({task_type}),
        helped_ns=newest[-1].stamp_ns,
        episode_ids=tuple(record.episode_id for record in newest),
        kind="procedure",
    )


def order_guidelines(successes: Sequence[ExperienceRecord]) -> list[Guideline]:
    """Return "A before B" for neighbours of the shared procedure that no success had the other way round."""
    acting = [skill for skill in shared_skills(successes) if skill not in _TRAVEL]
    rules = []
    for first, second in dict.fromkeys(pair for pair in pairwise(acting) if pair[0] != pair[1]):
        both = [record for record in _newest(successes) if {first, second} <= set(_skills(record))]
        kept = [record for record in both if _skills(record).index(first) < _skills(record).index(second)]
        if len(kept) < _MIN_SUPPORT or len(kept) < len(both):
            continue
        task_type = kept[-1].task_type
        rules.append(
            Guideline(
                key=f"order|{task_type}|{first}|{second}",
                text=f"For {task_type} tasks, {first} comes before {second}.",
                task_types=frozenset({task_type}),
                helped_ns=kept[-1].stamp_ns,
                episode_ids=tuple(record.episode_id for record in kept),
                kind="order",
            )
        )
    return rules


def _newest(records: Sequence[ExperienceRecord]) -> list[ExperienceRecord]:
    return sorted(records, key=lambda record: (record.stamp_ns, record.episode_id))[-_ALIGNED:]


def _skills(record: ExperienceRecord) -> list[str]:
    return [action.partition("(")[0] for action in record.successful_actions]
