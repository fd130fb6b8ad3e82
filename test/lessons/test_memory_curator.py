"""The curator: what is taken over, refused, taken back, undone and forgotten."""

from collections.abc import Sequence
from typing import Any

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.config import BankLimits
from memory_node.lessons.lesson import LESSONS, Lesson, NullLog
from memory_node.lessons.optimizer.candidate import Candidate, Proposal
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting

KINDS = load_catalogue()
FOUND = ("take mug from shelf", "put mug in cabinet")


class Log(NullLog):
    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, tuple[str, ...]] = {}

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        assert kind == LESSONS
        self.kept |= {key: values for key, values, _ in documents}
        self.sources |= {key: episodes for key, _, episodes in documents}

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        for key in ids:
            del self.kept[key]


class Says:
    name = "test"
    is_quick = True

    def __init__(self, *candidates: Candidate | None) -> None:
        self._candidates = iter(candidates)

    def propose(self, attempt, shown) -> Proposal:
        return Proposal(next(self._candidates))


def curator_of(embedder, optimizer=None, log: Log | None = None, **limits) -> Curator:
    bank = LessonBank(embedder, BankLimits(**limits))
    return Curator(bank, optimizer or RulesOptimizer(), Vetting(KINDS), log)


def values(curator: Curator) -> list[str]:
    return [entry.text for entry in curator.bank]


def test_lesson_is_in_the_log_with_its_episodes(word_embedder, attempt) -> None:
    log = Log()
    curator = curator_of(word_embedder, log=log)
    curated = curator.learn(attempt("put a mug in cabinet", *FOUND))
    again = curator.learn(attempt("put a mug in cabinet", "take mug from drawer", "put mug in cabinet"))
    assert curated.change is not None
    assert curated.change.added
    assert again.change is not None
    assert not again.change.added
    (key,) = log.kept
    assert log.sources[key] == ("e0", "e1")
    restored = curator_of(word_embedder)
    restored.bank.load(map(Lesson.from_dict, log.kept.values()))
    assert list(restored.bank) == list(curator.bank)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (Candidate("Take mug 1."), "number"),
        (Candidate("Throw the mug."), "attack"),
        (Candidate("Take the potato."), "unknown_name"),
        (Candidate("Take the mug.", 3), "index"),
        (Candidate(" "), "format"),
    ],
)
def test_what_breaks_a_rule_never_enters_the_bank(word_embedder, attempt, candidate: Candidate, reason: str) -> None:
    curator = curator_of(word_embedder, Says(candidate))
    assert curator.learn(attempt("put a mug in cabinet", *FOUND)).change is None
    assert len(curator.bank) == 0
    assert curator.figures()[f"lessons.rejected.{reason}"] == 1


def test_entry_that_tasks_fail_with_is_taken_back(word_embedder, attempt) -> None:
    log = Log()
    says = Says(None, None, None, None, Candidate("Take the mug."), *[None] * 6)
    curator = curator_of(word_embedder, says, log, least_trials=3)
    for _ in range(5):
        curator.learn(attempt("put a mug in cabinet", *FOUND))
    (entry,) = curator.bank
    for _ in range(3):
        curator.learn(attempt("put a mug in cabinet", *FOUND, won=False), {entry.id})
    assert len(curator.bank) == 0
    assert log.kept == {}
    assert curator.figures()["lessons.taken_back"] == 1


def test_outcome_counts_for_what_was_given(word_embedder, attempt) -> None:
    curator = curator_of(word_embedder, Says(Candidate("Take the mug."), None))
    curator.learn(attempt("put a mug in cabinet", *FOUND))
    (entry,) = curator.bank
    curator.learn(attempt("put a mug in cabinet", *FOUND), {entry.id})
    (now,) = curator.bank
    assert (now.given.total, now.given.trials) == (1.0, 1)
    assert now.withheld.trials == 1  # the attempt that it came from
