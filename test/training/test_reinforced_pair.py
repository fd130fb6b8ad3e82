"""A pair of the embedded model that plays by llama.cpp: what it says, and what its likelihoods are taken among."""

import copy
import re
from pathlib import Path

import numpy as np
import pytest

from memory_node.context.soft_memory import UNSAID
from memory_node.llm.chat import JsonForm, Message, ModelMissingError
from memory_node.llm.config import ModelConfig

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")

import torch

from training.adapters.adapter import apart, free_weights, inner, interleaved, load_adapter, save_adapter, write_adapter
from training.adapters.base_model import open_base
from training.grpo.models import LlamaModels
from training.grpo.rollouts import Decisions, DrawnSoftMemory
from training.optimizer.policy import Policy
from training.softmem.soft_memory import SoftMemory
from training.softmem.soft_pair import SoftPair

CONFIG = ModelConfig(backend="llama", threads=1, timeout_s=100.0, max_reply_tokens=20)
ASKED = [Message("user", "Is the mug clean?")]
FORM = JsonForm({"enum": ["clean", "dirty"]})


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> LlamaModels:
    try:
        base = open_base("", 1)
    except ModelMissingError as missing:
        pytest.skip(str(missing))
    folder: Path = tmp_path_factory.mktemp("pair")
    torch.manual_seed(0)
    compiler, executor = base.adapted(2), base.adapted(2)
    with torch.no_grad():
        for weight in free_weights(compiler).values():
            weight.copy_(0.02 * torch.randn(weight.shape))
    save_adapter(executor, folder / "executor.gguf")
    unknown = inner(compiler).get_input_embeddings().weight[0]
    pair = SoftPair(compiler, executor, SoftMemory(576, 576, 3, unknown=unknown), through_prompt=False)
    return LlamaModels(pair, CONFIG, folder / "executor.gguf")


def test_adapter_is_read_back_as_it_was_written(models: LlamaModels, tmp_path: Path) -> None:
    other = copy.deepcopy(models.pair.compiler)
    with torch.no_grad():
        for weight in free_weights(other).values():
            weight.zero_()
    save_adapter(models.pair.compiler, tmp_path / "compiler.gguf")
    load_adapter(other, tmp_path / "compiler.gguf")
    for name, weight in free_weights(models.pair.compiler).items():
        assert torch.allclose(free_weights(other)[name], weight, atol=1e-3), name
    write_adapter({"layers.0.mlp.up_proj.lora_A": np.zeros((4, 576), np.float32)}, 9, 8.0, tmp_path / "small.gguf")
    with pytest.raises(ValueError, match="--rank"):
        load_adapter(other, tmp_path / "small.gguf")
    (tmp_path / "none.gguf").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no GGUF file"):
        load_adapter(other, tmp_path / "none.gguf")
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    assert np.array_equal(apart(interleaved(rows, 3), 3), rows)


def test_what_is_drawn_is_what_torch_learns_from(models: LlamaModels) -> None:
    decisions = Decisions()
    model = models.compiler(1.0, 7, decisions)
    reply = model.reply(ASKED, form=FORM)
    assert reply.text in ('"clean"', '"dirty"')
    soft = DrawnSoftMemory.of(models.soft, np.random.default_rng(0), decisions.add_soft)
    states = model.states(ASKED, reply.text, "It is clean.", soft.placeholders)
    unsaid = np.linspace(-1.0, 1.0, UNSAID, dtype=np.float32)
    latent = soft(states, unsaid)
    (decision,) = decisions.made
    assert decision.soft is not None
    assert np.array_equal(decision.soft, latent)
    assert decision.unsaid == pytest.approx(unsaid)
    assert len(decision.wording) == len(soft.placeholders)
    read = models.pair.read(decision.written.prompt, decision.written.tokens, decision.wording)
    # llama.cpp computes with 8-bit weights, torch with 32-bit ones.
    close = torch.nn.functional.cosine_similarity(read.behind.detach(), torch.tensor(states), dim=-1)
    assert float(close.min()) > 0.98
    assert not np.allclose(latent, models.soft(states, unsaid)), "it was drawn"
    again = models.compiler(1.0, 7, Decisions()).reply(ASKED, form=FORM)
    assert again.text == reply.text, "the same seed says the same"


def test_replies_of_the_optimizer_are_drawn_in_their_form(models: LlamaModels) -> None:
    base = open_base("", 1)
    policy = Policy(models.pair.compiler, base.tokens, models.writer)
    drawn = policy.sample(ASKED, 2, seed=3, grammar='root ::= "ADD" | "UPDATE " [0-2]')
    assert all(re.fullmatch("ADD|UPDATE [0-2]", reply.text) for reply in drawn)
    with torch.no_grad():
        likely = policy.log_likelihoods(drawn, policy.allowed(drawn))
    ends = models.writer.opened.engine.native.vocabulary.ends
    for reply, found in zip(drawn, likely, strict=True):
        allowed = models.writer.allowed(reply)
        assert all(map(ends, allowed[-1].nonzero()[:, 0].tolist())), "nothing but an end might follow"
        assert len(found) == len(reply.tokens) == len(allowed)
        assert float(found.max()) <= 0.0
    (likeliest,) = policy.sample(ASKED, 1, seed=0, grammar='root ::= "ADD"', greedy=True)
    assert likeliest.text == "ADD"
