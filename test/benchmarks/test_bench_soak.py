"""`bench soak`: growth is judged, and a map that SLAM let grow and shrink is what it was."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import soak
from memory_node.cli import main
from memory_node.domain.geometry import Pose
from memory_node.scene_graph.free_space import OccupancyMap


def use(resident_mb: float, threads: int = 50, descriptors: int = 100) -> soak.Use:
    return soak.Use((resident_mb - 400.0, 300.0, 100.0), threads, descriptors)


def test_flat_means_within_two_percent_in_everything() -> None:
    before = use(1000.0)
    assert use(1019.0, 51, 102).is_flat_since(before)
    assert not use(1021.0).is_flat_since(before)
    assert not use(900.0, 52).is_flat_since(before)
    assert not use(900.0, 50, 103).is_flat_since(before)


def test_least_use_is_that_of_each_process_alone() -> None:
    uses = [soak.Use((200.0, 310.0, 100.0), 50, 100), soak.Use((210.0, 300.0, 101.0), 51, 99)]
    assert soak.Use.least(uses) == soak.Use((200.0, 300.0, 100.0), 50, 99)


def test_map_grows_by_a_metre_that_nobody_has_seen_and_shrinks_again() -> None:
    published: list[OccupancyMap] = []
    home = OccupancyMap(np.zeros((40, 60), np.int8), 0.1, Pose())
    client: Any = SimpleNamespace(grid=home, publish_map=published.append)
    soak._change_map(client, grown=True)
    client.grid = published[-1]
    soak._change_map(client, grown=True)
    soak._change_map(client, grown=False)
    assert [grid.cells.shape for grid in published] == [(40, 70), (40, 70), (40, 60)]
    assert (published[0].cells[:, 60:] == -1).all()


class Client:
    """Takes ten seconds for each instruction. now_s: the time that has passed."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.told: list[str] = []

    def run(self, instruction: str, *_: object) -> None:
        self.told.append(instruction)
        self.now_s += 10.0


def test_robot_works_in_turn_and_rests_before_it_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    client: Any = Client()
    changes: list[bool] = []
    clock = SimpleNamespace(monotonic=lambda: client.now_s, sleep=lambda s: setattr(client, "now_s", client.now_s + s))
    processes: Any = SimpleNamespace(check=lambda: None)
    monkeypatch.setattr(soak, "time", clock)
    monkeypatch.setattr(soak, "_change_map", lambda client, grown: changes.append(grown))
    monkeypatch.setattr(soak.Use, "of", lambda processes: use(client.now_s))
    robot = soak._Robot(client, processes, lambda seconds: None)
    robot.work(95.0)
    assert client.told == [*soak.INSTRUCTIONS, *soak.INSTRUCTIONS[:4]]
    assert changes == [False, True]
    assert robot.rest() == use(101.0)
    assert client.now_s == 100.0 + soak.REST_S
    robot.work(10.0)
    assert (robot.worked_s, robot.instructions) == (110.0, 11)


def test_senseless_minutes_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "soak", "--minutes", "0"]) == 1
    assert "--minutes" in capsys.readouterr().err


def test_row_and_exit_status_come_from_the_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "_work", lambda args, folder: (7, use(1000.0), use(1100.0)))
    assert main(["bench", "soak", "--minutes", "20", "--json"]) == 1
    assert '"instructions": 7, "rss_start_mb": 1000.0, "rss_end_mb": 1100.0, "threads": 50' in capsys.readouterr().out
