"""Synchronising filters by stamps behave alike in ros_embedded and in ROS 2."""

import pytest
from geometry_msgs.msg import PointStamped
from message_filters import ApproximateTimeSynchronizer, SimpleFilter, Subscriber, TimeSynchronizer
from rclpy.clock import ClockType
from rclpy.time import Time
from std_msgs.msg import String


def point(stamp_ms, x=0.0):
    message = PointStamped()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ms * 1_000_000, 1_000_000_000)
    message.point.x = x
    return message


def stamp_ms(message):
    return message.header.stamp.sec * 1000 + message.header.stamp.nanosec // 1_000_000


def ros_time(stamp):
    return Time(nanoseconds=stamp * 1_000_000, clock_type=ClockType.ROS_TIME)


@pytest.fixture
def inputs() -> list[SimpleFilter]:
    return [SimpleFilter(), SimpleFilter()]


def collect(synchronizer):
    sets = []
    synchronizer.registerCallback(lambda *messages: sets.append([stamp_ms(message) for message in messages]))
    return sets


def test_callback_gets_its_own_arguments_after_the_message():
    source, got = SimpleFilter(), []
    assert source.registerCallback(lambda *args: got.append(args), "a", 1) == 0
    source.signalMessage("message")
    assert got == [("message", "a", 1)]


@pytest.mark.parametrize(
    ("made", "first", "second", "sets"),
    [
        pytest.param((TimeSynchronizer, 10), (1, 2, 3), (3, 1), [[3, 3], [1, 1]], id="equal in any order"),
        pytest.param((TimeSynchronizer, 2), (1, 2, 3), (1, 2, 3), [[2, 2], [3, 3]], id="the queue keeps the newest"),
        pytest.param(
            (ApproximateTimeSynchronizer, 10, 0.05), (1000, 1030, 1100), (1020, 1160), [[1030, 1020]], id="nearest"
        ),
        pytest.param((ApproximateTimeSynchronizer, 10, 0.05), (1000,), (1001, 1002), [[1000, 1001]], id="used once"),
    ],
)
def test_stamps_of_two_inputs_are_brought_together(inputs, made, first, second, sets):
    kind, *limits = made
    found = collect(kind(inputs, *limits))
    for source, stamps in zip(inputs, (first, second)):
        for stamp in stamps:
            source.signalMessage(point(stamp))
    assert found == sets


def test_all_pairs_of_a_set_lie_within_slop():
    inputs = [SimpleFilter() for _ in range(3)]
    sets = collect(ApproximateTimeSynchronizer(inputs, 10, 0.05))
    inputs[0].signalMessage(point(1000))
    inputs[2].signalMessage(point(1080))
    inputs[1].signalMessage(point(1040))  # near both, but they are too far from each other
    assert sets == []
    inputs[2].signalMessage(point(1030))
    assert sets == [[1000, 1040, 1030]]


def test_headerless_messages_are_dropped_unless_allowed(inputs):
    strict, lenient = [], []
    ApproximateTimeSynchronizer(inputs, 10, 0.5).registerCallback(lambda *messages: strict.append(messages))
    ApproximateTimeSynchronizer(inputs, 10, 0.5, True).registerCallback(lambda *messages: lenient.append(messages))
    for source in inputs:
        source.signalMessage(String(data="x"))
    assert strict == []
    assert len(lenient) == 1


def test_subscribers_bring_topics_of_a_node_together(make_node, spin_until):
    node = make_node()
    subscribers = [Subscriber(node, PointStamped, "left"), Subscriber(node, PointStamped, "right", qos_profile=5)]
    sets = collect(ApproximateTimeSynchronizer(subscribers, 5, 0.05))
    publishers = [node.create_publisher(PointStamped, topic, 10) for topic in ("left", "right")]
    assert spin_until(lambda: all(publisher.get_subscription_count() for publisher in publishers))
    for publisher, stamp in zip(publishers, (1000, 1010)):
        publisher.publish(point(stamp))
    assert spin_until(lambda: sets)
    assert sets == [[1000, 1010]]
    assert (subscribers[0].getTopic(), subscribers[0].topic_name) == ("left", "/left")
