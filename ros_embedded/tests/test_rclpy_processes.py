"""Nodes in other processes: found, heard, missed when they end, and ended cleanly by signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from std_msgs.msg import String
from std_srvs.srv import Trigger

PEER = """
import os, sys, ros_embedded
ros_embedded.activate()
import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import Trigger

def answer(request, response):
    response.success, response.message = True, str(os.getpid())
    return response

rclpy.init(args=sys.argv)
node = rclpy.create_node("peer")
node.declare_parameter("text", "hello")
publisher = node.create_publisher(String, "chatter", 10)
node.create_timer(0.05, lambda: publisher.publish(String(data=node.get_parameter("text").value)))
node.create_service(Trigger, "who", answer)
try:
    rclpy.spin(node, MultiThreadedExecutor(2) if "threads" in sys.argv else None)
except KeyboardInterrupt:
    print("interrupted")
except ExternalShutdownException:
    print("shut down")
finally:
    node.destroy_node()
    rclpy.try_shutdown()
print("clean")
"""


@pytest.fixture
def start_peer() -> Iterator[Callable[..., subprocess.Popen]]:
    peers: list[subprocess.Popen] = []

    def start(*arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-c", PEER, *arguments]
        peers.append(
            subprocess.Popen(command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return peers[-1]

    yield start
    for peer in peers:
        peer.kill()
        peer.communicate()


def test_other_process_is_heard_and_answers(
    make_node: Callable, spin_until: Callable, start_peer: Callable, call: Callable
) -> None:
    peer = start_peer("--ros-args", "-p", "text:=from afar", "-r", "chatter:=news")
    node, received = make_node(), []
    node.create_subscription(String, "news", lambda message: received.append(message.data), 10)
    client = node.create_client(Trigger, "who")
    assert spin_until(lambda: received and client.service_is_ready(), timeout_s=20.0)
    assert (received[0], call(client, Trigger.Request()).message) == ("from afar", str(peer.pid))


@pytest.mark.parametrize(
    ("number", "argument", "outputs"),
    [
        (signal.SIGINT, "", {"interrupted\nclean\n"}),
        (signal.SIGTERM, "", {"shut down\nclean\n", "clean\n"}),  # spin raises only if the signal finds it asleep
        (signal.SIGTERM, "threads", {"clean\n"}),
    ],
)
def test_signal_ends_a_node_cleanly(
    make_node: Callable, spin_until: Callable, start_peer: Callable, number: int, argument: str, outputs: set[str]
) -> None:
    peer, node, received = start_peer(argument), make_node(), []
    node.create_subscription(String, "chatter", received.append, 10)
    assert spin_until(lambda: received, timeout_s=20.0)
    peer.send_signal(number)
    output, errors = peer.communicate(timeout=10.0)
    assert (peer.returncode, errors) == (0, "")
    assert output in outputs
    assert spin_until(lambda: "peer" not in node.get_node_names(), timeout_s=2.0)
    assert node.count_publishers("chatter") == 0


def test_service_lost_with_its_process_is_found_again(
    make_node: Callable, spin_until: Callable, start_peer: Callable, call: Callable
) -> None:
    first, node = start_peer(), make_node()
    client = node.create_client(Trigger, "who")
    assert spin_until(client.service_is_ready, timeout_s=20.0)
    first.terminate()
    assert spin_until(lambda: not client.service_is_ready(), timeout_s=5.0)
    second = start_peer()
    assert spin_until(client.service_is_ready, timeout_s=20.0)
    assert call(client, Trigger.Request()).message == str(second.pid)
