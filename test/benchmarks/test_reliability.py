"""Curves of the readers' reliability rise."""

import pytest

from benchmarks.reliability import _never_falling


def test_neighbours_that_fall_are_averaged_by_their_weights() -> None:
    assert _never_falling([0.1, 0.9, 0.3, 0.2, 0.8], [1, 1, 2, 1, 4]) == pytest.approx([0.1, 0.425, 0.425, 0.425, 0.8])
