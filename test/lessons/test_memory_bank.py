"""The bank: what is found, what goes when it is full, and what was worth nothing."""

import itertools
from dataclasses import replace

import pytest

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.config import BankLimits
from memory_node.lessons.lesson import Lesson, Tally, Wording
from memory_node.lessons.optimizer.attempt import Attempt, Candidate
from memory_node.lessons.whereabouts import written


def bank_of(embedder, *queries: str, **limits) -> LessonBank:
    numbers = itertools.count()
    bank = LessonBank(embedder, BankLimits(**limits), lambda: f"m{next(numbers)}")
    for number, query in enumerate(queries):
        bank.apply(Candidate(f"about {query}"), (), Attempt(f"e{number}", query, (), True, number), "test")
    return bank


def queries_of(entries) -> list[str]:
    return [entry.situation for entry in entries]


def test_nearest_tasks_come_first_and_no_more_than_are_shown(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "heat a mug", "wash the red car", "cool a mug now", shown=2)
    assert queries_of(bank.retrieve("cool a mug")) == ["cool a mug", "cool a mug now"]


def test_empty_bank_shows_nothing(word_embedder) -> None:
    assert bank_of(word_embedder).retrieve("cool a mug") == ()


def test_update_takes_the_place_of_the_entry_and_of_its_key(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "heat an egg")
    shown = bank.retrieve("cool a mug")
    change = bank.apply(Candidate("new words", 0), shown, Attempt("e9", "cool a cup", (), True, 9), "test")
    assert not change.added
    assert len(bank) == 2
    found = bank.retrieve("cool a cup")[0]
    assert (found.id, found.text, found.situation) == (shown[0].id, "new words", "cool a cup")
    assert found.evidence_for == ("e0", "e9")


@pytest.mark.parametrize(
    ("value", "spared"),
    [
        ("Thing: egg. Look first at: fridge.", True),
        ("Thing: mug. Look first at: shelf.", False),
        ("Mind the egg.", False),
    ],
)
def test_update_spares_what_is_known_of_another_thing(word_embedder, value: str, spared: bool) -> None:
    bank = bank_of(word_embedder)
    cool = Candidate("Thing: mug. Look first at: table.")
    first = bank.apply(cool, (), Attempt("e0", "cool a mug", (), True, 0), "test").lesson
    change = bank.apply(Candidate(value, 0), [first], Attempt("e1", "heat an egg", (), True, 1), "test")
    assert change.added is spared
    assert len(bank) == 1 + spared
    assert (bank.get(first.id) == first) is spared


def test_full_bank_spares_it_too(word_embedder) -> None:
    bank = bank_of(word_embedder, "wash the red car", capacity=2)
    cool = Candidate("Thing: mug. Look first at: table.")
    mug = bank.apply(cool, (), Attempt("e1", "cool a mug", (), True, 1), "test").lesson
    bank.note_outcome("wash the red car", 0.0, {"m0"})
    cup = Candidate("Thing: cup. Look first at: table.", 0)
    change = bank.apply(cup, [mug], Attempt("e2", "cool a mug", (), True, 2), "test")
    assert change.evicted.id == "m0"
    assert bank.get(mug.id) is not None


def test_update_of_an_entry_that_has_gone_is_refused(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug")
    shown = bank.retrieve("cool a mug")
    bank.remove(shown[0].id)
    with pytest.raises(NotFoundError):
        bank.apply(Candidate("words", 0), shown, Attempt("e1", "cool a mug", (), True, 1), "test")


def test_addition_to_a_full_bank_rewords_the_entry_about_the_same(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "heat an egg", capacity=2)
    change = bank.apply(Candidate("again"), (), Attempt("e5", "cool a mug", (), True, 5), "test")
    assert not change.added
    assert sorted(queries_of(bank)) == ["cool a mug", "heat an egg"]
    assert bank.retrieve("cool a mug")[0].text == "again"


def test_entry_of_least_utility_goes_for_something_new(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "heat an egg", capacity=2)
    bank.note_outcome("cool a mug", 1.0, {"m0"})
    bank.note_outcome("heat an egg", 0.0, {"m1"})
    change = bank.apply(Candidate("new"), (), Attempt("e5", "wash the red car", (), True, 5), "test")
    assert change.evicted.id == "m1"
    assert sorted(queries_of(bank)) == ["cool a mug", "wash the red car"]
    assert bank.retrieve("wash the red car")[0].situation == "wash the red car"


def test_utility_is_what_tasks_came_to_with_it_less_without_it(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "wash the red car")
    for _ in range(20):
        bank.note_outcome("cool a mug", 1.0, {"m0"})
        bank.note_outcome("cool a mug", 0.0, ())
    entry, other = bank.get("m0"), bank.get("m1")
    assert (entry.given, entry.withheld) == (Tally(20.0, 20), Tally(0.0, 20))
    assert entry.marginal_utility(bank.mean_outcome) == pytest.approx((20 + 1) / 22 - 1 / 22)
    # Tasks of another kind say nothing about it.
    assert (other.given, other.withheld) == (Tally(), Tally())


def test_entry_that_makes_tasks_fail_is_taken_back(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", least_trials=4, least_utility=-0.1)
    for _ in range(8):
        bank.note_outcome("cool a mug", 1.0, ())
    gone = [bank.note_outcome("cool a mug", 0.0, {"m0"})[1] for _ in range(4)]
    assert [len(one) for one in gone] == [0, 0, 0, 1]
    assert len(bank) == 0


def test_new_entry_is_compared_with_what_came_before_it(word_embedder) -> None:
    bank = bank_of(word_embedder)
    for _ in range(5):
        bank.note_outcome("cool a mug", 0.0, ())
        bank.note_outcome("wash the red car", 1.0, ())
    entry = bank.apply(Candidate("words"), (), Attempt("e", "cool a mug", (), True, 0), "test").lesson
    assert entry.withheld == Tally(0.0, 5)


def test_rewording_halves_what_was_found_out() -> None:
    entry = written("m", Wording("q", "v", "e0"), "rules")
    proven = replace(entry, given=Tally(3.0, 4), withheld=Tally(1.0, 1))
    changed = proven.reworded(Wording("q", "w", "e1"), "rules")
    assert (changed.given, changed.withheld) == (Tally(1.5, 2), Tally())


def test_copy_goes_its_own_way(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug")
    other = bank.copy()
    other.apply(Candidate("words", 0), other.retrieve("cool a mug"), Attempt("e1", "heat an egg", (), True), "test")
    assert queries_of(bank.retrieve("cool a mug")) == ["cool a mug"]
    assert bank.retrieve("cool a mug")[0].text == "about cool a mug"
    assert queries_of(other) == ["heat an egg"]


def test_stored_entries_come_back_as_they_were(word_embedder) -> None:
    bank = bank_of(word_embedder, "cool a mug", "heat an egg")
    bank.note_outcome("cool a mug", 1.0, {"m0"})
    stored = [entry.to_dict() for entry in bank]
    again = bank_of(word_embedder)
    again.load(map(Lesson.from_dict, stored))
    assert list(again) == list(bank)
    assert again.retrieve("heat an egg") == bank.retrieve("heat an egg")


@pytest.mark.parametrize(
    "broken", [{}, {"id": "m", "kind": "way", "wordings": []}, {"id": "m", "kind": "way", "wordings": [{"text": "q"}]}]
)
def test_stored_entry_that_is_none_is_refused(broken) -> None:
    with pytest.raises(InvalidValueError, match="Lesson"):
        Lesson.from_dict(broken)


def test_withdrawn_attempt_leaves_the_wording_before_it() -> None:
    entry = written("m", Wording("q", "first", "e0"), "rules")
    for number, text in ((1, "second"), (2, "third")):
        entry = entry.reworded(Wording("q", text, f"e{number}"), "rules")
    left = entry.without("e1")
    assert (left.text, left.evidence_for) == ("first", ("e0",))
    assert entry.without("e0") is None
    assert entry.without("e7") is entry


def test_odd_number_of_trials_is_halved_too() -> None:
    assert Tally(3.0, 3).halved() == Tally(1.0, 1)


def test_stored_note_that_says_nothing_any_more_is_left_out(word_embedder) -> None:
    said, old = ("Look first at: shelf.", "Way: take mug; cool mug with fridge. Seldom at: bed.")
    notes = [written(key, Wording("bring a mug", f"Task: cool with mug. {key}", "e"), "rules") for key in (said, old)]
    notes.append(written("free", Wording("bring a mug", "Mind the handle.", "e"), "model"))
    bank = bank_of(word_embedder)
    bank.load(notes)
    assert [lesson.id for lesson in bank] == [said, "free"]
    assert bank.get(said).object_classes == {"mug"}
