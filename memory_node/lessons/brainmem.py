"""BrainMem's guidelines: what compatible attempts agree on, with a utility that use and time change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from memory_node.episodes.past_attempt import PastAttempt
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.lesson import Lesson, LessonKind, Wording
from memory_node.lessons.plugmem import is_plain

WRITER = "brainmem"
# Confidence of a lesson that no planner has been given yet: neither proven nor refuted.
UNTRIED_CONFIDENCE = 0.5
# Successes that are compared: older ones add little.
_ALIGNED = 10


def guideline_of(successes: Sequence[PastAttempt]) -> Lesson | None:
    """Return the sequence of skills that the newest successes at one kind of task share; None where it is plain.

    It is one lesson a kind of task; what an earlier one was worth is kept by its id.
    """
    newest = sorted(successes, key=lambda one: (one.stamp_ns, one.episode_id))[-_ALIGNED:]
    shared = _shared_skills(newest)
    if len(newest) < 2 or is_plain(shared):
        return None
    last = newest[-1]
    rooms = {one.room for one in newest}
    wording = Wording("", f"For {last.task_type} tasks this order worked: {', then '.join(shared)}.")
    return Lesson(
        f"{WRITER}|{last.task_type}",
        LessonKind.WAY,
        (wording,),
        room=rooms.pop() if len(rooms) == 1 else "",
        task_types=frozenset({last.task_type}),
        steps=tuple(shared),
        helped_ns=last.stamp_ns,
        evidence_for=tuple(one.episode_id for one in newest),
        writer=WRITER,
    )


def confidence(lesson: Lesson) -> float:
    """Return N_success / N_total of the tasks that it was given in, in [0, 1]."""
    return lesson.given.total / lesson.given.trials if lesson.given.trials else UNTRIED_CONFIDENCE


def utility(lesson: Lesson, now_ns: int, config: ExperienceConfig) -> float:
    """Return 0.7 confidence + 0.3 usage, halved with each half-life since the lesson last helped."""
    usage = min(lesson.given.total / config.usage_full, 1.0)
    worth = config.confidence_weight * confidence(lesson) + config.usage_weight * usage
    age_s = max(now_ns - lesson.helped_ns, 0) * 1e-9
    return float(worth * 0.5 ** (age_s / config.half_life_s))


def is_protected(lesson: Lesson, config: ExperienceConfig) -> bool:
    """Return whether it has proven itself so well that it is never pruned."""
    return confidence(lesson) >= config.protected_confidence and lesson.given.total >= config.protected_successes


def to_prune(lessons: Iterable[Lesson], task_type: str, now_ns: int, config: ExperienceConfig) -> list[Lesson]:
    """Return the least useful unprotected lessons of a kind of task beyond prune_factor x active_guidelines."""
    mine = [lesson for lesson in lessons if task_type in lesson.task_types]
    excess = len(mine) - int(config.prune_factor * config.active_guidelines)
    if excess <= 0:
        return []
    unproven = [lesson for lesson in mine if not is_protected(lesson, config)]
    return sorted(unproven, key=lambda lesson: utility(lesson, now_ns, config))[:excess]


def _shared_skills(successes: Sequence[PastAttempt]) -> list[str]:
    """Return the skills that attempts have in common, in their common order."""
    shared = _skills(successes[0]) if successes else []
    for attempt in successes[1:]:
        blocks = SequenceMatcher(None, shared, _skills(attempt), autojunk=False).get_matching_blocks()
        shared = [skill for block in blocks for skill in shared[block.a : block.a + block.size]]
    return shared


def _skills(attempt: PastAttempt) -> list[str]:
    return [action.partition("(")[0] for action in attempt.done]
