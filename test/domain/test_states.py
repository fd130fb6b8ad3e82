import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.states import ADJECTIVES, ATTRIBUTES, ObjectState, StateBelief, with_state


def test_cleaned_ends_dirty_and_leaves_sliced() -> None:
    dirty = StateBelief(ObjectState.DIRTY, 1.0, 1)
    sliced = StateBelief(ObjectState.SLICED, 1.0, 2)
    cleaned = StateBelief(ObjectState.CLEANED, 0.9, 3)
    assert with_state((dirty, sliced), cleaned) == (sliced, cleaned)


def test_what_becomes_cooked_is_cold_no_more_and_what_was_cooked_may_be() -> None:
    cold, cooked = StateBelief(ObjectState.COLD, 1.0, 1), StateBelief(ObjectState.COOKED, 0.9, 3)
    assert with_state((cold,), cooked) == (cooked,)
    assert set(with_state((cooked, cold), cooked)) == {cold, cooked}
    # What one look shows is so at once.
    still = StateBelief(ObjectState.COLD, 0.9, 3)
    assert with_state((still,), cooked) == (still, cooked)


def test_newer_confirmation_replaces_the_older_one() -> None:
    old, new = StateBelief(ObjectState.ON, 0.6, 1), StateBelief(ObjectState.ON, 0.9, 5)
    assert with_state((old,), new) == (new,)


def test_probability_outside_its_range_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="0 to 1"):
        StateBelief(ObjectState.ON, 1.5, 0)


def test_every_state_has_words_and_no_word_means_two() -> None:
    said = [word for words in ADJECTIVES.values() for word in words]
    assert set(ADJECTIVES) == set(ObjectState)
    assert len(said) == len(set(said))
    assert "on" not in ATTRIBUTES  # "the mug on the table" is not switched on


def test_contrary_is_what_is_known_of_what_is_not_so() -> None:
    assert ObjectState.WIPED.contrary is ObjectState.DIRTY
    assert ObjectState.DIRTY.contrary is ObjectState.CLEANED
    assert ObjectState.SLICED.contrary is None
