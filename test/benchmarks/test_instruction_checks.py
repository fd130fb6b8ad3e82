"""Reading the instructions that robustness is measured with is scored."""

from benchmarks.instructions import load_checks, measure
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.reading.understanding import Understander


def test_rows_count_what_is_read_as_wanted() -> None:
    checks = [check for check in load_checks("development") if check.category == "chain"][:4]
    rows, mistakes = measure(checks, Understander(load_catalogue(), None, None, asks=False))
    assert [row["category"] for row in rows] == ["chain", "all"]
    assert rows[-1]["instructions"] == 4
    assert rows[-1]["right"] == 1 - len(mistakes) / 4
    assert rows[-1]["right"] > 0
