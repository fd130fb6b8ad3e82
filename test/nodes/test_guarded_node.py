"""What one callback raises must not take its node away, and must be told."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from rcl_interfaces.srv import GetParameters
from ros_peer import RosPeer, wait_until
from std_msgs.msg import String
from std_srvs.srv import Trigger

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.guarded_node import GuardedNode
from memory_node.nodes.run import NODES


@pytest.fixture
def node(peer: RosPeer) -> Iterator[Any]:
    rclpy.init(domain_id=peer.domain_id)
    made = GuardedNode("guarded")
    yield made
    made.destroy_node()
    rclpy.shutdown()


def spin_until(node: Any, condition: Any) -> None:
    def spun() -> bool:
        rclpy.spin_once(node, timeout_sec=0.05)
        return bool(condition())

    wait_until(spun)


def test_node_outlives_what_its_callbacks_raise_and_counts_it(peer: RosPeer, node: Any) -> None:
    heard: list[str] = []

    def on_text(msg: Any) -> None:
        heard.append(msg.data)
        raise ZeroDivisionError(msg.data)

    def on_time() -> None:
        heard.append("tick")
        raise KeyError("tick")

    def answer(request: Any, response: Any) -> Any:
        raise ValueError("no answer")

    node.create_subscription(String, "texts", on_text, 10)
    node.create_timer(0.02, on_time)
    node.create_service(Trigger, "broken", answer)
    for text in ("one", "two"):
        peer.publish("texts", String(data=text))
    client = peer.node.create_client(Trigger, "broken")
    assert client.wait_for_service(timeout_sec=10.0)
    asked = client.call_async(Trigger.Request())
    spin_until(node, lambda: asked.done() and {"one", "two"} <= set(heard) and heard.count("tick") > 2)
    assert asked.result().success is False
    figures = node.callbacks_diagnosis().figures
    assert figures["failed.texts"] == 2
    assert figures["failed.broken"] == 1
    assert figures["failed.timer on_time"] > 2
    assert "callbacks failed" in node.callbacks_diagnosis().message


def test_callback_that_wants_the_messages_info_gets_it(peer: RosPeer, node: Any) -> None:
    heard: list[tuple[str, Any]] = []
    node.create_subscription(String, "texts", lambda msg, info: heard.append((msg.data, info)), 10)
    peer.publish("texts", String(data="one"))
    spin_until(node, lambda: heard)
    assert heard[0][0] == "one"
    assert heard[0][1] is not None
    assert node.callbacks_diagnosis().message == "ok"


def test_parameter_services_answer_as_on_any_node(peer: RosPeer, node: Any) -> None:
    client = peer.node.create_client(GetParameters, "guarded/get_parameters")
    assert client.wait_for_service(timeout_sec=10.0)
    asked = client.call_async(GetParameters.Request(names=["use_sim_time"]))
    spin_until(node, asked.done)
    assert len(asked.result().values) == 1


@pytest.mark.parametrize("name", ["memory", "planner", "skills", "detector", "home"])
def test_node_that_could_not_be_made_can_be_destroyed(peer: RosPeer, name: str) -> None:
    """ROS's shutdown does so, from Kilted on."""
    module, class_name = NODES[name]
    kind = getattr(importlib.import_module(module), class_name)
    rclpy.init(args=["test", "--ros-args", "-p", "unheard_of:=1"], domain_id=peer.domain_id)
    try:
        node = kind.__new__(kind)
        with pytest.raises(RobotMemoryError, match="unheard_of"):
            node.__init__()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
