"""BrainMem's guidelines: what compatible attempts agree on, with a utility that use and time change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from memory_node.episodes.past_attempt import PastAttempt
from memory_node.lessons.lesson import Lesson, LessonKind, Wording
from memory_node.lessons.plugmem import is_plain

WRITER = "brainmem"
# What the paper names: shares of confidence and of usage in a utility, successes from which usage counts in full, the
# half-life of a utility (30 days), and what is never pruned.
_CONFIDENCE_SHARE, _USAGE_SHARE, _USAGE_FULL = 0.7, 0.3, 10
_HALF_LIFE_S = 2_592_000.0
_PROTECTED_CONFIDENCE, _PROTECTED_SUCCESSES = 0.8, 5
# Guidelines of one kind of task beyond this times those in a prompt are pruned.
_PRUNE_FACTOR = 1.5
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


def utility(lesson: Lesson, now_ns: int) -> float:
    """Return 0.7 confidence + 0.3 usage, halved with each half-life since the lesson last helped."""
    usage = min(lesson.given.total / _USAGE_FULL, 1.0)
    worth = _CONFIDENCE_SHARE * confidence(lesson) + _USAGE_SHARE * usage
    age_s = max(now_ns - lesson.helped_ns, 0) * 1e-9
    return float(worth * 0.5 ** (age_s / _HALF_LIFE_S))


def to_prune(lessons: Iterable[Lesson], task_type: str, now_ns: int, active: int) -> list[Lesson]:
    """Return the least useful unprotected lessons of a kind of task beyond 1.5 x active.

    active: guidelines in a prompt at most (M).
    """
    mine = [lesson for lesson in lessons if task_type in lesson.task_types]
    excess = len(mine) - int(_PRUNE_FACTOR * active)
    if excess <= 0:
        return []
    proven = [
        one for one in mine if confidence(one) >= _PROTECTED_CONFIDENCE and one.given.total >= _PROTECTED_SUCCESSES
    ]
    return sorted((one for one in mine if one not in proven), key=lambda lesson: utility(lesson, now_ns))[:excess]


def _shared_skills(successes: Sequence[PastAttempt]) -> list[str]:
    """Return the skills that attempts have in common, in their common order."""
    shared = _skills(successes[0]) if successes else []
    for attempt in successes[1:]:
        blocks = SequenceMatcher(None, shared, _skills(attempt), autojunk=False).get_matching_blocks()
        shared = [skill for block in blocks for skill in shared[block.a : block.a + block.size]]
    return shared


def _skills(attempt: PastAttempt) -> list[str]:
    return [action.partition("(")[0] for action in attempt.done]
