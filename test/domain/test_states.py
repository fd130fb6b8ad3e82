import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.states import ObjectState, StateBelief, with_state


def test_cleaned_ends_dirty_and_leaves_sliced() -> None:
    dirty = StateBelief(ObjectState.DIRTY, 1.0, 1)
    sliced = StateBelief(ObjectState.SLICED, 1.0, 2)
    cleaned = StateBelief(ObjectState.CLEANED, 0.9, 3)
    assert with_state((dirty, sliced), cleaned) == (sliced, cleaned)


def test_newer_confirmation_replaces_the_older_one() -> None:
    old, new = StateBelief(ObjectState.ON, 0.6, 1), StateBelief(ObjectState.ON, 0.9, 5)
    assert with_state((old,), new) == (new,)


def test_probability_outside_its_range_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="0 to 1"):
        StateBelief(ObjectState.ON, 1.5, 0)
