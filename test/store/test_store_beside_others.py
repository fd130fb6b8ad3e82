"""Other programs open the file of a running memory and close it again; what memory acknowledges afterwards stays."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from memory_node.store.held_files import held
from memory_node.store.sqlite_structure import header_faults

_MEMORY = """
import os, signal, sys
from memory_node.domain.errors import NotFoundError
from memory_node.domain.step import EpisodeSummary
from memory_node.store import StoreConfig, open_store
from memory_node.store.forget_request import ForgetRequest
store = open_store(sys.argv[1], "r1", config=StoreConfig(journal_mib=1.0))
store.append([EpisodeSummary("before", "bring it", "pick", 1)]).wait()
store.flush(10.0)
{work}
print("ready", flush=True)
sys.stdin.readline()
store.append([EpisodeSummary("after", "bring it", "pick", 2)]).wait()
store.flush(10.0)
os.kill(os.getpid(), signal.SIGKILL)
"""
_WORK = {
    "nothing": "",
    "more connections": "engine = store._engine\nwith engine.connect() as one, engine.connect() as two: pass",
    "forgetting": "store.forget(ForgetRequest(from_ns=1, until_ns=1))",
}


@pytest.mark.parametrize("work", _WORK)
def test_nothing_is_lost_when_another_program_closes_the_file(work, open_at, tmp_path):
    path = str(tmp_path / "memory.db")
    command = [sys.executable, "-c", _MEMORY.format(work=_WORK[work]), path]
    memory = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert memory.stdout.readline() == "ready\n"
    with closing(sqlite3.connect(path)) as visitor:
        visitor.execute("SELECT count(*) FROM episodes").fetchone()
    memory.communicate("\n", timeout=30)
    assert "after" in {episode.id for episode in open_at(path).episodes()}


def test_descriptor_stays_open_until_its_file_is_deleted(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(b"first")
    with held(path) as first:
        pass
    with held(path) as again:
        assert again == first
    path.unlink()
    with pytest.raises(FileNotFoundError), held(path):
        pass
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(first)


def test_looking_at_a_header_keeps_the_lock(tmp_path):
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("CREATE TABLE t (x)")
        assert list(header_faults(path)) == []
        owner.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        list(header_faults(path))
        _visit(path)
        assert path.with_name("memory.db-wal").exists()


def _visit(path):
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM t').fetchall(); c.close()"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=30)
