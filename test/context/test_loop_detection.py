import pytest

from memory_node.context.loop_detection import repeated
from memory_node.context.step_observation import TakenStep
from memory_node.domain.skill import SkillCall

A, B, C = (SkillCall("OpenObject", (name,)) for name in "ABC")


def steps(*calls: SkillCall) -> list[TakenStep]:
    return [TakenStep(call, True) for call in calls]


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
    assert repeated(steps(*calls)) == cycle


def test_the_next_step_may_close_a_cycle() -> None:
    assert repeated(steps(A, A), A) == (A,)
    assert repeated(steps(A, A), B) == ()
