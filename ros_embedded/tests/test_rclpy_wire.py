"""Our endpoints and payloads are those that a real ROS 2 was seen to use."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rclpy
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts

if not rclpy.__file__.endswith("ros_embedded/rclpy/__init__.py"):
    pytest.skip("the real rclpy is sourced", allow_module_level=True)

from rclpy.action import ActionClient, ActionServer
from rclpy.impl import cyclone
from rclpy.impl.service_endpoint import RequestId, with_header, without_header
from tf2_msgs.msg import TFMessage

from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

POLICIES = ("Reliability", "Durability", "History", "Deadline", "Lifespan", "Liveliness", "Userdata")
ID = re.compile(r"((?:service|client)id= )[0-9a-f.]+;")


@pytest.fixture
def wire(ros2_golden: Path) -> dict[str, Any]:
    return json.loads((ros2_golden / "wire.json").read_text())


def policies_of_recording(endpoint: dict[str, Any]) -> dict[str, Any]:
    text = {
        match[1]: match[2]
        for match in (re.match(r"Policy\.(\w+)(.*)", policy, re.DOTALL) for policy in endpoint["qos"])
    }

    def number(name: str, key: str) -> int:
        match = re.search(rf"{key}=(\d+)", text.get(name, ""))
        return int(match[1]) if match else cyclone.INFINITE

    return {
        "reliable": "Reliable" in text["Reliability"],
        "latched": "TransientLocal" in text["Durability"],
        "deadline": number("Deadline", "deadline"),
        "lifespan": number("Lifespan", "lifespan"),
        "lease": number("Liveliness", "lease_duration"),
        "automatic": "Automatic" in text["Liveliness"],
        "user_data": ID.sub(r"\1;", re.search(r"data=b'(.*)'", text["Userdata"])[1]),
    }


def policies_of_ours(endpoint: cyclone.Endpoint) -> dict[str, Any]:
    qos = endpoint.qos
    return {
        "reliable": qos.reliability == 1,
        "latched": qos.durability == 1,
        "deadline": qos.deadline,
        "lifespan": qos.lifespan,
        "lease": qos.lease_duration,
        "automatic": qos.liveliness == 0,
        "user_data": ID.sub(r"\1;", qos.user_data.decode()),
    }


def test_endpoints_are_those_of_a_real_node(wire: dict[str, Any], make_node: Callable) -> None:
    server, client = make_node("server", namespace="/robot"), make_node("client", namespace="/robot")
    server.create_service(AddTwoInts, "add", lambda request, response: response)
    client.create_client(AddTwoInts, "add")
    ActionServer(server, Fibonacci, "fib", lambda goal: Fibonacci.Result())
    ActionClient(client, Fibonacci, "fib")
    TransformBroadcaster(server)
    StaticTransformBroadcaster(server)
    graph = server.context.participant.graph
    ours = {
        (kind, endpoint.topic, endpoint.type_name): policies_of_ours(endpoint)
        for kind, is_writer in (("pub", True), ("sub", False))
        for endpoint in graph.endpoints(is_writer)
        if endpoint.participant_gid == server.context.participant.gid
    }
    recorded = {
        (e["kind"], e["topic"], e["type"]): policies_of_recording(e)
        for e in wire["endpoints"]
        if "get_type_description" not in e["topic"]  # not served here
    }
    assert set(ours) == set(recorded)
    assert ours == recorded


def payloads(wire: dict[str, Any], topic: str) -> list[bytes]:
    return [bytes.fromhex(text) for entry in wire["wire"] if entry["topic"] == topic for text in entry["payloads_hex"]]


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("rq/robot/addRequest", AddTwoInts.Request),
        ("rr/robot/addReply", AddTwoInts.Response),
        ("rq/robot/fib/_action/send_goalRequest", Fibonacci.Impl.SendGoalService.Request),
        ("rr/robot/fib/_action/send_goalReply", Fibonacci.Impl.SendGoalService.Response),
        ("rq/robot/fib/_action/get_resultRequest", Fibonacci.Impl.GetResultService.Request),
        ("rr/robot/fib/_action/get_resultReply", Fibonacci.Impl.GetResultService.Response),
    ],
)
def test_recorded_requests_and_replies_are_read_and_written_alike(wire: dict[str, Any], topic: str, kind: type) -> None:
    recorded = payloads(wire, topic)
    assert recorded
    for payload in recorded:
        request_id, body = without_header(payload)
        assert with_header(serialize(deserialize(body, kind)), request_id) == payload


def test_recorded_feedback_is_read_and_written_alike(wire: dict[str, Any]) -> None:
    for payload in payloads(wire, "rt/robot/fib/_action/feedback"):
        assert serialize(deserialize(payload, Fibonacci.Impl.FeedbackMessage)) == payload


def test_big_endian_header_is_understood() -> None:
    header = (7).to_bytes(8, "big") + (9).to_bytes(8, "big")
    assert without_header(b"\0\0\0\0" + header + b"body") == (RequestId(7, 9), b"\0\0\0\0body")
    with pytest.raises(ValueError, match="20 bytes"):
        without_header(b"\0\1\0\0short")


def test_only_loopback_is_used(make_node: Callable) -> None:
    node = make_node()
    publisher = node.create_publisher(TFMessage, "t", 1)
    publisher.publish(TFMessage())
    inodes = {os.readlink(f"/proc/self/fd/{fd}")[8:-1] for fd in os.listdir("/proc/self/fd") if is_socket(fd)}
    bound = [
        line.split()[1] for line in Path("/proc/net/udp").read_text().splitlines()[1:] if line.split()[9] in inodes
    ]
    loopback, any_address = "0100007F", "00000000"  # what sends is bound to loopback, what listens to discovery to any
    assert {address.split(":")[0] for address in bound} == {loopback, any_address}


def is_socket(fd: str) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}").startswith("socket:[")
    except OSError:  # closed meanwhile
        return False
