"""Freed memory goes back to the system."""

import os
import platform
from pathlib import Path

import pytest

from memory_node.nodes.run import give_back


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="gives back what glibc keeps")
def test_freed_blocks_between_others_go_back_to_the_system() -> None:
    blocks = [bytes(50_000) for _ in range(4_000)]
    for number in range(len(blocks)):
        if number % 10:
            blocks[number] = b""
    before_mb = _resident_mb()
    give_back()
    assert _resident_mb() < before_mb - 100.0
