import pytest

from memory_node.context.brief_state import MAX_ITEM, BriefState, Section
from memory_node.domain.errors import InvalidValueError


def test_text_has_a_line_for_each_section_that_holds_something() -> None:
    state = BriefState("make tea", current="heat Kettle", facts=("Mug is dirty", "Fridge is closed"))
    assert state.text == "Goal: make tea\nNow: heat Kettle\nKnown: Mug is dirty; Fridge is closed"


@pytest.mark.parametrize("items", [("a", "a"), ("",), (" ",), ("a\nb",), ("x" * (MAX_ITEM + 1),)])
def test_items_that_cannot_be_matched_are_refused(items: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValueError, match=r"BriefState\.facts"):
        BriefState(facts=items)


def test_section_that_holds_one_item_takes_no_second() -> None:
    with pytest.raises(InvalidValueError, match="it holds one item"):
        BriefState().with_items(Section.CURRENT, ("a", "b"))
