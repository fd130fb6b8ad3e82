import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.guideline_book import GuidelineBook

CONFIG = ExperienceConfig()
DAY_NS = 86_400_000_000_000


def guideline(key: str, successes: int = 0, trials: int = 0, task: str = "clean", **more: object) -> Guideline:
    return Guideline(key, key, frozenset({task}), successes=successes, trials=trials, **more)  # type: ignore[arg-type]


def test_utility_is_confidence_and_usage() -> None:
    assert guideline("a", 8, 10).utility(0, CONFIG) == pytest.approx(0.7 * 0.8 + 0.3 * 0.8)
    assert guideline("b", 20, 20).utility(0, CONFIG) == pytest.approx(1.0)


def test_utility_halves_with_its_half_life() -> None:
    fresh, old = guideline("a", 5, 5).utility(0, CONFIG), guideline("a", 5, 5).utility(30 * DAY_NS, CONFIG)
    assert old == pytest.approx(fresh / 2)


def test_book_prunes_the_least_useful_and_keeps_the_proven() -> None:
    config = ExperienceConfig(active_guidelines=2)
    book = GuidelineBook(config)
    book.load([guideline("proven", 5, 5), guideline("bad", 0, 9), guideline("good", 3, 4), guideline("fair", 2, 4)])
    dropped = book.prune("clean")
    assert [g.key for g in dropped] == ["bad"]
    assert "proven" in book


def test_at_most_m_guidelines_are_active_and_only_fitting_ones() -> None:
    book = GuidelineBook(ExperienceConfig(active_guidelines=2))
    book.load([guideline(f"g{i}", i, 10) for i in range(5)] + [guideline("other", 10, 10, task="heat")])
    assert [g.key for g in book.active("clean", ())] == ["g4", "g3"]


def test_saying_the_same_again_adds_support_not_counts() -> None:
    book = GuidelineBook(CONFIG)
    book.add(guideline("a", episode_ids=("e1",)))
    merged = book.add(guideline("a", task="heat", episode_ids=("e2",)))
    assert merged.episode_ids == ("e1", "e2")
    assert merged.task_types == {"clean", "heat"}
    assert merged.trials == 0


def test_counts_move_for_given_guidelines_only() -> None:
    book = GuidelineBook(CONFIG)
    book.load([guideline("given"), guideline("silent")])
    book.count(frozenset({"given"}), success=True, stamp_ns=7)
    book.count(frozenset({"given"}), success=False, stamp_ns=9)
    assert (book["given"].successes, book["given"].trials, book["given"].helped_ns) == (1, 2, 7)
    assert book["silent"].trials == 0


def test_forgetting_an_episode_takes_what_only_it_supported() -> None:
    book = GuidelineBook(CONFIG)
    book.load([guideline("a", episode_ids=("e1",)), guideline("b", episode_ids=("e1", "e2"))])
    changed, gone = book.forget("e1")
    assert [(g.key, g.support, g.episode_ids) for g in changed] == [("b", 1, ("e2",))]
    assert [g.key for g in gone] == ["a"]


def test_stored_values_come_back_equal() -> None:
    remedy = (SkillCall("OpenObject", ("{receptacle}",)),)
    original = guideline("a", 1, 2, episode_ids=("e1",), kind="repair", skill="PutObject", remedy=remedy)
    assert Guideline.from_dict(original.to_dict()) == original


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="2 successes of 1"):
        guideline("a", 2, 1)


def test_rank_follows_utility_as_it_decays() -> None:
    book = GuidelineBook(CONFIG)
    old, fresh = guideline("old", 10, 10), guideline("fresh", 3, 4, helped_ns=90 * DAY_NS)
    book.load([old, fresh])
    assert old.utility(90 * DAY_NS, CONFIG) < fresh.utility(90 * DAY_NS, CONFIG)
    assert [g.key for g in book.active("clean", ())] == ["fresh", "old"]


def test_repair_speaks_of_the_classes_where_it_helped() -> None:
    remedy = (SkillCall("OpenObject", ("{receptacle}",)),)
    book = GuidelineBook(CONFIG)
    book.load([guideline("a", skill="PutObject", remedy=remedy, object_classes=frozenset({"Fridge"}))])
    assert [g.key for g in book.repairs("clean", SkillCall("PutObject", ("Egg", "Fridge@1,2,3")))] == ["a"]
    assert book.repairs("clean", SkillCall("PutObject", ("Egg", "Sofa"))) == []
    assert book.repairs("clean", SkillCall("OpenObject", ("Fridge",))) == []


def test_only_the_newest_supports_are_named_but_all_are_counted() -> None:
    book = GuidelineBook(ExperienceConfig(supports_kept=2))
    for number in range(5):
        book.add(guideline("a", episode_ids=(f"e{number}",)))
    assert (book["a"].episode_ids, book["a"].support) == (("e3", "e4"), 5)
    assert book.forget("e4")[1] == []


def test_book_stays_within_its_size() -> None:
    book = GuidelineBook(ExperienceConfig(max_guidelines=3))
    book.load([guideline(f"g{i}", i, 10, task=f"task{i}") for i in range(5)])
    assert [g.key for g in book.prune("")] == ["g0", "g1"]
    assert len(book) == 3
