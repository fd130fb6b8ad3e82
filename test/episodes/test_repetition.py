import pytest

from memory_node.domain.skill import SkillCall
from memory_node.episodes.class_actions import repeated

A, B, C = (SkillCall("OpenObject", (name,)) for name in "ABC")


@pytest.mark.parametrize(
    ("calls", "cycle"),
    [
        ((A, A, A), (A,)),
        ((C, A, B, A, B), (A, B)),
        ((A, B, C, A, B, C), (A, B, C)),
        ((A, A), ()),
        ((A, B, C, A, B), ()),
        ((A, B, A, C), ()),
        ((), ()),
    ],
)
def test_cycles(calls: tuple[SkillCall, ...], cycle: tuple[SkillCall, ...]) -> None:
    assert repeated(calls) == cycle
