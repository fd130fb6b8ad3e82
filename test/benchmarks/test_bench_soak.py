"""`bench soak`: growth is judged, and a map that SLAM let grow and shrink is what it was."""

import pytest

from benchmarks import soak
from memory_node.cli import main


def use(resident_mb: float, threads: int = 50, descriptors: int = 100) -> soak.Use:
    return soak.Use((resident_mb - 400.0, 300.0, 100.0), threads, descriptors)


def test_flat_means_within_two_percent_in_everything() -> None:
    before = use(1000.0)
    assert use(1019.0, 51, 102).is_flat_since(before)
    assert not use(1021.0).is_flat_since(before)
    assert not use(900.0, 52).is_flat_since(before)
    assert not use(900.0, 50, 103).is_flat_since(before)


def test_senseless_minutes_are_refused(refusal_of) -> None:
    assert "--minutes" in refusal_of("soak", "--minutes", "0")


def test_row_and_exit_status_come_from_the_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "_work", lambda args, folder: (7, use(1000.0), use(1100.0)))
    assert main(["bench", "soak", "--minutes", "20", "--json"]) == 1
    assert '"instructions": 7, "rss_start_mb": 1000.0, "rss_end_mb": 1100.0, "threads": 50' in capsys.readouterr().out
