"""Instructions fall apart into the commands that people mean."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import read_command, split_commands
from memory_node.planner.language.verbs import Verbs

VERBS = Verbs(load_catalogue().treatments)


@pytest.mark.parametrize(
    ("instruction", "pieces"),
    [
        ("Wash an apple and put it in the bowl.", ["wash an apple", "put it in the bowl"]),
        ("Could you please find the mug, and then wash it?", ["find the mug", "wash it"]),
        ("Put salt, pepper and a fork on the table", ["put salt, pepper and a fork on the table"]),
        ("Although there is a bowl in the cupboard, rinse a ladle", ["rinse a ladle"]),
        ("Put the pen on the table next to the lamp", ["put the pen on the table next to the lamp"]),
        (
            "Slice the bread. Then toast it; finally serve it on a plate.",
            ["slice the bread", "toast it", "serve it on a plate"],
        ),
        ("wash the cup before putting it in the cabinet", ["wash the cup", "putting it in the cabinet"]),
    ],
)
def test_instruction_is_split_where_a_new_command_begins(instruction: str, pieces: list[str]) -> None:
    assert split_commands(instruction, VERBS) == pieces


@pytest.mark.parametrize(
    ("piece", "kind", "target", "destination"),
    [
        ("put the red mug in the sink", GoalKind.PLACE, "the red mug", "the sink"),
        ("take a cd from a table to a dresser", GoalKind.PLACE, "a cd", "a dresser"),
        ("get the apple on the table", GoalKind.FETCH, "the apple", ""),
        ("turn the lamp on", GoalKind.SWITCH_ON, "the lamp", ""),
        ("turn off the light", GoalKind.SWITCH_OFF, "the light", ""),
        ("throw the paper away", GoalKind.THROW, "the paper", ""),
        ("slicing the bread with a knife", GoalKind.SLICE, "the bread", ""),
        ("put the box on top of the sofa", GoalKind.PLACE, "the box", "the sofa"),
    ],
)
def test_command_is_read(piece: str, kind: GoalKind, target: str, destination: str) -> None:
    command = read_command(piece, VERBS)
    assert command is not None
    assert (command.kind, command.target, command.destination) == (kind, target, destination)


def test_bringing_something_to_me_is_a_delivery() -> None:
    for piece in ("bring me the apple", "bring the apple to me", "hand me the apple"):
        command = read_command(piece, VERBS)
        assert command is not None
        assert command.to_user
        assert command.target == "the apple"


def test_vessel_with_contents_names_both() -> None:
    command = read_command("put a plate with a spoon on it on the counter", VERBS)
    assert command is not None
    assert (command.container, command.target, command.destination) == ("a plate", "a spoon", "the counter")


def test_remark_without_a_verb_is_no_command() -> None:
    assert read_command("the weather is nice", VERBS) is None


@pytest.mark.parametrize(
    "words",
    ["something to drink tea from", "what i drink tea from", "the thing to eat soup with", "something to cut with"],
)
def test_preposition_within_a_description_ends_no_noun_phrase(words: str) -> None:
    command = read_command(f"put {words} on the table", VERBS)
    assert command is not None
    assert (command.target, command.destination) == (words, "the table")


@pytest.mark.parametrize(
    ("piece", "kind", "treatment"),
    [
        ("toast the bread", GoalKind.HEAT, "toast"),
        ("boil the egg", GoalKind.HEAT, "boil"),
        ("mash the potato", GoalKind.HEAT, "boil"),
        ("melt the butter", GoalKind.HEAT, "melt"),
        ("warm the soup up", GoalKind.HEAT, "heat"),
        ("peel the apple", GoalKind.SLICE, "peel"),
        ("empty the cup", GoalKind.EMPTY, "pour out"),
        ("pour the mug out", GoalKind.EMPTY, "pour out"),
    ],
)
def test_verb_of_a_treatment_is_known_with_it(piece: str, kind: GoalKind, treatment: str) -> None:
    command = read_command(piece, VERBS)
    assert command is not None
    assert (command.kind, command.treatment) == (kind, treatment)
