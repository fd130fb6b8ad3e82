"""A camera at 30 Hz before a memory that is slower: no queue builds up, and what is skipped is counted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ros_peer import RosPeer, SimulatedCamera, show_until, wait_until
from running_memory import counted, running_memory

from memory_node.perception.pipeline import PerceptionPipeline

FRAME_NS = 33_333_333
FRAMES = 60


def test_memory_stays_a_few_frames_behind_a_faster_camera(
    peer: RosPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = PerceptionPipeline.observe
    begin_ns, newest_ns, late = 1000 * 1_000_000_000, 0, []

    def slow(self: PerceptionPipeline, stamp_ns: int, *given: Any, **more: Any) -> Any:
        if stamp_ns >= begin_ns:
            late.append((newest_ns - stamp_ns) / FRAME_NS)
            time.sleep(0.12)
        return observe(self, stamp_ns, *given, **more)

    monkeypatch.setattr(PerceptionPipeline, "observe", slow)
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), still_period_s=0.0) as node:
        camera = SimulatedCamera(peer)
        show_until(lambda: node.memory.scene().objects, camera)
        start_s = time.monotonic()
        for number in range(FRAMES):
            time.sleep(max(0.0, start_s + number * FRAME_NS * 1e-9 - time.monotonic()))
            newest_ns = begin_ns + number * FRAME_NS
            camera.show(newest_ns)
        wait_until(lambda: node.memory.scene().objects[0].last_seen_ns == newest_ns)
        # one that waits, one at work, and what is on its way
        assert max(late) < 1 + 4 + 6
        assert counted(node)["dropped.behind"] > FRAMES / 4
        assert not any(name.startswith("skipped.") for name in counted(node))
