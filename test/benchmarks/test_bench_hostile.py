"""`bench hostile` attacks real nodes, and sees each kind of harm."""

import json
import os
import tempfile
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from benchmarks import hostile
from benchmarks.hostile_nodes import AttackedNodes
from benchmarks.hostile_peer import Call
from memory_node.cli import main


def test_memory_node_survives_a_short_attack_and_the_row_says_so(
    domain_id: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "hostile", "--nodes", "memory", "--minutes", "0.1", "--seed", "3", "--domain", str(domain_id)]
    status = main([*words, "--json"])
    told = capsys.readouterr()
    row = json.loads(told.out)
    harm = {name: row[name] for name in ("deaths", "restarts_failed", "threads_lost", "unanswered", "files_outside")}
    assert harm == dict.fromkeys(harm, 0), told.err
    assert row["messages"] >= 10
    assert status == 0


class Peer:
    """Sends nothing; kills a node with its third round instead."""

    def __init__(self, nodes: AttackedNodes) -> None:
        self._nodes = nodes
        self._rounds = 0
        self.last_sent = "/memory/remember everything"
        self.troubles = {"memory: threads": "the thread inputs has ended"}
        self.overdue = [Call("where a mug is", Future())]

    def meet(self, full_name: str, limit_s: float) -> None:
        pass

    def is_answered(self, full_name: str) -> bool:
        return self._rounds != 2

    def send(self, count: int) -> tuple[int, int]:
        self._rounds += 1
        if self._rounds == 3:
            os.kill(self._nodes._processes["memory"].pid, 9)
            self._nodes._processes["memory"].wait(10.0)
        return count, 0


def test_death_silence_and_lost_thread_are_counted(
    domain_id: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hostile, "_SETTLE_S", 0.0)
    with AttackedNodes(tmp_path, domain_id, ["memory"], {}) as nodes:
        peer: Any = Peer(nodes)
        attack = hostile.Attack(nodes, peer)
        attack.run(0.5)
    toll = attack.toll
    assert (toll.deaths, toll.unanswered, toll.threads_lost) == (1, 1, 1)
    assert not toll.is_none
    assert any("memory died; the last message was /memory/remember" in told for told in attack.told)
    assert "not answered in time: where a mug is: no answer so far" in attack.told


def test_file_where_none_belongs_is_seen(domain_id: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        nodes = AttackedNodes(Path(folder), domain_id, ["memory"], {})
        nodes.database.touch()
        nodes.log_of("memory").touch()
        state = nodes._home / "robot_memory"
        state.mkdir(exist_ok=True)
        for name in ("session.json", "installation.json"):
            (state / name).touch()
        assert list(nodes.strange_files()) == []
        strange = nodes.database.parents[1] / "outside"
        strange.touch()
        assert list(nodes.strange_files()) == [strange]


@pytest.mark.parametrize(("words", "why"), [(["--minutes", "0"], "--minutes"), (["--domain", "400"], "--domain")])
def test_senseless_options_are_refused(words: list[str], why: str, refusal_of) -> None:
    assert why in refusal_of("hostile", *words)
