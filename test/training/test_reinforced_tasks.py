"""A compiler that is reinforced by what comes out right on a robot."""

import argparse
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")

import torch
from test_compiler_chain import Words, tiny
from test_robot_tasks import DAYS

from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.domain.errors import InvalidValueError
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.grpo import train as train_grpo
from training.grpo.learning import GrpoSchedule, reinforce
from training.grpo.models import TorchModels
from training.grpo.rollouts import RobotRollouts
from training.grpo.train import HeldOut
from training.robot_tasks import DaysOfLife, Played
from training.softmem.soft_memory import SoftMemory
from training.softmem.soft_pair import SoftPair


def test_days_of_life_reinforce_a_compiler(tmp_path: Path) -> None:
    torch.manual_seed(0)
    (tmp_path / "days.yaml").write_text(DAYS)
    tasks = DaysOfLife([tmp_path / "days.yaml"], None, CachingEmbedder(MiniLmEmbedder()), 0, 0)
    pair = SoftPair(tiny(0), tiny(1), SoftMemory(48, 48, tokens=0))
    rollouts = RobotRollouts(TorchModels(pair, Words(), 4), tasks, CompilerModelConfig(timeout_s=60.0))
    try:
        played = rollouts(0, 0, 1)
        assert played.reward == 0.5, "what cannot be used delivers nothing, and one of two steps is right without"
        assert len(played.decisions) > 2
        assert all(decision.written.tokens for decision in played.decisions)
        before = pair.compiler.lm_head.weight.clone()
        shifted = iter((0.0, 1.0))

        def play(task: int, number: int, seed: int) -> object:
            found = rollouts(task, number, seed)
            return type(found)(found.decisions, next(shifted))

        schedule = GrpoSchedule(updates=1, tasks=1, rollouts=2, rate=1e-3)
        (curve,) = reinforce(pair, play, 1, schedule, tmp_path / "grpo.pt")  # type: ignore[arg-type]
        assert curve.rewards == [0.5]
        assert not torch.equal(pair.compiler.lm_head.weight, before)
        assert HeldOut.played(rollouts, [0], None) == HeldOut(1, 0), "a day counts as won where all of it is right"
    finally:
        tasks.close()


class Nowhere:
    """No tasks at all."""

    names = texts = ("one",)

    def play(self, task: int, compiler: Compiler | None = None, lessons: object = ()) -> Played:
        return Played(0.0, 0, None)

    def close(self) -> None:
        pass


def test_latent_tokens_and_too_few_days_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser()
    train_grpo.add_arguments(parser)
    monkeypatch.setattr(train_grpo, "open_tasks", lambda *_: Nowhere())
    life = ["--on", "life", "--days", "d.yaml", "--out", str(tmp_path)]
    with pytest.raises(InvalidValueError, match="too few"):
        train_grpo.run(parser.parse_args([*life, "--held-out", "1"]))
    with pytest.raises(InvalidValueError, match="no latent tokens"):
        train_grpo.run(parser.parse_args([*life, "--soft", "soft.npz"]))
