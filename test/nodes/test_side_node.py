"""A node's frequent messages come over a side node: under its names, as reliably as their publishers send them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
import rclpy
from geometry_msgs.msg import PointStamped
from rclpy.context import Context
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from ros_peer import RosPeer, wait_until

from memory_node.nodes import conversions
from memory_node.nodes.side_node import SideNode

MESSAGES, ANYBODY_THERE = 300, -1


class Heard:
    """A side node of an owner with some ROS arguments, and the numbers of the messages that came."""

    def __init__(self, domain_id: int, *arguments: str) -> None:
        self.context = Context()
        rclpy.init(args=["test", "--ros-args", *arguments], context=self.context, domain_id=domain_id)
        self.owner = rclpy.create_node(
            "owner", context=self.context, automatically_declare_parameters_from_overrides=True
        )
        self.side = SideNode(self.owner, "camera")
        self.numbers: list[int] = []
        self.is_found = False

    def take(self, data: bytes) -> None:
        number = int(deserialize_message(data, PointStamped).point.x)
        if number == ANYBODY_THERE:
            self.is_found = True
        else:
            self.numbers.append(number)

    def listen(self, topic: str = "points") -> Any:
        subscription = self.side.subscribe_adaptively(PointStamped, topic, self.take, QoSProfile(depth=100))
        self.side.start()
        return subscription


@contextmanager
def heard(domain_id: int, *arguments: str) -> Iterator[Heard]:
    made = Heard(domain_id, *arguments)
    try:
        yield made
    finally:
        made.side.stop()
        made.owner.destroy_node()
        made.context.try_shutdown()


def profile(reliability: str) -> Any:
    return QoSProfile(depth=100, reliability=ReliabilityPolicy[reliability])


def publish(
    peer: RosPeer, listener: Heard, reliability: str, topic: str = "points", period_s: float = 0.01
) -> threading.Thread:
    """Publish MESSAGES in a thread, once the listener has found the publisher."""
    publisher = peer.node.create_publisher(PointStamped, topic, profile(reliability))

    def tell(number: int) -> None:
        message = PointStamped(header=conversions.header(number + 2))
        message.point.x = float(number)
        publisher.publish(message)

    def heard_of() -> bool:  # that the publisher knows of a best-effort listener says nothing of the other way round
        tell(ANYBODY_THERE)
        return listener.is_found

    wait_until(heard_of)

    def run() -> None:
        for number in range(MESSAGES):
            tell(number)
            time.sleep(period_s)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("reliability", ["RELIABLE", "BEST_EFFORT"])
def test_subscription_is_as_reliable_as_its_publisher_and_brings_each_message_once(
    peer: RosPeer, reliability: str
) -> None:
    with heard(peer.domain_id) as listener:
        subscription = listener.listen()
        publish(peer, listener, reliability).join()
        wait_until(lambda: len(listener.numbers) >= MESSAGES)
        assert sorted(listener.numbers) == list(range(MESSAGES))
        wait_until(lambda: subscription.qos_profile.reliability.name == reliability)


def test_what_comes_at_once_comes_once_and_in_order(peer: RosPeer) -> None:
    with heard(peer.domain_id) as listener:
        listener.listen()
        publish(peer, listener, "RELIABLE", period_s=0.001).join()
        wait_until(lambda: len(listener.numbers) >= MESSAGES)
        assert listener.numbers == list(range(MESSAGES))


def test_messages_that_come_faster_than_they_are_taken_do_not_hold_up_the_end(peer: RosPeer) -> None:
    with heard(peer.domain_id) as listener:

        def take_slowly(data: bytes) -> None:
            time.sleep(0.01)
            listener.take(data)

        listener.side.subscribe(PointStamped, "points", take_slowly, profile("RELIABLE"))
        listener.side.start()
        thread = publish(peer, listener, "RELIABLE", period_s=0.005)
        wait_until(lambda: len(listener.numbers) > 1)
        taken = len(listener.numbers)
        listener.side.stop()
        assert len(listener.numbers) - taken < MESSAGES // 3
        thread.join()


def test_what_comes_in_a_pause_is_taken_at_its_end(peer: RosPeer) -> None:
    pause_s, taken_s = 0.2, list[float]()
    with heard(peer.domain_id) as listener:

        def take(data: bytes) -> None:
            listener.take(data)
            taken_s.append(time.monotonic())
            listener.side.pause(pause_s)

        listener.side.subscribe(PointStamped, "points", take, profile("RELIABLE"))
        listener.side.start()
        publish(peer, listener, "RELIABLE", period_s=0.005).join()
        wait_until(lambda: len(listener.numbers) >= MESSAGES)
    assert listener.numbers == list(range(MESSAGES))
    assert sum(later - earlier > 0.8 * pause_s for earlier, later in pairwise(taken_s)) >= 5


def test_a_best_effort_publisher_beside_a_reliable_one_is_heard(peer: RosPeer) -> None:
    with heard(peer.domain_id) as listener:
        subscription = listener.listen()
        peer.node.create_publisher(_point(), "points", profile("RELIABLE"))
        wait_until(lambda: subscription.qos_profile.reliability.name == "RELIABLE")
        peer.node.create_publisher(_point(), "points", profile("BEST_EFFORT"))
        wait_until(lambda: subscription.qos_profile.reliability.name == "BEST_EFFORT")


def test_what_is_set_for_the_owner_holds(peer: RosPeer) -> None:
    override = "qos_overrides./robot/dots.subscription.reliability:=best_effort"
    with heard(peer.domain_id, "-r", "__ns:=/robot", "-r", "points:=dots", "-p", override) as listener:
        subscription = listener.listen()
        assert subscription.topic_name == "/robot/dots"
        publish(peer, listener, "RELIABLE", "/robot/dots").join()
        wait_until(lambda: len(listener.numbers) >= MESSAGES)
        assert subscription.qos_profile.reliability.name == "BEST_EFFORT"
        assert ("owner_camera", "/robot") in peer.node.get_node_names_and_namespaces()


def _point() -> Any:
    return PointStamped
