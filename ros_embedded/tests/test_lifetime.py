"""What guards the calls into a participant survives an end at any moment, also in the middle of its own lines."""

import sys
from types import FrameType
from typing import Any

import pytest

from ros_embedded.rclpy.impl import lifetime as module
from ros_embedded.rclpy.impl.cyclone import DDSError
from ros_embedded.rclpy.impl.lifetime import Lifetime


def test_last_user_cleans_up_after_the_end() -> None:
    ended: list[str] = []
    lifetime = Lifetime(lambda: ended.append("ended"))
    with lifetime:
        with lifetime:
            lifetime.end()
        assert ended == []
    assert ended == ["ended"]
    with pytest.raises(DDSError), lifetime:
        pass


def use_with_an_end_before_line(lifetime: Lifetime, number: int) -> bool:
    """Use `lifetime` once, and end it as a signal's handler would before the `number`-th line of its code that runs."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line":
            lines += 1
            if lines == number:
                lifetime.end()
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        with lifetime:
            pass
    except DDSError:
        pass
    finally:
        sys.settrace(previous)
    return lines >= number


@pytest.mark.timeout(10)
def test_signal_in_the_middle_of_any_line_neither_hangs_nor_cleans_up_twice() -> None:
    number = 1
    while True:
        ended: list[int] = []
        lifetime = Lifetime(lambda ended=ended: ended.append(1))
        if not use_with_an_end_before_line(lifetime, number):
            break
        assert ended == [1], f"ended before line {number}"
        number += 1
    assert number > 6
