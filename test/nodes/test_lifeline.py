"""A lifeline tells when the process that holds it has ended, to however many come to watch."""

import os
import resource
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from ros_peer import wait_until

from memory_node.nodes.lifeline import held_lifeline, is_cut, is_ending, watched_lifeline

_HOLDER = """
import os, resource, sys
from memory_node.nodes.lifeline import held_lifeline
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
line, memory = held_lifeline(sys.argv[1]), os.urandom(1 << 20) * 200
print("held", flush=True)
sys.stdin.readline()
os.abort()
"""


def test_those_who_left_give_their_places_to_others() -> None:
    held = held_lifeline(name := uuid.uuid4().hex)
    assert held is not None
    first = watched_lifeline(name)
    assert first is not None
    for _ in range(5):
        for _ in range(50):
            watcher = watched_lifeline(name)
            watcher.close()
        held.let_in()
    assert not is_cut(first)
    held.close()
    assert is_cut(first)
    assert watched_lifeline(name) is None
    first.close()


def test_where_no_socket_can_be_made_there_is_no_lifeline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: object) -> socket.socket:
        raise OSError("too many open files")

    monkeypatch.setattr(socket, "socket", refused)
    assert held_lifeline("one") is None
    assert watched_lifeline("one") is None


def test_who_let_go_of_a_lifeline_is_told_no_end() -> None:
    held = held_lifeline(name := uuid.uuid4().hex)
    watcher = watched_lifeline(name)
    watcher.close()
    assert not is_cut(watcher)
    assert not is_ending(watcher)
    held.close()


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="no core file may be written")
def test_process_that_writes_its_core_file_is_ending(tmp_path: Path) -> None:
    name = uuid.uuid4().hex
    paths = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        line = watched_lifeline(name)
        time.sleep(0.1)
        assert not is_ending(line)
        assert not is_cut(line)
        holder.stdin.write("\n")
        holder.stdin.flush()
        wait_until(lambda: is_ending(line) or is_cut(line), 0.5)
        holder.kill()
        wait_until(lambda: is_cut(line), 10.0)
        line.close()
    for core in tmp_path.iterdir():
        core.unlink()
