"""Sizes tell a wrong label from a right one, once enough things of a class were seen."""

import numpy as np
import pytest

from memory_node.scene_graph.state import ClassSizes

MUG = np.array([0.08, 0.1, 0.09])


@pytest.fixture
def sizes() -> ClassSizes:
    made = ClassSizes()
    for share in (0.95, 1.0, 1.0, 1.05, 1.0):
        made.learn("mug", MUG * share)
    return made


def test_too_few_things_tell_nothing() -> None:
    sizes = ClassSizes()
    sizes.learn("mug", MUG)
    assert sizes.fit("mug", MUG * 5.0, whole=True) == 1.0
    assert sizes.may_be("lamp", MUG)


def test_size_decides_whatever_side_lies_where(sizes: ClassSizes) -> None:
    assert sizes.fit("mug", MUG[[2, 0, 1]] * 1.1, whole=True) == 1.0
    assert not sizes.may_be("mug", np.array([0.17, 0.15, 0.33]))
    assert not sizes.may_be("mug", MUG * 0.3)


def test_part_of_a_thing_may_be_smaller_but_not_larger(sizes: ClassSizes) -> None:
    assert sizes.fit("mug", MUG * 0.3, whole=False) == 1.0
    assert sizes.fit("mug", MUG * 4.0, whole=False) == pytest.approx(0.15)


def test_a_few_wrong_sizes_do_not_widen_what_a_class_may_be() -> None:
    sizes = ClassSizes()
    for index in range(40):
        sizes.learn("mug", np.array([0.3, 0.2, 0.4]) if index % 8 == 7 else np.array([0.08, 0.09, 0.1]))
    assert sizes.may_be("mug", np.array([0.09, 0.09, 0.11]))
    assert not sizes.may_be("mug", np.array([0.2, 0.16, 0.25]))
