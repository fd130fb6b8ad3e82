"""An agent commands the demo's robot: the real planner, memory and home, by the line that the demo prints."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
pytest.importorskip("fastapi")
pytest.importorskip("open3d", reason="the demo's camera needs Open3D")

from agent_server import told, with_client
from mcp import Client, MCPError, StdioServerParameters

# Of a client that gives up before the robot has finished.
IMPATIENT_S = 0.2
WITHIN_S = 300.0


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[StdioServerParameters]:
    """Yield what starts the server that the demo names, with leave to act."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["demo", "--headless", "--memory", "full", "--inspect", str(port), "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "memory_node.cli", *words, "--instruction", "where is the bowl?"]
    with (tmp_path / "demo.log").open("w") as log:
        demo = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + WITHIN_S
        while "stays until Ctrl-C" not in (told := (tmp_path / "demo.log").read_text()):
            assert demo.poll() is None, told
            assert time.monotonic() < deadline, told
            time.sleep(0.2)
        printed = re.search(r'"robot_memory": (\{.*\})', told)
        line = json.loads(printed[1])
        assert line["command"] == "memory-node"
        words = ["-m", "memory_node.cli", *line["args"], "--act"]
        yield StdioServerParameters(command=sys.executable, args=words, env={**os.environ})
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait(60.0)


async def until_it_moves(client: Client, instruction: str) -> Any:
    """Begin an instruction; return how far it is once a skill has begun."""
    state = await told(client, "carry_out", instruction=instruction)
    assert (state["state"], state["step"]) == ("running", 0)
    while state["state"] == "running" and not state["skill"]:
        state = await told(client, "task", task_id=state["task_id"], wait_s=0.1)
    return state


async def command(client: Client) -> None:
    going = await until_it_moves(client, "wash an apple and put it in the bowl")
    assert (going["state"], "Apple" in going["skill"]) == ("running", True), going
    assert going["plan"]
    task_id = going["task_id"]
    with pytest.raises(MCPError, match=r"(?i)timed out"):
        await client.call_tool("task", {"task_id": task_id, "wait_s": 30.0}, read_timeout_seconds=IMPATIENT_S)
    ended = going
    while ended["state"] == "running":
        ended = await told(client, "task", task_id=task_id, wait_s=10.0)
    assert (ended["state"], ended["message"]) == ("done", "")
    assert ended["step"] >= 4
    washed = await told(client, "ask_memory", question="did you wash the apple?")
    assert washed["answer"].startswith("Yes"), washed
    assert await told(client, "task", task_id=task_id) == ended
    (episode, *_) = (await told(client, "episodes"))["episodes"]
    assert (episode["instruction"], episode["success"]) == ("wash an apple and put it in the bowl", True)


@pytest.mark.timeout(900)
def test_agent_commands_the_robot_of_the_demo(agent: StdioServerParameters) -> None:
    with_client(agent, command, WITHIN_S)
