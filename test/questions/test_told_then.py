"""What people told and no longer holds is kept with the time in which it did, and is asked for as of a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from knowledge_doubles import BagOfWords

from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory

TOLD = (
    (1, "The keys belong on the shelf."),
    (1, "Ben is allergic to nuts."),
    (2, "The mug is Ben's."),
    (3, "The microwave is broken."),
    (10, "The keys belong in the drawer."),
    (10, "The microwave works again."),
    (12, "Ben may eat nuts."),
    (14, "The mug is Zoe's."),
    (16, "The keys belong on the shelf."),
)
NOW_DAY = 20


def day(number: int, hour: int = 12) -> int:
    return round(datetime(2026, 5, number, hour, tzinfo=timezone.utc).timestamp()) * 10**9


def opened(database: Path | str = ":memory:") -> RobotMemory:
    config = MemoryConfig(time_zone="UTC", database=str(database))
    return open_memory(config, lambda: day(NOW_DAY), BagOfWords(), embed_in_background=False)


@pytest.fixture
def memory() -> Iterator[RobotMemory]:
    held = opened()
    for number, fact in TOLD:
        held.tell_fact(fact, stamp_ns=day(number))
    yield held
    held.close()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did the keys belong last week?", "in the drawer (until on Saturday, 2026-05-16 at 12:00)"),
        ("Where did the keys belong on Thursday?", "in the drawer"),
        ("Where did the keys belong two weeks ago?", "on the shelf (until on Sunday, 2026-05-10"),
        ("Where did the keys belong before?", "in the drawer (until"),
        ("Where did we use to keep the keys?", "in the drawer (until"),
        ("Whose was the mug?", "The mug is Ben's (until on Thursday, 2026-05-14"),
        ("Whose was the mug yesterday?", "The mug is Zoe's."),
        ("Who was allergic to nuts before?", "Ben is allergic to nuts (until"),
        ("Was the microwave broken 12 days ago?", "Yes: The microwave is broken (until"),
        ("Could I use the microwave 12 days ago?", "No: The microwave is broken (until"),
        ("Whose was the mug 30 days ago?", "Nobody had told me then. Now: The mug is Zoe's."),
    ],
)
def test_question_about_an_earlier_time_is_answered_with_what_held_then(
    memory: RobotMemory, question: str, answer: str
) -> None:
    assert answer in memory.ask(question).text


@pytest.mark.parametrize(
    ("as_of_day", "answer"),
    [
        (5, "The keys belong on the shelf."),
        (11, "The keys belong in the drawer."),
        (17, "The keys belong on the shelf."),
    ],
)
def test_memory_answers_as_of_a_stamp(memory: RobotMemory, as_of_day: int, answer: str) -> None:
    assert memory.ask("Where do the keys belong?", as_of_ns=day(as_of_day)).text == answer


def test_nothing_was_known_before_it_was_told(memory: RobotMemory) -> None:
    assert memory.ask("Who is allergic to nuts?", as_of_ns=day(1, 1)).abstains


def test_what_ended_is_still_known_after_a_restart(tmp_path: Path) -> None:
    held = opened(tmp_path / "home.sqlite")
    for number, fact in TOLD:
        held.tell_fact(fact, stamp_ns=day(number))
    held.close()
    held = opened(tmp_path / "home.sqlite")
    assert "in the drawer" in held.ask("Where did the keys belong last week?").text
    held.close()


def test_undo_of_the_later_fact_restores_the_earlier_one_as_one_that_holds() -> None:
    memory = opened()
    memory.tell_fact("The keys belong on the shelf.", stamp_ns=day(1))
    memory.tell_fact("The keys belong in the drawer.", stamp_ns=day(10))
    memory.retract_fact("The keys belong in the drawer.")
    assert memory.ask("Where do the keys belong?").text == "The keys belong on the shelf."
    assert "drawer" not in memory.ask("Where did the keys belong last week?").text
    memory.close()


def test_what_is_taken_back_never_held_and_what_is_no_longer_so_held_until_then() -> None:
    memory = opened()
    memory.tell_fact("The mug is Ben's.", stamp_ns=day(1))
    memory.tell_fact("The cup is Ben's.", stamp_ns=day(1))
    memory.tell_fact("Forget that the mug is Ben's.", stamp_ns=day(10))
    memory.tell_fact("It is no longer true that the cup is Ben's.", stamp_ns=day(10))
    assert "Ben" not in memory.ask("Whose was the mug 15 days ago?").text
    assert "Ben's (until on Sunday" in memory.ask("Whose was the cup 15 days ago?").text
    assert memory.ask("Whose is the cup?").abstains
    memory.close()
