"""Experience over DDS: what a planner in another process is advised, and what it gets when memory is not there."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ros_peer import RosPeer

from memory_node.domain.advice import AdviceSource
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import StepRecord

PUT = SkillCall("PutObject", ("Egg", "Fridge"))


@pytest.fixture
def memory(tmp_path: Path, peer: RosPeer) -> Iterator[None]:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(peer.domain_id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    command = [sys.executable, "-m", "memory_node.nodes.run", "memory"]
    arguments = ["--ros-args", "-p", f"memory:database:={tmp_path / 'memory.db'}"]
    process = subprocess.Popen([*command, *arguments], env=environment)
    yield
    process.send_signal(signal.SIGINT)
    assert process.wait(20.0) == 0


def failed_put(episode_id: str) -> StepRecord:
    return StepRecord(episode_id, 0, PUT, False, FailureReason.CLOSED, 1_000_000_000, held_object="Egg")


def test_planner_in_another_process_is_advised_from_what_failed(peer: RosPeer, memory: object) -> None:
    from memory_node.nodes.experience_client import ExperienceClient

    client = ExperienceClient(peer.node, "memory", timeout_s=30.0)
    episode_id = client.start("put the egg away", "place")
    assert client.episode_id == episode_id != ""
    assert client.may_retry(1)
    assert not client.may_retry(3)
    client.record(failed_put(episode_id))
    (advice,) = client.advise(episode_id, PUT, ("Egg", "Fridge"))
    assert advice.source is AdviceSource.WORKING
    assert advice.before == (SkillCall("OpenObject", ("{receptacle}",)),)
    client.end(episode_id, None)
    assert client.advise(episode_id, PUT) == ()  # refused, and logged: the episode has ended


def test_planner_goes_on_without_a_memory_node(peer: RosPeer) -> None:
    from memory_node.nodes.experience_client import ExperienceClient

    client = ExperienceClient(peer.node, "memory", timeout_s=0.1)
    assert client.start("put the egg away") == ""
    assert client.advise("", PUT) == ()
    assert client.record(failed_put("")) == ()
    client.end("", True)
    assert not client.may_retry(1)
