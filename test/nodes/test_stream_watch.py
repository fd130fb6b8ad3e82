"""Images that were published and did not arrive are counted, and the reason is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memory_node.nodes.inputs import stream_watch
from memory_node.nodes.inputs.stream_watch import StreamWatch

FRAME_NS = 33_333_333
IMAGES = 150


def watch(**streams: Iterable[int]) -> tuple[str, ...]:
    """Return what is said of topics whose messages with these numbers came."""
    node = SimpleNamespace(get_publishers_info_by_topic=lambda topic: [], count_publishers=lambda topic: 0)
    made = StreamWatch(node, silent_s=10.0, clock_jump_s=10.0)
    for name, numbers in streams.items():
        made.listen(name, SimpleNamespace(topic_name=f"/{name}", qos_profile=None), "", needed=True)
        for number in numbers:
            made.came(name, number * FRAME_NS)
    return made.problems()


def some(share: float) -> list[int]:
    kept = np.random.default_rng(0).random(IMAGES) < share
    return [0, *np.flatnonzero(kept).tolist(), IMAGES]


@pytest.mark.parametrize(
    ("middleware", "distribution", "remedy"),
    [
        ("rmw_cyclonedds_cpp", "jazzy", "sysctl -w net.core.rmem_max="),
        ("rmw_fastrtps_cpp", "jazzy", "FASTRTPS_DEFAULT_PROFILES_FILE=/"),
        ("rmw_fastrtps_cpp", "kilted", "FASTDDS_DEFAULT_PROFILES_FILE=/"),
    ],
)
def test_lost_images_are_told_with_what_the_middleware_needs(
    monkeypatch: pytest.MonkeyPatch, middleware: str, distribution: str, remedy: str
) -> None:
    monkeypatch.setattr(stream_watch, "get_rmw_implementation_identifier", lambda: middleware)
    monkeypatch.setenv("ROS_DISTRO", distribution)
    (problem,) = watch(info=range(IMAGES), color=range(IMAGES), depth=some(0.83))
    lost = IMAGES + 1 - len(set(some(0.83)))
    assert f"{lost} of {IMAGES + 1} messages on /depth were lost on the way, 0 of {IMAGES} on /info" in problem
    assert remedy in problem
    named = re.search(r"FILE=(\S+),", problem)
    assert named is None or Path(named[1]).is_file()


def test_most_images_lost_are_told_too() -> None:
    (problem,) = watch(info=range(IMAGES), depth=some(0.4))
    assert "/depth" in problem


def test_a_stream_of_half_the_rate_loses_nothing() -> None:
    assert watch(info=range(IMAGES), depth=range(0, IMAGES, 2)) == ()


def test_a_driver_that_leaves_frames_out_loses_nothing() -> None:
    frames = some(0.7)
    assert watch(info=frames, color=frames, depth=frames) == ()


def test_a_pause_of_the_driver_is_no_loss() -> None:
    frames = [*range(60), *range(1000, 1060)]
    assert watch(info=frames, depth=frames) == ()


SECOND_NS = 1_000_000_000


class Clocked:
    """A watch, and streams that come at given seconds with given stamps; time is what the test says."""

    def __init__(self, *streams: str) -> None:
        node = SimpleNamespace(get_publishers_info_by_topic=lambda topic: [], count_publishers=lambda topic: 0)
        self.now_s = 0.0
        self.watch = StreamWatch(node, silent_s=1e9, clock_jump_s=10.0, clock=lambda: self.now_s)
        for name in streams:
            subscription = SimpleNamespace(topic_name=f"/{name}", qos_profile=None)
            self.watch.listen(name, subscription, "", needed=False, is_timed=name != "map")

    def told(self) -> str:
        return " ".join(self.watch.problems())


def test_what_came_long_ago_is_no_other_clock() -> None:
    streams = Clocked("depth", "detections", "map")
    streams.watch.came("map", 100 * SECOND_NS)  # latched: of when the robot was switched on
    streams.watch.came("detections", 1_000 * SECOND_NS)
    streams.watch.tf_came(1_000 * SECOND_NS)
    streams.now_s = 300.0
    streams.watch.tf_came(1_000 * SECOND_NS)  # joints alone still come
    streams.watch.came("depth", 1_300 * SECOND_NS)
    assert streams.told() == ""
    streams.watch.tf_came(1_250 * SECOND_NS)
    assert "two clocks: /depth is stamped 1300.0 s" in streams.told()
    assert "/tf 1250.0 s" in streams.told()


def test_a_silent_stream_of_a_recording_that_is_played_faster_is_no_other_clock() -> None:
    streams = Clocked("depth", "detections")
    streams.watch.came("detections", 1_000 * SECOND_NS)
    for passed_s in range(60):
        streams.now_s = float(passed_s)
        streams.watch.came("depth", (1_000 + 2 * passed_s) * SECOND_NS)
        assert streams.told() == ""


def test_stamp_of_0_is_told_as_that() -> None:
    streams = Clocked("depth", "map")
    streams.watch.came("map", 0)
    streams.watch.came("depth", 1_000 * SECOND_NS)
    assert streams.told() == ""
    streams.watch.tf_came(0)
    assert streams.told() == "no stamp: /tf comes with the stamp 0: have its publisher set the time"


def test_a_few_messages_tell_nothing() -> None:
    assert watch(info=range(12), depth=range(0, 12, 5)) == ()
