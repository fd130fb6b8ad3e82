"""Buffers, listeners and broadcasters of nodes behave alike in ros_embedded and in ROS 2."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from tf2_msgs.srv import FrameGraph
from tf2_ros import (
    Buffer,
    ExtrapolationException,
    LookupException,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformListener,
)

import ros_embedded

NEWEST = Time()
SOON = Duration(seconds=5.0)


def transform(parent, child, x, stamp_s=1):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp.sec = stamp_s
    message.transform.translation.x = float(x)
    return message


@pytest.fixture
def nodes() -> Iterator[Callable[[str], Node]]:
    """Make nodes that are spun in the background, in a context on a domain of our own."""
    context = Context()
    rclpy.init(args=[], context=context)
    executor = MultiThreadedExecutor(num_threads=4, context=context)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    made: list[Node] = []

    def make(name: str) -> Node:
        made.append(rclpy.create_node(name, context=context))
        executor.add_node(made[-1])
        return made[-1]

    yield make
    executor.shutdown()
    thread.join(timeout=10)
    for node in made:
        node.destroy_node()
    rclpy.shutdown(context=context)
    assert not thread.is_alive()


def test_listener_fills_the_buffer_from_moving_and_latched_frames(nodes):
    sender, receiver = nodes("sender"), nodes("receiver")
    static = StaticTransformBroadcaster(sender)
    static.sendTransform(transform("base_link", "camera", 1.0))
    static.sendTransform([transform("base_link", "laser", 2.0)])
    moving = TransformBroadcaster(sender)
    buffer = Buffer(node=receiver)
    listener = TransformListener(buffer, receiver)
    timer = sender.create_timer(0.05, lambda: moving.sendTransform((transform("map", "base_link", 10.0),)))
    found = buffer.lookup_transform("map", "camera", NEWEST, SOON)
    assert found.transform.translation.x == 11.0
    assert buffer.lookup_transform("map", "laser", Time(seconds=1), SOON).transform.translation.x == 12.0
    sender.destroy_timer(timer)
    listener.unregister()


def test_listener_can_spin_the_node_itself(nodes):
    rclpy.init(args=[])
    own = rclpy.create_node("own")
    buffer = Buffer()
    listener = TransformListener(buffer, own, spin_thread=True)
    StaticTransformBroadcaster(nodes("sender")).sendTransform(transform("map", "cup", 3.0))
    assert buffer.lookup_transform("map", "cup", NEWEST, SOON).transform.translation.x == 3.0
    rclpy.shutdown()
    listener.dedicated_listener_thread.join(timeout=5)
    assert not listener.dedicated_listener_thread.is_alive()


@pytest.mark.skipif(not ros_embedded.is_active(), reason="Jazzy's Python broadcaster keeps a frame's first pose")
def test_static_frame_that_is_sent_again_gets_its_new_pose(nodes):
    sender, receiver = nodes("sender"), nodes("receiver")
    static = StaticTransformBroadcaster(sender)
    static.sendTransform(transform("base_link", "camera", 1.0))
    static.sendTransform(transform("base_link", "camera", 3.0))
    buffer = Buffer(node=receiver)
    TransformListener(buffer, receiver)
    assert buffer.lookup_transform("base_link", "camera", NEWEST, SOON).transform.translation.x == 3.0


def test_wait_ends_at_its_timeout_with_the_reason(nodes):
    buffer = Buffer(node=nodes("receiver"))
    buffer.set_transform(transform("map", "cup", 1.0), "test")
    begin = time.monotonic()
    with pytest.raises(LookupException, match='"moon"'):
        buffer.lookup_transform("map", "moon", NEWEST, Duration(seconds=0.3))
    assert 0.25 < time.monotonic() - begin < 2.0
    with pytest.raises(ExtrapolationException):
        buffer.lookup_transform("map", "cup", Time(seconds=9))
    possible, why = buffer.can_transform("map", "moon", NEWEST, return_debug_tuple=True)
    assert (possible, "moon" in why) == (False, True)


def test_waiting_lookup_is_woken_by_new_data():
    buffer = Buffer()
    threading.Timer(0.2, lambda: buffer.set_transform(transform("map", "cup", 4.0), "test")).start()
    begin = time.monotonic()
    assert buffer.lookup_transform("map", "cup", NEWEST, SOON).transform.translation.x == 4.0
    assert time.monotonic() - begin < 2.0


def test_frames_are_served_as_yaml(nodes):
    node, other = nodes("server"), nodes("asker")
    buffer = Buffer(node=node)
    buffer.set_transform(transform("map", "cup", 1.0), "someone")
    client = other.create_client(FrameGraph, "tf2_frames")
    assert client.wait_for_service(timeout_sec=5.0)
    yaml_text = client.call(FrameGraph.Request(), timeout_sec=5.0).frame_yaml
    assert "cup: \n  parent: 'map'\n  broadcaster: 'someone'\n" in yaml_text


def test_jump_back_in_time_clears_the_buffer():
    buffer = Buffer()
    buffer.set_transform(transform("map", "cup", 1.0), "test")
    buffer.time_jump_callback(None)
    assert not buffer.can_transform("map", "cup", NEWEST)
