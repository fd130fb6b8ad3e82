"""The brief state as text; what each operation does, that a delta is all or nothing, and that a log replays alike."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_node.context.brief_state import (
    MAX_ITEM,
    BriefState,
    Create,
    Delete,
    Delta,
    Fold,
    InvalidDeltaError,
    Section,
    Update,
    apply,
    delta_from_rows,
    delta_to_rows,
)
from memory_node.domain.errors import InvalidValueError

B = BriefState(
    "make tea",
    ("fill Kettle",),
    "heat Kettle",
    ("fetch Mug",),
    ("Mug is in or on Shelf",),
    ("the hand is empty",),
    ("Fridge is closed", "Mug is dirty"),
)
TEXTS = st.sampled_from(["a", "b", "c", "Fridge is closed", "Mug is dirty", "fill Kettle"])
SECTIONS = st.sampled_from(Section)
OPERATIONS = st.one_of(
    st.builds(Create, section=SECTIONS, text=TEXTS),
    st.builds(Update, section=SECTIONS, old=TEXTS, text=TEXTS),
    st.builds(Delete, section=SECTIONS, text=TEXTS),
    st.builds(Fold, section=SECTIONS, texts=st.lists(TEXTS, min_size=1, max_size=3).map(tuple), into=TEXTS),
)
DELTAS = st.lists(OPERATIONS, max_size=4).map(tuple)


def test_create_adds_behind() -> None:
    after = apply([Create(section=Section.FACTS, text="Cup is cold")], B)
    assert after.facts == ("Fridge is closed", "Mug is dirty", "Cup is cold")


def test_update_keeps_the_place() -> None:
    after = apply([Update(section=Section.FACTS, old="Fridge is closed", text="Fridge is opened")], B)
    assert after.facts == ("Fridge is opened", "Mug is dirty")


def test_delete_takes_out() -> None:
    assert apply([Delete(section=Section.PENDING, text="fetch Mug")], B).pending == ()


def test_fold_makes_finished_subgoals_one_belief() -> None:
    after = apply([Fold(section=Section.COMPLETED, texts=("fill Kettle",), into="done before: fill Kettle")], B)
    assert after.completed == ()
    assert after.facts[-1] == "done before: fill Kettle"


@pytest.mark.parametrize(
    "operation",
    [
        Create(section=Section.FACTS, text="Mug is dirty"),
        Create(section=Section.CURRENT, text="another"),
        Update(section=Section.FACTS, old="mug is dirty", text="Mug is cleaned"),
        Update(section=Section.FACTS, old="Mug is dirty", text="Fridge is closed"),
        Delete(section=Section.LOCATIONS, text="Mug is in or on"),
        Fold(section=Section.COMPLETED, texts=("fill Kettle", "make tea"), into="done"),
        Create(section=Section.FACTS, text="two\nlines"),
    ],
)
def test_what_does_not_match_exactly_is_refused(operation: Create | Update | Delete | Fold) -> None:
    with pytest.raises(InvalidDeltaError):
        apply([Delete(section=Section.PENDING, text="fetch Mug"), operation], B)


@given(DELTAS)
def test_delta_survives_json(delta: Delta) -> None:
    assert tuple(delta_from_rows(json.loads(json.dumps(delta_to_rows(delta))))) == tuple(delta)


@given(DELTAS)
def test_state_after_any_delta_is_a_state(delta: Delta) -> None:
    try:
        after = apply(delta, B)
    except InvalidDeltaError:
        return
    for section in Section:
        items = after.items(section)
        assert len(set(items)) == len(items)
        assert len(items) <= 1 or not section.is_single
    assert all(text for line in after.lines() for text in line.split(": ", 1))


@given(DELTAS)
def test_create_then_delete_leaves_the_state(delta: Delta) -> None:
    try:
        state = apply(delta, B)
    except InvalidDeltaError:
        state = B
    both = (Create(section=Section.FACTS, text="new"), Delete(section=Section.FACTS, text="new"))
    assert apply(both, state) == state


@pytest.mark.parametrize("rows", [[{"op": "explode"}], [{"op": "create", "section": "facts"}], ["create"], [None]])
def test_rows_that_are_no_operations_are_refused(rows: list[object]) -> None:
    with pytest.raises(InvalidDeltaError):
        delta_from_rows(rows)


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
