"""A process that ends leaves the graph soon, also where others were killed."""

import os
import subprocess
import sys

import pytest
from free_domain import free_domain

from memory_node.nodes.run import configure_cyclone

ENDS_WITHIN_S = 2.0
_LISTENER = """
from memory_node.nodes.run import activate_ros
activate_ros()
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
kept = [node.create_subscription(String, f"word_{i}", lambda message: None, 10) for i in range(4)]
rclpy.spin(node)
"""
_SPEAKER = """
import time
from memory_node.nodes.run import activate_ros, configure_cyclone
activate_ros()
configure_cyclone()
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("speaker")
speakers = [node.create_publisher(String, f"word_{i}", 10) for i in range(4)]
while any(speaker.get_subscription_count() == 0 for speaker in speakers):
    time.sleep(0.05)
print("heard", flush=True)
input()
for speaker in speakers:
    speaker.publish(String(data="a word"))
begun_s = time.monotonic()
node.destroy_node()
rclpy.shutdown()
print("left after", time.monotonic() - begun_s, flush=True)
"""


def test_node_leaves_soon_when_those_it_told_something_were_killed() -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(free_domain())}
    environment.pop("CYCLONEDDS_URI", None)
    listener = subprocess.Popen([sys.executable, "-c", _LISTENER], env=environment)
    speaker = subprocess.Popen(
        [sys.executable, "-c", _SPEAKER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert speaker.stdout is not None
        assert speaker.stdout.readline() == "heard\n"
        listener.kill()
        listener.wait(10.0)
        told, _ = speaker.communicate("\n", timeout=60.0)
        assert float(told.removeprefix("left after")) < ENDS_WITHIN_S
    finally:
        for process in (listener, speaker):
            process.kill()
            process.wait(10.0)


def test_what_the_user_says_of_cyclone_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CYCLONEDDS_URI", "file:///own.xml")
    configure_cyclone()
    configure_cyclone()
    ours, _, own = os.environ["CYCLONEDDS_URI"].rpartition(",")
    assert own == "file:///own.xml"
    assert ours.count("SocketReceiveBufferSize") == 1
