"""No two programs of ours on a machine take the same ROS domain."""

import importlib.util
import subprocess
import sys

import pytest
from free_domain import domains_given_back, free_domain

from memory_node.cli import main
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes import unused_domain as module
from memory_node.nodes.unused_domain import unused_domain

_TAKES_ONE = """
from memory_node.nodes import unused_domain
unused_domain._DOMAINS = ({0}, {0})
unused_domain.unused_domain()
"""
_TAKES = "from memory_node.nodes.unused_domain import unused_domain; print(unused_domain(), flush=True); input()"


def test_a_domain_is_given_once_to_processes_and_tests() -> None:
    other = subprocess.Popen([sys.executable, "-c", _TAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdin is not None
    assert other.stdout is not None
    with other, other.stdin:
        theirs = int(other.stdout.readline())
        ours = [unused_domain(), free_domain(), unused_domain(), free_domain()]
        assert len({theirs, *ours}) == 5
        assert all(0 < number <= 101 for number in ours)


def test_a_domain_is_free_again_after_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _TAKES], input="\n", stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    number = int(ran.stdout)
    monkeypatch.setattr(module, "_DOMAINS", range(number, number - 1, -1))
    assert unused_domain() == number
    with pytest.raises(RobotMemoryError, match="no ROS domain"):
        unused_domain()


def test_a_domain_of_a_test_is_free_again_after_it() -> None:
    kept = free_domain()
    with domains_given_back():
        number = free_domain()
    ran = subprocess.run([sys.executable, "-c", _TAKES_ONE.format(number)], timeout=60)
    assert ran.returncode == 0
    ran = subprocess.run([sys.executable, "-c", _TAKES_ONE.format(kept)], stderr=subprocess.PIPE, timeout=60)
    assert b"no ROS domain" in ran.stderr


def _embedded_is_here() -> bool:
    """Return whether ros_embedded is installed; a checkout's folder of that name imports as an empty package."""
    return importlib.util.find_spec("ros_embedded.bench") is not None


@pytest.mark.parametrize("name", ["hostile", "soak", "ros"])
def test_a_benchmark_refuses_what_is_no_domain(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "ros" and not _embedded_is_here():
        pytest.skip("bench ros is ros_embedded's, which a robot does not need")
    assert main(["bench", name, "--domain", "9999"]) == 1
    assert "--domain: expected 0 to 101" in capsys.readouterr().err
