"""Node tests run on the real rclpy where it is sourced, on ros_embedded elsewhere; each on a domain of its own."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from free_domain import domains_given_back, free_domain
from refusal import refusals
from ros_peer import RosPeer, wait_until
from running_memory import running_memory

from memory_node.domain.skill import SkillFailure
from memory_node.nodes.run import activate_ros

if TYPE_CHECKING:
    from running_bridge import Caller
    from skill_robot import SimulatedRobot

activate_ros()

HAS_OPEN3D = importlib.util.find_spec("open3d") is not None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Skip what shows pictures of the simulated home where Open3D is not installed; a process of ours says so, too."""
    outcome: Any = yield
    report = outcome.get_result()
    told = f"{report.longrepr}{report.capstdout}{report.capstderr}"
    if report.failed and not HAS_OPEN3D and "pictures of the home need Open3D" in told:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: needs Open3D (scripts/install_libraries demo)")


@pytest.fixture(scope="module", autouse=True)
def _no_participants_left(domain_id: int) -> Iterator[None]:
    """Collect nodes in reference cycles: the real rclpy leaves their DDS participants at work until then.

    The domains that the module took are given back; there are 101, and this process's own (domain_id) is taken before.
    """
    with domains_given_back():
        yield
        gc.collect()


@pytest.fixture
def peer(domain_id: int) -> Iterator[RosPeer]:
    made = RosPeer(domain_id)
    yield made
    made.close()


@pytest.fixture
def own_peer() -> Iterator[RosPeer]:
    """A peer on a domain where nothing else runs."""
    made = RosPeer(free_domain())
    yield made
    made.close()


@pytest.fixture
def memory(tmp_path: Path, peer: RosPeer) -> Iterator[Any]:
    """Run a memory node in this process, on the peer's domain."""
    with running_memory(peer.domain_id, str(tmp_path / "memory.db")) as node:
        yield node


@pytest.fixture
def robot(bridge: tuple[RosPeer, SimulatedRobot, Any]) -> SimulatedRobot:
    """The robot of a module's bridge, back where it begins, with empty hands."""
    _, made, node = bridge
    made.reset()
    node._hand.release()

    def is_back() -> bool:
        with contextlib.suppress(SkillFailure):  # no transform has come yet
            return bool(np.linalg.norm(node._performer.parts.robot_pose().position) < 1e-6)
        return False

    wait_until(is_back)
    return made


@pytest.fixture
def call(bridge: tuple[RosPeer, SimulatedRobot, Any], robot: SimulatedRobot) -> Iterator[Caller]:
    """Who calls the skills of a module's bridge."""
    from running_bridge import Caller  # once rclpy can be imported

    made = Caller(bridge[0])
    yield made
    made.close()


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Return what starts a node that cannot start, and gives what it says: refused(node, *ros_arguments)."""
    with refusals(lambda: capfd.readouterr().err) as refused_:
        yield refused_
