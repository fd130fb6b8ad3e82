"""What was just done in vain is not offered again, and what leads on is."""

from memory_node.domain.skill import SkillCall
from memory_node.planner.permitted_skills import LoopGuard

LEFT, RIGHT, OPEN, CLOSE = (
    SkillCall("GoToObject", ("SinkBasin",)),
    SkillCall("GoToObject", ("SinkBasin 2",)),
    SkillCall("OpenObject", ("Drawer",)),
    SkillCall("CloseObject", ("Drawer",)),
)


def after(*taken: tuple[SkillCall, object]) -> LoopGuard:
    held_back = LoopGuard()
    for call, state in taken:
        held_back.note(call, state)
    return held_back


def test_driving_between_two_things_ends() -> None:
    assert not after((LEFT, 0), (RIGHT, 0)).holds(LEFT)  # to go back once is no loop
    there_and_back = after((LEFT, 0), (RIGHT, 0), (LEFT, 0), (RIGHT, 0))
    assert there_and_back.holds(LEFT)
    assert there_and_back.holds(RIGHT)
    assert not there_and_back.holds(OPEN)


def test_what_changes_and_changes_back_ends() -> None:
    twice = after((OPEN, 1), (CLOSE, 0), (OPEN, 1))
    assert twice.holds(CLOSE)


def test_a_change_makes_the_same_call_worth_while_again() -> None:
    assert after((LEFT, 0), (OPEN, 0), (LEFT, 0)).holds(LEFT)
    assert not after((LEFT, 0), (OPEN, 0), (LEFT, 0), (CLOSE, 1)).holds(LEFT)
    assert after((LEFT, 0), (OPEN, 1), (LEFT, 1), (CLOSE, 0), (LEFT, 0)).holds(LEFT)  # it is as it was


def test_a_call_that_changes_nothing_twice_is_held_back() -> None:
    assert after((OPEN, 0), (OPEN, 0)).holds(OPEN)
