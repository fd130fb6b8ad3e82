"""Reading the plain commands of the benchmark is scored in three conditions."""

from benchmarks.instructions import load_checks, measure
from benchmarks.plain_commands import (
    CONDITIONS,
    Turn,
    measure_commands,
    rows_of_commands,
)
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.reading.understanding import Understander

KINDS = load_catalogue()


def test_rows_count_right_wrong_and_asked() -> None:
    turns = [
        Turn("put the egg in the fridge", "place", (("Egg at Fridge",),)),
        Turn("wash the mug", "clean", (("clean Fork",),)),
        Turn("slice it", "slice", (("slice Apple",),)),
        Turn("slice that", "slice", (("question",),)),
    ]
    rows = list(rows_of_commands(measure_commands(turns, Understander(KINDS, None, None), KINDS)))
    assert [row["condition"] for row in rows] == list(CONDITIONS)
    assert [(row["commands"], row["right"], row["wrong"], row["asked"]) for row in rows] == [(4, 0.5, 0.25, 0.25)] * 3


def test_rows_count_what_is_read_as_wanted() -> None:
    checks = [check for check in load_checks("development") if check.category == "chain"][:4]
    rows, mistakes = measure(checks, Understander(load_catalogue(), None, None, asks=False))
    assert [row["category"] for row in rows] == ["chain", "all"]
    assert rows[-1]["instructions"] == 4
    assert rows[-1]["right"] == 1 - len(mistakes) / 4
    assert rows[-1]["right"] > 0
