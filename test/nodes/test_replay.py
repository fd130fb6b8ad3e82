"""A recording gives the same memory at any rate, through topics and from its file."""

import json
from pathlib import Path

import pytest
from free_domain import free_domain
from recorded_drive import play, recorded_drive, write_bag
from ros_peer import RosPeer, wait_until
from running_memory import counted, running_memory, worked_off

from memory_node.cli import main
from memory_node.nodes.qos import LATCHED

FRAMES = 16
SETTINGS = {
    "detections": "segment",
    "camera_reliability": "reliable",
    "expert.queue_size": 100,
    "expert.most_behind": 100,
    "use_sim_time": "true",
}


def replayed(folder: Path, rate: float) -> tuple[str, dict[str, int], int]:
    """Return the graph's hash, the counters and the number of objects after a replay into an empty memory."""
    qos = {"map": LATCHED, "/tf_static": LATCHED}
    peer = RosPeer(free_domain())  # a player of its own: what it latched goes with it
    try:
        with running_memory(peer.domain_id, str(folder / f"{rate}.db"), **SETTINGS) as node:
            play(recorded_drive(), lambda topic, message: peer.publish(topic, message, qos.get(topic, 100)), rate)
            wait_until(lambda: worked_off(node) >= FRAMES)
            return node.memory.hash(), counted(node), len(node.memory.scene().objects)
    finally:
        peer.close()


@pytest.mark.timeout(120)
def test_bag_gives_the_same_graph_at_any_rate_and_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow, slow_counts, objects = replayed(tmp_path, 1.0)
    fast, fast_counts, _ = replayed(tmp_path, 4.0)
    assert objects == 2
    assert (slow, slow_counts["used.frames"]) == (fast, fast_counts["used.frames"])
    # The silence of TF costs its three frames, whether TF comes back while they wait or long after.
    assert slow_counts["used.frames"] == FRAMES - 3
    write_bag(tmp_path / "bag", recorded_drive())
    assert main(["ingest", str(tmp_path / "bag"), "--json", "--out", str(tmp_path / "out")]) == 0
    memory = json.loads(capsys.readouterr().out)
    assert memory["skipped"] == {"tf_gap": 3}
    assert memory["hashes"][""] == slow
