"""Processes of `bench store` end with the benchmark, however it ends."""

import subprocess
import sys
from pathlib import Path

from ros_peer import wait_until

_STARTS = """
import sys
from pathlib import Path
from benchmarks.store import _worker
path = Path(sys.argv[1])
print(_worker("write", path, 0, 50, log=path.with_suffix(".acknowledged")).pid, flush=True)
input()
"""


def test_writer_ends_with_a_killed_benchmark(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _STARTS, str(tmp_path / "kill.db")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as benchmark:
        writer = Path("/proc", benchmark.stdout.readline().strip())
        wait_until((tmp_path / "kill.acknowledged").read_bytes, 60.0)
        assert writer.exists()
        benchmark.kill()
        wait_until(lambda: not writer.exists(), 10.0)
