"""Instructions of several parts, read by the offline planner as it is opened for use: each part after the others."""

from collections.abc import Callable

import pytest

from memory_node.domain.ports import TextEmbedder
from memory_node.opening import open_memory
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import Planner, PlanningContext, PlanProgress, ProgressKind


@pytest.fixture(scope="module")
def planner(word_embedder: TextEmbedder) -> Planner:
    return open_planner("offline", word_embedder)


@pytest.fixture
def read(planner: Planner, word_embedder: TextEmbedder) -> Callable[[str], list[str]]:
    """Return the goals that the planner announces for an instruction before its first step."""
    memory = open_memory(clock=lambda: 1, embedder=word_embedder)

    def goals(instruction: str) -> list[str]:
        reports: list[PlanProgress] = []
        run = planner.run(instruction, PlanningContext(memory, reports.append, lambda _: None))
        next(run)
        run.close()
        return [goal for report in reports if report.kind is ProgressKind.PLAN for goal in report.goals]

    return goals


@pytest.mark.parametrize(
    ("instruction", "goals"),
    [
        (
            "Wash a tomato slice, then put it in the fridge.",
            ["clean sliced Tomato", "place sliced Tomato to Fridge"],
        ),
        (
            "Put a slice of tomato in the fridge and put the tomato on the counter.",
            ["place sliced Tomato to Fridge", "place Tomato to CounterTop"],
        ),
        (
            "Wash the apple, then slice the red fruit, and put the plate in the fridge.",
            ["clean Apple", "slice Apple", "place Plate to Fridge"],
        ),
        (
            "Wash the lettuce, cool the tomato, then put the one you washed in the bowl.",
            ["clean Lettuce", "cool Tomato", "place Lettuce to Bowl"],
        ),
        (
            "Put the spoon on the counter and the fork on the dining table, then put them both in the drawer.",
            ["place Spoon to CounterTop", "place Fork to DiningTable", "place Spoon to Drawer", "place Fork to Drawer"],
        ),
        (
            "Put the egg in the pot, put the pot on the stove, and throw the tomato away.",
            ["place Egg to Pot", "place Pot to StoveBurner", "place Tomato to GarbageCan"],
        ),
        (
            "Put the candle on the shelf, bring the vase to the desk, and put the candle back where it was.",
            ["place Candle to Shelf", "place Vase to Desk", "place Candle to where it was"],
        ),
        (
            "Cook the egg, place the egg in a bowl, put the bowl on the shelf.",
            ["heat Egg", "place Egg to Bowl", "place Bowl to Shelf"],
        ),
    ],
)
def test_each_part_is_read_in_the_context_of_the_parts_before(read, instruction: str, goals: list[str]) -> None:
    assert read(instruction) == goals


def test_remarks_between_the_parts_ask_for_nothing(read) -> None:
    said = "Put the mug on the shelf, do not touch the vase, and bring me the book."
    assert read(said) == ["place Mug to Shelf", "place Book to User"]


def test_long_rows_of_plain_commands_lose_none(read) -> None:
    said = "Put the bread in the fridge, put the bowl on the desk, wash the fork, put the apple in the bowl, close it."
    assert len(read(said)) == 5


def test_pronoun_means_what_the_command_can_be_done_to(read) -> None:
    said = "Put the cup on the shelf, put the plunger in the cabinet and close it."
    assert read(said)[-1] == "close Cabinet"
