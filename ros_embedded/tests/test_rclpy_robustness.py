"""ros_embedded.rclpy stands malformed payloads, many endpoints, many lives, and shutdown at any moment."""

import gc
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import rclpy

if not rclpy.__file__.endswith("ros_embedded/rclpy/__init__.py"):
    pytest.skip("the real rclpy is sourced", allow_module_level=True)

from example_interfaces.action import Fibonacci
from rclpy import publisher as publisher_module
from rclpy.action import ActionClient, ActionServer
from rclpy.exceptions import InvalidHandle, RCLError
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.impl import cyclone, service_endpoint
from rclpy.impl.domain import DiscoveryOptions, domain_configuration
from rclpy.impl.endpoint import Writer
from rclpy.impl.service_endpoint import RequestId
from rclpy.impl.typesupport import topic_descriptor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from std_srvs.srv import SetBool

from ros_embedded.interfaces.cdr import DeserializationError, deserialize, serialize


def test_message_that_cannot_be_read_is_logged_and_dropped(
    make_node: Callable,
    spin_until: Callable,
    link: Callable,
    capfd: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cyclone checks layouts before us; what else may be wrong in a payload must not end a node either."""
    received: list[str] = []

    def read(payload: bytes, kind: type) -> Any:
        message = deserialize(payload, kind)
        if message.data == "bad":
            raise DeserializationError("unreadable")
        return message

    monkeypatch.setattr("ros_embedded.rclpy.subscription.deserialize", read)
    publisher = link(make_node(), String, "s", lambda message: received.append(message.data))
    for text in ("bad", "fine"):
        publisher.publish(String(data=text))
    assert spin_until(lambda: received)
    assert received == ["fine"]
    assert "Dropped a malformed message on 's': unreadable" in capfd.readouterr().err


def test_payload_that_does_not_fit_is_not_published(make_node: Callable) -> None:
    publisher = make_node().create_publisher(String, "s", 10)
    for payload in (b"", b"\0\1\0\0", b"\0\1\0\0\xff\xff\xff\x7fabc", b"\0\1\0\0\1\0\0\0x"):
        with pytest.raises(RCLError):
            publisher.publish(payload)


def test_request_of_another_layout_does_not_stop_the_service(
    make_node: Callable, spin_until: Callable, call: Callable
) -> None:
    node = make_node()
    node.create_service(SetBool, "set", lambda request, response: SetBool.Response(success=request.data))
    client, participant = node.create_client(SetBool, "set"), node.context.participant
    layout = topic_descriptor("std_msgs/msg/String", False)
    name = topic_descriptor("std_srvs/srv/SetBool_Request", True).type_name
    foreign = cyclone.TopicDescriptor(size=8, align=8, type_name=name, op_count=layout.op_count, ops=layout.ops)
    context = rclpy.context.Context()
    context.init(args=[])
    peer = context.participant
    writer = Writer(peer.entity, peer.lifetime, "rq/setRequest", foreign, QoSProfile(depth=10), b"")
    assert spin_until(lambda: writer.matches() and client.service_is_ready())
    writer.write(b"\0\1\0\0\2\0\0\0x\0")
    assert call(client, SetBool.Request(data=True)).success
    assert participant.lifetime.is_over is False
    context.shutdown()


def test_reply_to_nobody_is_ignored(make_node: Callable, spin_until: Callable, call: Callable) -> None:
    node = make_node()
    service = node.create_service(SetBool, "set", lambda request, response: response)
    client = node.create_client(SetBool, "set")
    assert spin_until(client.service_is_ready)
    service.send_response(SetBool.Response(), RequestId(1, 1))
    service.send_response(SetBool.Response(), RequestId(client._writer.handle, 99))
    call(client, SetBool.Request())


def test_callback_that_fails_leaves_the_others_working(make_node: Callable, spin_until: Callable) -> None:
    node, ticks = make_node(), []
    node.create_timer(0.01, lambda: 1 / 0)
    node.create_timer(0.01, lambda: ticks.append(1))
    failures = 0
    while len(ticks) < 3:
        try:
            spin_until(lambda: len(ticks) >= 3)
        except ZeroDivisionError:
            failures += 1
    assert failures


def test_callback_may_shut_its_executor_down(context: rclpy.context.Context) -> None:
    for kind in (SingleThreadedExecutor, MultiThreadedExecutor):
        node, executor = Node("node", context=context), kind(context=context)
        executor.add_node(node)
        node.create_timer(0.01, executor.shutdown)
        spinner = threading.Thread(target=executor.spin, daemon=True)
        spinner.start()
        spinner.join(5.0)
        assert not spinner.is_alive()
        node.destroy_node()


def test_hundreds_of_endpoints_are_served(make_node: Callable, spin_until: Callable) -> None:
    node, received = make_node(), set()
    with node.context.participant.graph.announcement():
        for number in range(150):
            node.create_subscription(String, f"t{number}", lambda message: received.add(message.data), 1)
        publishers = [node.create_publisher(String, f"t{number}", 1) for number in range(150)]
    watcher = make_node("watcher")
    assert spin_until(lambda: all(publisher.get_subscription_count() for publisher in publishers))
    for number, publisher in enumerate(publishers):
        publisher.publish(String(data=str(number)))
    assert spin_until(lambda: len(received) == 150)
    assert len([name for name, _ in watcher.get_publisher_names_and_types_by_node("node", "/") if "/t" in name]) == 150


def test_nothing_is_left_behind_after_many_lives(context: rclpy.context.Context) -> None:
    def live() -> None:
        node = Node("mortal", context=context)
        node.create_publisher(String, "s", 10)
        node.create_subscription(String, "s", lambda _: None, 10)
        node.create_client(SetBool, "set")
        node.create_service(SetBool, "set", lambda request, response: response)
        node.create_timer(1.0, lambda: None)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        executor.spin_once(timeout_sec=0)
        executor.shutdown()
        node.destroy_node()

    def resources() -> tuple[int, int, int]:
        gc.collect()
        return threading.active_count(), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    def resident_kb() -> int:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * 4

    for _ in range(50):
        live()
    before, before_kb, shared = resources(), resident_kb(), set(os.listdir("/dev/shm"))
    for _ in range(300):
        live()
    assert resources() == before
    assert resident_kb() - before_kb < 1500
    # Other programs come and go there, too; three hundred lives that left something would show.
    assert len(set(os.listdir("/dev/shm")) - shared) < 300
    graph = context.participant.graph
    assert len(graph.endpoints(True)) + len(graph.endpoints(False)) == 2  # those of the discovery topic itself


_FAULTS_OF_AN_IMAGE = """
import resource, ros_embedded
ros_embedded.activate()
import rclpy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image
rclpy.init(args=[])
image = Image(height=480, width=640, encoding="rgb8", step=1920, data=bytes(640 * 480 * 3))
for count in range(60):
    if count == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    deserialize_message(serialize_message(image), Image)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 50)
rclpy.shutdown()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc's malloc")
@pytest.mark.parametrize("users_choice", [{}, {"MALLOC_TRIM_THRESHOLD_": "131072"}])
def test_memory_of_an_image_serves_the_next_one(users_choice: dict[str, str]) -> None:
    """An image has 225 pages, and is copied several times on its way; fresh pages each time would take 1 ms."""
    environment = {**os.environ, "ROS_EMBEDDED": "1", **users_choice}
    run = [sys.executable, "-c", _FAULTS_OF_AN_IMAGE]
    faults = float(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout)
    assert faults > 225 if users_choice else faults < 10


_ARENAS_OF_THREADS = """
import ctypes, sys, threading, ros_embedded
ros_embedded.activate()
import rclpy
rclpy.init(args=[])
together = threading.Barrier(8)
def work():
    together.wait()
    blocks = [bytes(100_000) for _ in range(100)]
    together.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
told = ctypes.c_void_p(c.fopen(sys.argv[1].encode(), b"w"))
c.malloc_info(0, told)
c.fclose(told)
rclpy.shutdown()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc's malloc")
@pytest.mark.parametrize("users_choice", [{}, {"MALLOC_ARENA_MAX": "6"}])
def test_threads_share_two_arenas_of_memory(users_choice: dict[str, str], tmp_path: Path) -> None:
    """Each arena keeps what its largest work needed: a process with many threads would grow for minutes."""
    environment = {**os.environ, "ROS_EMBEDDED": "1", **users_choice}
    told = tmp_path / "malloc.xml"
    subprocess.run([sys.executable, "-c", _ARENAS_OF_THREADS, str(told)], env=environment, check=True)
    arenas = told.read_text().count("<heap nr=")
    assert arenas == 6 if users_choice else arenas == 2


def test_publishing_while_the_context_ends_fails_without_harm() -> None:
    for _ in range(5):
        context = rclpy.context.Context()
        context.init(args=[])
        node = Node("node", context=context)
        publisher = node.create_publisher(String, "s", 10)
        failures: list[Any] = []

        def publish(publisher: Any = publisher, failures: list[Any] = failures) -> None:
            try:
                while True:
                    publisher.publish(String(data="x" * 1000))
            except RCLError as error:
                failures.append(error)

        threads = [threading.Thread(target=publish) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        context.shutdown()
        for thread in threads:
            thread.join(5.0)
        node.destroy_node()
        assert len(failures) == 3


@pytest.mark.parametrize(
    ("environment", "expected", "absent"),
    [
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, ["127.0.0.1", "<AllowMulticast>false"], []),
        ({"ROS_STATIC_PEERS": "10.0.0.7; robot"}, ['"10.0.0.7"', '"robot"', 'max="16MB"'], ["<Interfaces"]),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": "10.0.0.7"}, ["<Tag>ros_disc"], ["10.0.0.7"]),
        ({"ROS_LOCALHOST_ONLY": "1"}, ["127.0.0.1"], []),
        ({"CYCLONEDDS_URI": "file:///own.xml"}, [",file:///own.xml"], []),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT", "CYCLONEDDS_URI": "<x/>"}, ["<x/>"], ["CycloneDDS"]),
    ],
)  # fmt: skip
def test_environment_decides_who_is_discovered(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: list[str], absent: list[str]
) -> None:
    for name in ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY", "CYCLONEDDS_URI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    configuration = domain_configuration(DiscoveryOptions.from_environment())
    assert all(text in configuration for text in expected)
    assert not any(text in configuration for text in absent)


Use = tuple[Callable[[], Any], Callable[[], Any]]


def _publisher(node: Node) -> Use:
    publisher = node.create_publisher(String, "topic", 10)
    return lambda: publisher.publish(String(data="word")), lambda: node.destroy_publisher(publisher)


def _counted_subscription(node: Node) -> Use:
    subscription = node.create_subscription(String, "topic", print, 10)
    return subscription.get_publisher_count, lambda: node.destroy_subscription(subscription)


def _client(node: Node) -> Use:
    client = node.create_client(SetBool, "set")
    return lambda: client.call_async(SetBool.Request()), lambda: node.destroy_client(client)


def _looking_client(node: Node) -> Use:
    client = node.create_client(SetBool, "set")
    return client.service_is_ready, lambda: node.destroy_client(client)


def _service(node: Node) -> Use:
    service = node.create_service(SetBool, "set", lambda request, response: response)
    request_id = RequestId(0, 1)
    return lambda: service.send_response(SetBool.Response(), request_id), lambda: node.destroy_service(service)


@pytest.mark.parametrize("made", [_publisher, _counted_subscription, _client, _looking_client, _service])
def test_what_is_destroyed_while_another_thread_uses_it_lasts_until_then(made: Callable, make_node: Callable) -> None:
    """Either the call is finished, or the handle is invalid before it begins: no call fails in the middle."""
    node, ends = make_node(), []

    def use_up(use: Callable[[], object], is_used: threading.Event) -> None:
        try:
            while True:
                use()
                is_used.set()
        except Exception as error:
            ends.append(error)

    for _ in range(20):
        (use, destroy), is_used = made(node), threading.Event()
        user = threading.Thread(target=use_up, args=(use, is_used), daemon=True)
        user.start()
        assert is_used.wait(10)
        destroy()
        user.join(10)
    assert [type(error) for error in ends] == [InvalidHandle] * 20


@pytest.mark.parametrize("message", [String, SetBool.Request, SetBool.Response])
def test_sending_is_finished_before_its_end(
    message: type, make_node: Callable, spin_until: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another thread destroys between the look and the sending ends no executor."""
    node, heard, went = make_node(), [], []
    node.create_subscription(String, "topic", heard.append, 10)
    publisher = node.create_publisher(String, "topic", 10)
    service = node.create_service(SetBool, "set", lambda request, response: response)
    client = node.create_client(SetBool, "set")
    assert spin_until(lambda: client.service_is_ready() and publisher.get_subscription_count())
    destroy = {
        String: partial(node.destroy_publisher, publisher),
        SetBool.Request: partial(node.destroy_client, client),
        SetBool.Response: partial(node.destroy_service, service),
    }[message]

    def destroying(sent: Any) -> bytes:
        if isinstance(sent, message):
            went.append(destroy())
        return serialize(sent)

    for module in (publisher_module, service_endpoint):
        monkeypatch.setattr(module, "serialize", destroying)
    answer = client.call_async(SetBool.Request())
    publisher.publish(String(data="word"))
    assert spin_until(lambda: heard and went)
    assert message is SetBool.Request or spin_until(answer.done)


def test_goal_whose_server_goes_takes_what_it_is_told(make_node: Callable, spin_until: Callable) -> None:
    node = make_node()
    handles: list[Any] = []
    server = ActionServer(node, Fibonacci, "count", lambda goal: None, handle_accepted_callback=handles.append)
    client = ActionClient(node, Fibonacci, "count")
    assert spin_until(client.server_is_ready)
    client.send_goal_async(Fibonacci.Goal())
    assert spin_until(lambda: handles)
    failures, is_told = [], threading.Event()

    def tell() -> None:
        try:
            for _ in range(2000):
                handles[0].publish_feedback(Fibonacci.Feedback())
                is_told.set()
            handles[0].abort()
        except Exception as error:
            failures.append(error)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    assert is_told.wait(10)
    server.destroy()
    teller.join(30)
    assert not teller.is_alive()
    assert failures == []
