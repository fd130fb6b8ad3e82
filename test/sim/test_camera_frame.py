"""A camera that stands still shows the same seldom, and what is new at once."""

from memory_node.sim.camera import SAME_VIEWS, FrameClock


def taken_in(clock: FrameClock, seconds: int, view: str) -> int:
    """Return how many pictures are taken of a view in so many seconds, asked ten times a second."""
    count = 0
    for _ in range(10 * seconds):
        clock.pass_time(0.1)
        count += clock.is_due(view)
    return count


def test_still_view_is_shown_at_the_low_rate_after_some_pictures() -> None:
    clock = FrameClock(0.5, 4.0)
    assert taken_in(clock, 5, "kitchen") == SAME_VIEWS
    assert taken_in(clock, 40, "kitchen") == 10


def test_new_view_is_shown_at_once_and_at_the_full_rate() -> None:
    clock = FrameClock(0.5, 4.0)
    taken_in(clock, 30, "kitchen")
    clock.pass_time(0.5)
    assert clock.is_due("hall")
    assert taken_in(clock, 4, "hall") == 8


def test_low_rate_above_the_full_one_has_no_effect() -> None:
    assert taken_in(FrameClock(2.0, 0.1), 60, "kitchen") == 30


def test_one_view_is_shown_once_a_real_second_however_fast_time_runs() -> None:
    clock = FrameClock(0.5, 4.0, speed=40.0)
    assert taken_in(clock, 5, "kitchen") == SAME_VIEWS
    assert taken_in(clock, 401, "kitchen") == 10
    assert taken_in(clock, 4, "hall") == 8
