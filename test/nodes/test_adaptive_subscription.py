"""One subscription takes over from another without a gap and without a message twice."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.qos import ReliabilityPolicy

from memory_node.nodes.side_node import AdaptiveSubscription

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT


def message(number: int) -> bytes:
    return bytes(4) + number.to_bytes(8, "little")


class Topic:
    """A topic with publishers of these reliabilities, and the subscriptions that are there, by reliability."""

    def __init__(self) -> None:
        self.offered: list[ReliabilityPolicy] = []
        self.there: dict[ReliabilityPolicy, Callable[[bytes], None]] = {}
        self.numbers: list[int] = []
        self.made: list[ReliabilityPolicy] = []
        self.subscription = AdaptiveSubscription(self._make, self._destroy, self._publishers, self._hear)

    def _make(self, reliability: ReliabilityPolicy, take: Callable[[bytes], None]) -> Any:
        self.made.append(reliability)
        self.there[reliability] = take
        return SimpleNamespace(topic_name="points", qos_profile=SimpleNamespace(reliability=reliability))

    def _destroy(self, subscription: Any) -> None:
        del self.there[subscription.qos_profile.reliability]

    def _publishers(self, topic: str) -> list[Any]:
        return [SimpleNamespace(qos_profile=SimpleNamespace(reliability=one)) for one in self.offered]

    def _hear(self, data: bytes) -> None:
        self.numbers.append(int.from_bytes(data[4:], "little"))

    def bring(self, reliability: ReliabilityPolicy, *numbers: int) -> None:
        for number in numbers:
            self.there[reliability](message(number))


@pytest.fixture
def topic() -> Topic:
    """Return a topic whose reliable publisher has just been found."""
    made = Topic()
    made.bring(BEST_EFFORT, 1)
    made.offered = [RELIABLE]
    made.subscription.adapt()
    return made


def test_old_one_stays_until_the_new_one_has_found_the_publisher(topic: Topic) -> None:
    topic.bring(BEST_EFFORT, 2)
    for number in range(3, 7):
        topic.subscription.adapt()
        topic.bring(BEST_EFFORT, number)
    topic.bring(RELIABLE, 6)
    topic.subscription.adapt()
    assert set(topic.there) == {RELIABLE}
    topic.bring(RELIABLE, 7)
    assert topic.numbers == [1, 2, 3, 4, 5, 6, 7]


def test_new_one_that_is_behind_brings_nothing_twice(topic: Topic) -> None:
    topic.bring(BEST_EFFORT, 2, 3, 4, 5)
    topic.bring(RELIABLE, 2)
    topic.subscription.adapt()
    topic.bring(RELIABLE, 3, 4, 5, 6)
    assert topic.numbers == [1, 2, 3, 4, 5, 6]


def test_old_one_that_is_behind_brings_what_the_new_one_did_not_hear(topic: Topic) -> None:
    topic.bring(RELIABLE, 4, 5)
    topic.subscription.adapt()
    topic.bring(BEST_EFFORT, 2, 3, 4)
    topic.subscription.adapt()
    topic.bring(RELIABLE, 6)
    assert set(topic.there) == {RELIABLE}
    assert sorted(topic.numbers) == [1, 2, 3, 4, 5, 6]


def test_old_one_of_a_silent_publisher_goes(topic: Topic) -> None:
    for _ in range(5):
        topic.subscription.adapt()
    assert set(topic.there) == {RELIABLE}


def test_messages_of_one_stamp_are_heard_after_the_change(topic: Topic) -> None:
    topic.bring(BEST_EFFORT, 0)
    topic.bring(RELIABLE, 0)
    topic.subscription.adapt()
    topic.subscription.adapt()
    topic.bring(RELIABLE, 0, 0)
    assert topic.numbers == [1, 0, 0, 0]


def test_change_back_before_the_new_one_was_heard_keeps_the_old_one(topic: Topic) -> None:
    topic.offered = [RELIABLE, BEST_EFFORT]
    topic.subscription.adapt()
    topic.bring(BEST_EFFORT, 2)
    assert topic.subscription.qos_profile.reliability == BEST_EFFORT
    assert topic.made == [BEST_EFFORT, RELIABLE], "the first one was there all the time"
    assert topic.numbers == [1, 2]
