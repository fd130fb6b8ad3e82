"""BrainMem's part: what several successes share, its utility, and what is pruned."""

import pytest

from memory_node.episodes.past_attempt import PastAttempt
from memory_node.lessons.brainmem import guideline_of, to_prune, utility
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording

CONFIG = ExperienceConfig()


def success(number: int, *skills: str, room: str = "kitchen") -> PastAttempt:
    done = tuple(f"{skill}(Thing)" for skill in skills)
    return PastAttempt(f"e{number}", "slice it", "slice", True, number, room, done=done)


UNTRIED = Tally()


def advice(number: int, given: Tally = UNTRIED, helped_ns: int = 0) -> Lesson:
    task_types = frozenset({"slice"})
    wordings = (Wording("", f"advice {number}"),)
    return Lesson(f"m{number}", LessonKind.PREFER, wordings, task_types=task_types, given=given, helped_ns=helped_ns)


def test_shared_sequence_of_two_successes_is_a_way() -> None:
    one = success(1, "PickupObject", "GoToObject", "SliceObject", "PutObject")
    lesson = guideline_of([one, success(2, "OpenObject", "PickupObject", "SliceObject", "PutObject")])
    assert lesson.steps == ("PickupObject", "SliceObject", "PutObject")
    assert (lesson.kind, lesson.room, lesson.episodes) == (LessonKind.WAY, "kitchen", ("e1", "e2"))


@pytest.mark.parametrize(
    "successes",
    [
        [success(1, "PickupObject", "SliceObject", "PutObject")],
        [success(1, "PickupObject", "SliceObject", "PutObject"), success(2, "PickupObject", "PutObject")],
        [success(n, "GoToObject", "PickupObject", "OpenObject", "PutObject") for n in (1, 2)],
    ],
)
def test_one_success_or_what_every_planner_does_shows_no_way(successes: list[PastAttempt]) -> None:
    assert guideline_of(successes) is None


def test_way_of_several_rooms_holds_in_all() -> None:
    skills = ("PickupObject", "SliceObject", "PutObject")
    lesson = guideline_of([success(1, *skills), success(2, *skills, room="hall")])
    assert lesson.room == ""


def test_utility_is_confidence_and_usage_and_halves_with_its_half_life() -> None:
    half_life_ns = 30 * 86_400 * 10**9
    proven = advice(1, Tally(8.0, 10))
    assert utility(proven, 0) == pytest.approx(0.7 * 0.8 + 0.3 * 0.8)
    assert utility(proven, half_life_ns) == pytest.approx(utility(proven, 0) / 2)
    assert utility(advice(2), 0) == pytest.approx(0.35)


def test_least_useful_of_a_kind_of_task_are_pruned_but_never_the_proven() -> None:
    most = 30
    lessons = [advice(number, Tally(0.0, number)) for number in range(most)]
    assert to_prune(lessons, "slice", 0, 20) == []
    old_and_proven = advice(most, Tally(9.0, 10), helped_ns=-(10**18))
    assert to_prune([*lessons, old_and_proven], "slice", 0, 20) == [lessons[1]]
    assert to_prune([*lessons, old_and_proven], "clean", 0, 20) == []
