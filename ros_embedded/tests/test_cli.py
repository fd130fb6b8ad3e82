"""The command line against a node in another process."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from ros_embedded.cli.main import main

PEER = """
import time

import ros_embedded
ros_embedded.activate()
import rclpy
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.action import ActionServer
from rclpy.node import Node
from rclpy.qos import QoSProfile, DurabilityPolicy
from lifecycle_msgs.srv import GetState
from std_msgs.msg import String

rclpy.init()
node = Node("peer", namespace="flat")
node.declare_parameter("speed", 1.5)
hidden = node.create_publisher(String, "_inner/chatter", 10)
chatter = node.create_publisher(String, "chatter", 10)
latched = node.create_publisher(String, "latched", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
latched.publish(String(data="early"))
node.create_subscription(String, "listen", lambda message: None, 10)


def add(request, response):
    response.sum = request.a + request.b
    return response


def count(handle):
    for _ in range(10):  # a client whose subscription is matched late misses the first ones, as with any action server
        handle.publish_feedback(Fibonacci.Feedback(sequence=[0, 1]))
        time.sleep(0.05)
    handle.succeed()
    return Fibonacci.Result(sequence=[0, 1, 1, handle.request.order])


node.create_service(AddTwoInts, "add", add)
server = ActionServer(node, Fibonacci, "count", count)
node.create_timer(0.05, lambda: chatter.publish(String(data="hello")))
managed = LifecycleNode("managed")
node.create_client(GetState, "/absent/get_state")
executor = SingleThreadedExecutor()
executor.add_node(node)
executor.add_node(managed)
print("READY", flush=True)
executor.spin()
"""


@pytest.fixture(scope="module")
def peer() -> Iterator[subprocess.Popen[str]]:
    """A node with one of everything, on these tests' domain."""
    process = subprocess.Popen(
        [sys.executable, "-c", PEER], stdout=subprocess.PIPE, text=True, env=os.environ | {"ROS_EMBEDDED": "1"}
    )
    assert process.stdout.readline() == "READY\n"
    yield process
    process.terminate()
    process.wait(timeout=10)
    process.stdout.close()


@pytest.fixture
def run(peer: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command; returns its status, output and errors."""

    def command(*words: str) -> tuple[int, str, str]:
        status = main(words)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


def test_topics_are_listed_with_types(run):
    lines = run("topic", "list", "-t")[1].splitlines()
    assert "/flat/chatter [std_msgs/msg/String]" in lines
    assert "/parameter_events [rcl_interfaces/msg/ParameterEvent]" in lines
    assert not any("_action" in line for line in lines)
    assert "_ros2cli" not in run("service", "list", "--include-hidden-services")[1]


def test_topic_info_tells_endpoints_and_hash(run):
    out = run("topic", "info", "-v", "/flat/latched")[1]
    assert out.startswith("Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: peer\nNode namespace: /flat\n")
    assert "Topic type hash: RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18" in out
    assert "Durability: TRANSIENT_LOCAL" in out
    assert run("topic", "info", "/nothing")[::2] == (1, "Unknown topic '/nothing'\n")


def test_echo_shows_a_message_in_yaml(run):
    assert run("topic", "echo", "--once", "/flat/chatter")[:2] == (0, "data: hello\n---\n")
    assert run("topic", "echo", "--once", "--field", "data", "/flat/chatter")[1] == "hello\n---\n"


def test_echo_takes_the_durability_that_is_offered(run):
    assert run("topic", "echo", "--once", "--timeout", "5", "/flat/latched")[1] == "data: early\n---\n"


def test_interrupt_ends_a_command_that_a_shell_put_into_the_background(peer):
    command = [sys.executable, "-u", "-m", "ros_embedded", "topic", "echo", "/flat/chatter"]
    ignore = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv({command[0]!r}, {command!r})"
    with subprocess.Popen([sys.executable, "-c", ignore], stdout=subprocess.PIPE, text=True) as process:
        assert any(shown.startswith("data: hello") for shown in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130


def test_reader_that_goes_away_ends_a_command_in_silence(peer):
    command = [sys.executable, "-m", "ros_embedded", "topic", "echo", "/flat/chatter"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "data: hello\n"
        process.stdout.close()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


def test_values_that_do_not_fit_are_told(run):
    words = ("service", "call", "/flat/add", "example_interfaces/srv/AddTwoInts")
    status, _, err = run(*words, "{wrong: 1}")
    assert status == 1
    assert "Failed to populate field" in err
    assert "Failed to populate field" in run(*words, "{a: [")[2]
    assert "no definition of std_srvs/srv/Nothing" in run("service", "call", "/x", "std_srvs/srv/Nothing")[2]


def test_service_is_found_and_called(run):
    assert "/flat/add [example_interfaces/srv/AddTwoInts]" in run("service", "list", "-t")[1].splitlines()
    out = run("service", "call", "/flat/add", "example_interfaces/srv/AddTwoInts", "{a: 2, b: 5}")[1]
    assert out.endswith("response:\nexample_interfaces.srv.AddTwoInts_Response(sum=7)\n\n")


def test_parameters_are_listed_read_and_changed(run):
    assert "  speed\n" in run("param", "list", "/flat/peer")[1]
    assert run("param", "get", "/flat/peer", "speed")[1] == "Double value is: 1.5\n"
    assert run("param", "set", "/flat/peer", "speed", "2.5")[1] == "Set parameter successful\n"
    status, _, err = run("param", "set", "/flat/peer", "speed", "fast")
    assert status == 1
    assert err.startswith("Setting parameter failed: ")
    assert "is no value of a parameter" in run("param", "set", "/flat/peer", "speed", "9" * 20)[2]
    assert run("param", "get", "/flat/peer", "speed")[1] == "Double value is: 2.5\n"
    assert run("param", "get", "/nobody", "speed")[::2] == (1, "Unable to find node '/nobody'\n")


def test_goal_is_sent_with_feedback(run):
    assert run("action", "list", "-t")[1] == "/flat/count [example_interfaces/action/Fibonacci]\n"
    words = ("action", "send_goal", "-f", "/flat/count", "example_interfaces/action/Fibonacci", "{order: 5}")
    status, out, _ = run(*words)
    assert status == 0
    assert "Feedback:\n    sequence:\n- 0\n- 1\n" in out
    assert out.endswith("Result:\n    sequence:\n- 0\n- 1\n- 1\n- 5\n\nGoal finished with status: SUCCEEDED\n")


def test_managed_node_is_asked_and_taken_through_its_states(run):
    assert run("lifecycle", "nodes")[1] == "/managed\n"
    assert run("lifecycle", "get", "/managed")[1] == "unconfigured [1]\n"
    assert run("lifecycle", "set", "/managed", "configure")[1] == "Transitioning successful\n"
    assert run("lifecycle", "get")[1] == "/managed: inactive [2]\n"
    status, _, err = run("lifecycle", "set", "/managed", "fly")
    assert status == 1
    assert err.startswith("Unknown transition requested, available ones are:\n- ")


def test_node_file_runs_unchanged(tmp_path):
    node_file = tmp_path / "ordinary_node.py"
    node_file.write_text(
        "import sys\nimport rclpy\nfrom rclpy.node import Node\nimport beside\n"
        "def main():\n    rclpy.init(args=sys.argv)\n    node = Node('plain')\n"
        "    node.declare_parameter('size', 1)\n"
        "    print(node.get_fully_qualified_name(), node.get_parameter('size').value, beside.WORD, sys.argv[1])\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    (tmp_path / "beside.py").write_text("WORD = 'found'\n")
    words = ["own", "--ros-args", "-r", "__ns:=/flat", "-p", "size:=3"]
    done = subprocess.run(
        [sys.executable, "-m", "ros_embedded", "run", str(node_file), *words],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "/flat/plain 3 found own\n", done.stderr


def test_executable_that_is_not_installed_is_told(capsys):
    assert main(["run", "no_package", "no_executable"]) == 1
    assert "executable 'no_executable' of package 'no_package' not found" in capsys.readouterr().err
    assert main(["run", "no_file.py"]) == 1
