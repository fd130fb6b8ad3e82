"""A process is told from one that ended, one that was stopped, one elsewhere, and one that took its number."""

import os
import signal
import subprocess
import sys

import pytest

from memory_node.nodes.process_identity import goes_on, identity_of


def test_own_process_goes_on() -> None:
    assert goes_on(identity_of(os.getpid())) is True


def test_process_goes_on_until_it_is_stopped_or_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        name = identity_of(process.pid)
        try:
            assert goes_on(name) is True
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            assert goes_on(name) is None
        finally:
            process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert goes_on(name) is False, "nobody has asked for its exit status yet"
    assert goes_on(name) is False


def test_later_process_of_the_same_number_is_another_one() -> None:
    space, number, started = identity_of(os.getpid()).split()
    assert goes_on(f"{space} {number} {int(started) + 1}") is False


@pytest.mark.parametrize(
    "name",
    ["", "x", "1", "../../etc/passwd", "00000000-0000-0000-0000-000000000000:1 1 1", "{space} -1 1", "{space} 0 1"],
)
def test_of_a_process_elsewhere_or_a_name_that_is_none_nothing_is_said(name: str) -> None:
    assert goes_on(name.format(space=identity_of(os.getpid()).split()[0])) is None


def test_number_that_no_process_has_is_gone() -> None:
    assert goes_on(f"{identity_of(os.getpid()).split()[0]} 999999999 1") is False
