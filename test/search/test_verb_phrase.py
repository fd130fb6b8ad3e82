"""The verb of a request and its last preposition tell what the wanted thing is to what is done."""

import pytest

from memory_node.search.request_phrases import contradict, deed_of, role_of


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("something to cut the bread with", "something to cut with"),
        ("something I can heat up soup with", "something i can heat up with"),
        ("a utensil for eating soup", "a utensil for eating"),
        ("something to throw rubbish away", "something to throw away"),
        ("somewhere to hang up the wet towel", "somewhere to hang up"),
        ("something to put flowers in", ""),  # one puts anything
        ("something to sit on", ""),
        ("move it to the sink", ""),
        ("the mug", ""),
    ],
)
def test_deed_is_told_without_what_it_is_done_to(text: str, deed: str) -> None:
    assert deed_of(text) == deed


@pytest.mark.parametrize(
    ("asked", "told", "contradicts"),
    [
        ("something to eat soup with", "something to eat soup from", True),
        ("something to serve the salad in", "something to eat salad with", True),
        ("something to eat yoghurt with", "something to eat", True),
        ("something to serve the salad in", "to make a salad with", True),
        ("something to make toast with", "something to make toast from", False),
        ("something to drink from", "to drink water in", False),
        ("something to cut bread with", "something sharp for cutting", False),
        ("the mug", "something to eat soup with", False),
    ],
)
def test_tools_vessels_and_food_are_told_apart(asked: str, told: str, contradicts: bool) -> None:
    assert contradict(role_of(asked), role_of(told)) is contradicts
