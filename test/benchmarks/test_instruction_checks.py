"""The instructions that robustness is measured with are sound, and reading them is scored."""

import pytest

from benchmarks.instruction_checks import PARTS, load_checks, measure
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.language.understanding import Understander

WORDS_OF_EFFECTS = {
    "at",
    "near",
    "back",
    "with",
    "2",
    "clean",
    "heat",
    "cool",
    "slice",
    "examine",
    "open",
    "close",
    "find",
}
WORDS_OF_EFFECTS |= {"switch_on", "switch_off", "fill", "empty", "fetch", "User"}


@pytest.mark.parametrize("part", PARTS)
def test_what_is_wanted_exists_in_the_home(part: str) -> None:
    kinds = load_catalogue()
    for check in load_checks(part):
        for wanted in check.wanted:
            classes = {word for line in wanted for word in line.split()} - WORDS_OF_EFFECTS
            assert classes, check.text
            assert classes <= check.home.all, check.text
            assert all(name in kinds for name in classes)


def test_there_are_enough_in_each_part_and_none_in_two() -> None:
    parts = [[check.text for check in load_checks(part)] for part in PARTS]
    assert min(map(len, parts)) >= 70
    assert len({text for part in parts for text in part}) == sum(map(len, parts))


def test_rows_count_what_is_read_as_wanted() -> None:
    checks = [check for check in load_checks("development") if check.category == "chain"][:4]
    rows, mistakes = measure(checks, Understander(load_catalogue(), None, None, asks=False))
    assert [row["category"] for row in rows] == ["chain", "all"]
    assert rows[-1]["instructions"] == 4
    assert rows[-1]["right"] == 1 - len(mistakes) / 4
    assert rows[-1]["right"] > 0
