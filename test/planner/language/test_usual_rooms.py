"""A generic name means what is used in the rooms in which an instruction takes place."""

import pytest
from grammar import ENGLISH, KINDS, READER, words

from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.usual_rooms import UsualRooms

ROOMS = UsualRooms(KINDS, ENGLISH.rooms)
TABLES = ("CoffeeTable", "DiningTable", "Desk", "SideTable")


def likely(instruction: str, generic: str = "the table") -> list[str]:
    phrase = READER.commands.phrase(words(generic), 0)
    assert isinstance(phrase, NounPhrase)
    return ROOMS.likely(TABLES, ROOMS.clues(READER.read(instruction).parts), phrase)


@pytest.mark.parametrize(
    ("instruction", "tables"),
    [
        ("put the plate on the table, then put the plate in the sink and open the fridge", ["DiningTable"]),
        ("close the wardrobe and put the book on the table next to the bed", ["Desk", "SideTable"]),
        ("put the apple on the table", list(TABLES)),
        ("take the book from the bed to the table", list(TABLES)),
    ],
)
def test_furniture_that_the_instruction_goes_to_tells_the_rooms(instruction: str, tables: list[str]) -> None:
    assert likely(instruction) == tables


@pytest.mark.parametrize(
    ("generic", "tables"), [("the study table", ["Desk"]), ("the lounge table", ["CoffeeTable", "SideTable"])]
)
def test_room_in_the_name_tells_more_than_other_furniture(generic: str, tables: list[str]) -> None:
    assert likely("put the plate on the table and open the fridge", generic) == tables
