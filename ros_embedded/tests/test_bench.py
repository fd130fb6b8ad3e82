"""The benchmark measures two processes on whatever rclpy there is."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ros_embedded.bench import BenchmarkError, measure

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])


@pytest.mark.parametrize("kind", ["image_640x480", "pose", "service", "action"])
def test_each_kind_is_measured(kind):
    row = measure(kind, seconds=0.5, domain=DOMAIN)
    assert row.kind == kind
    assert row.messages >= 5
    assert 0.0 < row.p50_ms <= row.p99_ms
    assert row.messages_per_s == 2 * row.messages
    assert row.cpu_percent > 0.0


def test_process_that_fails_is_an_error():
    with pytest.raises(BenchmarkError, match="pose could not be measured"):
        measure("pose", seconds=0.1, domain=100_000)


def test_rows_are_printed_as_json():
    words = ["bench", "--kinds", "pose", "--seconds", "0.3", "--domain", str(DOMAIN), "--json"]
    done = subprocess.run([sys.executable, "-m", "ros_embedded", *words], capture_output=True, text=True, timeout=60)
    (line,) = done.stdout.splitlines()
    assert list(json.loads(line)) == ["kind", "messages", "p50_ms", "p99_ms", "messages_per_s", "cpu_percent"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into Linux' /proc")
@pytest.mark.parametrize("delay_s", [0.1, 0.3, 0.5], ids="after {} s".format)
def test_interrupt_ends_both_processes_in_silence(delay_s):
    words = ["bench", "--kinds", "pose", "--seconds", "100", "--domain", str(DOMAIN)]
    command = [sys.executable, "-m", "ros_embedded", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as bench:
        listed = Path(f"/proc/{bench.pid}/task/{bench.pid}/children")
        while len(listed.read_text().split()) < 2:
            time.sleep(0.05)
        children = listed.read_text().split()
        time.sleep(delay_s)
        os.killpg(bench.pid, signal.SIGINT)
        _, errors = bench.communicate(timeout=60)
        assert (bench.returncode, errors) == (130, "")
        # A killed process is gone when it gets its turn again.
        deadline = time.monotonic() + 10.0
        while left := [child for child in children if Path(f"/proc/{child}").exists()]:
            assert time.monotonic() < deadline, left
            time.sleep(0.05)
