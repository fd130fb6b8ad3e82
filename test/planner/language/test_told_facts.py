"""What told facts make of instructions."""

import json

import pytest

from memory_node.cli import main
from memory_node.planner.language.told_facts import informed

MUG = "The blue mug is Anna's."
NUTS = "Anna is allergic to nuts."


@pytest.mark.parametrize(
    ("instruction", "told", "text"),
    [
        ("bring Anna her mug", [MUG], "bring the blue mug"),
        ("bring Anna her mug", [MUG, "Anna works at the desk."], "put the blue mug on the desk"),
        ("take the mug to Anna", [NUTS, "Anna is in the bedroom."], "put the mug in the bedroom"),
        ("wash Anna's mug", [MUG], "wash the blue mug"),
        ("wash Anna's cup", [MUG], "wash Anna's cup"),
        ("put the books away", ["Books belong on the shelf."], "put the books on the shelf"),
        ("make Anna a snack", ["Anna likes apples.", NUTS], "bring the apple"),
        (
            "make Anna a snack",
            ["Anna likes bread.", "Anna likes apples.", "The bread has nuts.", NUTS],
            "bring the apple",
        ),
        ("bring me the zapper", ["The zapper means the remote control."], "bring me the remote control"),
        ("bring Bob his mug", [MUG], "bring Bob his mug"),
        ("go to the kitchen", [MUG, NUTS], "go to the kitchen"),
    ],
)
def test_instruction_gets_what_was_told(instruction: str, told: list[str], text: str) -> None:
    read = informed(instruction, told)
    assert (read.text, read.question) == (text, "")
    assert bool(read.used) == (text != instruction)


@pytest.mark.parametrize(
    ("instruction", "told", "said"),
    [
        ("make Anna a snack", [NUTS], "allergic to nuts"),
        ("make Anna a snack", ["Anna likes nuts.", NUTS], "allergic to nuts"),
        ("make Anna a snack", ["Anna likes apples.", "Anna likes pears."], "What shall I bring Anna?"),
        ("bring Anna the bread", ["The bread contains nuts.", NUTS], "instead"),
        ("give Anna some nuts", [NUTS], "instead"),
    ],
)
def test_what_is_open_or_forbidden_is_asked(instruction: str, told: list[str], said: str) -> None:
    assert said in informed(instruction, told).question


def test_newer_statement_comes_first_and_counts() -> None:
    assert informed("put the book away", ["The book goes on the desk.", "The book goes on the shelf."]).text == (
        "put the book on the desk"
    )


def test_instructions_need_what_was_told(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    assert main(["bench", "knowledge", "--home", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    knowing, without, knowing_plain, without_plain = rows
    assert knowing["instructions"] == without["instructions"] == 40
    assert knowing["success_rate"] >= 0.9
    assert without["success_rate"] <= 0.4
    assert knowing_plain["instructions"] == without_plain["instructions"] == 60
    assert knowing_plain["success_rate"] >= 0.9
    assert without_plain["success_rate"] <= 0.4


@pytest.mark.parametrize(
    ("instruction", "told", "text"),
    [
        ("put the red mug away", ["The blue mug is kept in the drawer."], "put the red mug away"),
        ("put Tom's toy away", ["Nina's toys live in the box."], "put Tom's toy away"),
        ("bring Ben an apple", ["Ida likes her apples sliced.", "Ben likes apples."], "bring an apple"),
        ("wash the plate", ["Plates must be rinsed before they are put back."], "wash the plate"),
        ("put the plate in the microwave", ["The microwave is broken."], "put the plate in the microwave"),
        ("put the book next to the vase", ["Nobody may touch the vase."], "put the book next to the vase"),
        ("bring me the vase", ["The vase may be moved again.", "Nobody may touch the vase."], "bring me the vase"),
        ("bring Dad the laptop", ["Only Dad may use the laptop."], "bring the laptop"),
        ("put the bread away", ["Bread is never stored in the fridge."], "put the bread away"),
        ("put away the salt", ["We keep the salt in the cabinet."], "put the salt in the cabinet"),
        ("bring me Ben's mug", ["Ben's mug is dirty."], "bring me Ben's mug"),
    ],
)
def test_what_was_told_of_another_thing_changes_nothing(instruction: str, told: list[str], text: str) -> None:
    read = informed(instruction, told)
    assert (read.text, read.question) == (text, "")
