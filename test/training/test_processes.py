"""A run in two processes comes to the same as in one."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra learning")

import torch

HERE = Path(__file__).resolve().parent
# A linear model learns, tasks are carried out, a table of likelihoods is reinforced; the first process prints it all.
RUN = """
import json, sys
from pathlib import Path
import torch
from torch import nn
from training.adapters.learning import Schedule, learn
from training.adapters.processes import begin, from_first, is_first, portion, tell, together
from training.grpo import learning as grpo, rollouts as grpo_rollouts
from training.optimizer.executions import Execution, Executions
from training.adapters.writing import Written
from training.optimizer.executions import Rollout
from training.softmem.soft_memory import UNSAID, SoftMemory
from training.softmem.soft_pair import ReadReply

begin(seed=3, threads=1)
out = Path(sys.argv[1])
model = nn.Linear(4, 1)
examples = torch.randn(7, 4)
schedule = Schedule(epochs=2, rate=0.1, per_update=3, minutes=1.0)
losses = lambda model, one: (model(one) - one.sum()).square().mean()
*_, progress = learn(model, examples, schedule, out / "checkpoint.pt", losses)
carried_out = []
def run_all(executions):
    carried_out.extend(one.query for one in executions)
    return [Rollout(one.query % 2 == 0, one.query) for one in executions]
divided = Executions(lambda executions: together(run_all(portion(executions))))
rollouts = divided.rollouts([Execution(query, ()) for query in range(5)])

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.soft = nn.Parameter(torch.randn(3, 8)), SoftMemory(4, 4, 2)
    def read(self, prompt, reply, wording, unsaid=()):
        return ReadReply(self.table, None, None, self.soft(torch.ones(2, 4), torch.zeros(UNSAID)))
    def forget(self):
        pass
pair, drawn = Pair(), []
def play(task, number, seed):
    drawn.append(number)
    generator = torch.Generator().manual_seed(seed)
    reply = tuple(torch.randint(8, (3,), generator=generator).tolist())
    with torch.no_grad():
        soft = pair.read((), reply, ()).latent.sample(generator)
    decision = grpo_rollouts.Decision(Written((), reply, "", True), soft=soft.numpy())
    return grpo_rollouts.Rollout((decision,), float(reply[0] % 2 == 0))
*_, curve = grpo.reinforce(pair, play, 5, grpo.GrpoSchedule(2, 2, 3, 1e-2), out / "grpo.pt")
found = {
    "reinforced": pair.table.detach().flatten().tolist(),
    "rewards": curve.rewards,
    "drawn": together([len(drawn)]),
    "weights": model.weight.detach().flatten().tolist(),
    "losses": progress.losses,
    "rollouts": [(one.success, one.length) for one in rollouts],
    "carried out": together([len(carried_out)]),
    "whole": together([2 * item for item in portion(range(5))]),
    "first": from_first(lambda: is_first()),
}
tell("told")
if is_first():
    print(json.dumps(found))
"""


def run(processes: int, out: Path) -> tuple[dict[str, Any], str]:
    """Return what the first process found, and what all of them told."""
    out.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    several = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, str(out)],
            env={**os.environ, **several, "RANK": str(rank), "LOCAL_RANK": str(rank), "GLOO_SOCKET_IFNAME": "lo"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=HERE.parents[1],
        )
        for rank in range(processes)
    ]
    try:
        ended = [process.communicate(timeout=120.0) for process in started]
    finally:
        for process in started:
            process.kill()
    assert all(process.returncode == 0 for process in started), ended
    assert [bool(said) for said, _ in ended] == [True] + [False] * (processes - 1)
    return json.loads(ended[0][0]), "".join(told for _, told in ended)


def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    one, _ = run(1, tmp_path / "one")
    two, told = run(2, tmp_path / "two")
    assert two["weights"] == pytest.approx(one["weights"], abs=1e-5)
    assert [loss for _, loss in two["losses"]] == pytest.approx([loss for _, loss in one["losses"]], abs=1e-5)
    assert two["reinforced"] == pytest.approx(one["reinforced"], abs=1e-5)
    assert two["rewards"] == one["rewards"]
    assert 0.0 < sum(one["rewards"]) < 2.0  # groups of unlike ends, which teach
    assert (one["drawn"], two["drawn"]) == ([12], [6, 6])
    assert two["rollouts"] == one["rollouts"] == [[query % 2 == 0, query] for query in range(5)]
    assert (one["carried out"], two["carried out"]) == ([5], [3, 2])
    assert two["whole"] == [0, 2, 4, 6, 8]
    assert two["first"] is True
    assert told.count("told") == 1
    kept = [torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)["progress"] for name in ("one", "two")]
    assert kept[0]["taken"] == kept[1]["taken"] == 14
