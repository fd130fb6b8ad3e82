"""What was acknowledged stays, whoever is killed and whoever else opens the file."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from benchmarks.store import kill_repeatedly, soak


def test_killed_writer_loses_nothing_acknowledged(tmp_path):
    toll = kill_repeatedly(tmp_path / "kill.db", kills=5, objects=300, seed=7)
    assert toll.acknowledged > 0
    assert toll.lost == 0


def test_resident_memory_stays_level_over_simulated_hours(tmp_path):
    row = soak(tmp_path / "soak.db", hours=0.5, seed=1)
    assert row["updates"] == 9_030
    assert row["growth"] < 0.1


_MEMORY = """
import os, signal, sys
from memory_node.domain.step import EpisodeSummary
from memory_node.store.config import StoreConfig
from memory_node.store.store import open_store
from memory_node.store.forget_plan import ForgetRequest
store = open_store(sys.argv[1], "r1", config=StoreConfig(journal_mib=1.0))
store.append([EpisodeSummary("before", "bring it", "pick", 1)]).wait(60.0)
{work}
print("ready", flush=True)
sys.stdin.readline()
store.append([EpisodeSummary("after", "bring it", "pick", 2)]).wait(60.0)
os.kill(os.getpid(), signal.SIGKILL)
"""
_WORK = {
    "nothing": "",
    "more connections": "engine = store._engine\nwith engine.connect() as one, engine.connect() as two: pass",
    "forgetting": "store.forget(ForgetRequest(from_ns=1, until_ns=1))",
    "a backup": "from pathlib import Path\nstore.backup(Path(sys.argv[1] + '.backup'))",
    "an emptied log": "from memory_node.store.keeper import empty_log\nfrom pathlib import Path\n"
    "assert empty_log(Path(sys.argv[1]))",
}


@pytest.mark.parametrize("work", _WORK)
def test_nothing_is_lost_when_another_program_closes_the_file(work, open_at, tmp_path):
    path = str(tmp_path / "memory.db")
    command = [sys.executable, "-c", _MEMORY.format(work=_WORK[work]), path]
    memory = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert memory.stdout.readline() == "ready\n"
    with closing(sqlite3.connect(path)) as visitor:
        visitor.execute("SELECT count(*) FROM episodes").fetchone()
    memory.communicate("\n", timeout=100)
    assert "after" in {episode.id for episode in open_at(path).episodes()}
