"""kill -9 at random moments under load: nothing acknowledged is lost. `memory-node bench store` does it 200 times."""

from benchmarks.store import kill_repeatedly, soak


def test_killed_writer_loses_nothing_acknowledged(tmp_path):
    toll = kill_repeatedly(tmp_path / "kill.db", kills=5, objects=300, seed=7)
    assert toll.acknowledged > 0
    assert toll.lost == 0


def test_resident_memory_stays_level_over_simulated_hours(tmp_path):
    row = soak(tmp_path / "soak.db", hours=0.5, seed=1)
    assert row["updates"] == 9_030
    assert row["growth"] < 0.1
