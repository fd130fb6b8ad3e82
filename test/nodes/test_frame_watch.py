"""A robot that gets pictures and makes nothing of them is blind, and must say so."""

from memory_node.nodes.inputs.frame_watch import FrameWatch


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_camera_that_falls_silent_is_not_taken_for_blindness() -> None:
    clock = Clock()
    watch = FrameWatch(10.0, clock)
    assert watch.silent_s() == 0.0, "none has ever come"
    watch.came()
    clock.now_s += 40.0
    assert (watch.unused_s(), watch.silent_s()) == (0.0, 40.0)


def test_first_frame_after_a_pause_gets_its_time() -> None:
    clock = Clock()
    watch = FrameWatch(10.0, clock)
    watch.came()
    clock.now_s += 40.0
    watch.came()
    assert watch.unused_s() == 0.0
