"""From a teacher to reinforcement with a pair of tiny models made from scratch: no part of the chain can rot."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_game import Embedder
from test_alfworld_compiled import HEATED, KINDS, LEARNT, game_of

from benchmarks.alfworld.compiled import Attempts, CompiledAids, goals_reader
from benchmarks.alfworld.games import Game
from benchmarks.compiler_variants import FULL, row_of
from memory_node.context.config import CompilerModelConfig
from memory_node.context.soft_memory import UNSAID, SoftMemoryWeights
from memory_node.llm.chat import Message

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")

import torch
import transformers
from tiny_models import tiny_llama

from training.adapters.example import answered
from training.adapters.learning import Schedule, learn
from training.adapters.writing import Written, log_probabilities
from training.compiler.pairs import GameTeacher
from training.grpo.learning import GrpoSchedule, add_gradients, advantages, clipped_gain, reinforce
from training.grpo.models import TorchModels
from training.grpo.rollouts import Decision, Rollout
from training.grpo.train import GameRollouts
from training.softmem.soft_memory import (
    FIRST_SD,
    MOST_SD,
    Gaussian,
    SoftMemory,
    entropy_loss,
    latent_loss,
    load_soft_memory,
    orthogonality_loss,
    save_soft_memory,
    soft_memory_weights,
)
from training.softmem.soft_pair import SoftExample, SoftPair, around_latent, soft_example

GAME = Game("a/b/game.tw-pddl", "a", b"")
LATENT = 4
NOTHING = torch.zeros(UNSAID)
WORDING = (40, 41)


class Words:
    """Tokens are words, letters of punctuation and spaces. 0 stands for what is not known, 1 ends a turn."""

    end = 1

    def __init__(self) -> None:
        self._words = ["", "", "<user>", "<assistant>"]

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        tokens: list[int] = []
        for message in messages:
            said = self.reply(message.text)
            tokens += [3, *said] if message.role == "assistant" else [2, *said]
        return [*tokens, 3]

    def reply(self, text: str) -> list[int]:
        return [*(self._number(word) for word in re.findall(r"\w+|[^\w]", text)), self.end]

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(self._words[token] if token < len(self._words) else "?" for token in tokens)

    def _number(self, word: str) -> int:
        if word not in self._words:
            self._words.append(word)
        return self._words.index(word)


def tiny(seed: int) -> transformers.LlamaForCausalLM:
    return tiny_llama(400, seed=seed, intermediate_size=96, tie_word_embeddings=True)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Matrices this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_tiny_pair_goes_the_whole_way(tmp_path: Path) -> None:
    words = Words()
    (tmp_path / "attempts.jsonl").write_text(json.dumps(HEATED) + "\n")
    pairs = list(GameTeacher(tmp_path / "attempts.jsonl", Embedder(), lambda _: game_of()).walk([GAME], LEARNT))
    compiler, executor = tiny(0), tiny(1)
    assert sum(weight.numel() for model in (compiler, executor) for weight in model.parameters()) < 2_000_000

    said = [example for pair in pairs if (example := answered(pair.messages, pair.reply, words, 2000))]
    done = [example for pair in pairs if (example := answered(pair.executor, pair.action, words, 2000))]
    assert len(said) == len(done) == len(pairs)
    schedule = Schedule(epochs=10, rate=5e-3, per_update=1, minutes=2.0)
    for model, examples, name in ((compiler, said, "compiler"), (executor, done, "executor")):
        *_, taught = learn(model, examples, schedule, tmp_path / f"{name}.pt")
        losses = [loss for _, loss in taught.losses]
        assert sum(losses[-len(pairs) :]) / len(pairs) < 0.4 * losses[0], name

    pair = SoftPair(compiler, executor, SoftMemory(48, 48, LATENT))
    frozen = {name: weight.clone() for name, weight in executor.named_parameters()}
    steps = [example for one in pairs if (example := soft_example(one, words, 2000))]
    soft = Schedule(epochs=3, rate=1e-3, per_update=len(steps), minutes=2.0)
    *_, taught = learn(pair, steps, soft, tmp_path / "soft.pt", lambda model, example: model.losses(example).total)
    assert taught.losses[-1][1] < taught.losses[0][1]

    library = Attempts.of([HEATED], KINDS, goals_reader(KINDS, Embedder()))
    rollouts = GameRollouts(
        TorchModels(pair, words, 60),
        [GAME],
        LEARNT,
        lambda compiler: CompiledAids(KINDS, Embedder(), compiler, library, FULL, 15),
        lambda _: game_of(),
        max_steps=3,
        config=CompilerModelConfig(timeout_s=60.0),
    )
    before = rollouts.greedy(GAME)
    short = GrpoSchedule(updates=1, tasks=1, rollouts=2, rate=1e-4)
    (curve,) = reinforce(pair, rollouts, 1, short, tmp_path / "grpo.pt")
    assert curve.updates == len(curve.rewards) == 1
    longer = GrpoSchedule(updates=2, tasks=1, rollouts=2, rate=1e-4)
    assert [one.updates for one in reinforce(pair, rollouts, 1, longer, tmp_path / "grpo.pt")] == [1, 2]
    (curve,) = reinforce(pair, rollouts, 1, longer, tmp_path / "grpo.pt")  # an ended run says what came of it
    assert curve.updates == len(curve.rewards) == 2
    with pytest.raises(ValueError, match="another run"):
        next(reinforce(pair, rollouts, 1, GrpoSchedule(updates=3, rate=1.0), tmp_path / "grpo.pt"))
    assert all(torch.equal(weight, frozen[name]) for name, weight in executor.named_parameters())

    row = row_of("full", "learned", [before, rollouts.greedy(GAME)])
    assert row["tasks"] == 2
    assert row["compiler_tokens"] > 400, "it was asked at every step"


def test_compiler_is_reinforced_in_words_alone(tmp_path: Path) -> None:
    torch.manual_seed(0)
    pair = SoftPair(tiny(0), tiny(1), SoftMemory(48, 48, tokens=0))
    rollouts = GameRollouts(
        TorchModels(pair, Words(), 20),
        [GAME],
        LEARNT,
        lambda compiler: CompiledAids(KINDS, Embedder(), compiler, Attempts.of([], KINDS, list), FULL, 15),
        lambda _: game_of(),
        max_steps=1,
    )
    played = rollouts(0, 0, 1)
    assert [decision.soft for decision in played.decisions] == [None]
    before = pair.compiler.lm_head.weight.clone()
    outcomes = iter((0.0, 1.0))
    schedule = GrpoSchedule(updates=1, tasks=1, rollouts=2, rate=1e-3)
    (curve,) = reinforce(
        pair, lambda *drawn: replace(rollouts(*drawn), reward=next(outcomes)), 1, schedule, tmp_path / "grpo.pt"
    )
    assert curve.rewards == [0.5]
    assert not torch.equal(pair.compiler.lm_head.weight, before)


def test_advantages_are_those_of_the_group() -> None:
    assert advantages([1.0, 0.0, 0.0, 1.0]) == pytest.approx([1.0, -1.0, -1.0, 1.0])
    assert advantages([1.0, 0.0, 0.0, 0.0]) == pytest.approx([math.sqrt(3.0), *[-1 / math.sqrt(3.0)] * 3])
    assert advantages([1.0, 1.0]) == [0.0, 0.0]


def test_gain_is_clipped_unevenly() -> None:
    old = torch.zeros(3)
    new = torch.log(torch.tensor([2.0, 1.1, 0.5]))
    assert clipped_gain(new, old, 1.0).tolist() == pytest.approx([1.28, 1.1, 0.5])
    assert clipped_gain(new, old, -1.0).tolist() == pytest.approx([-2.0, -1.1, -0.8])


def test_update_makes_what_won_likelier_and_what_lost_less_likely() -> None:
    pair = SoftPair(tiny(0), tiny(1), SoftMemory(48, 48, LATENT, unknown=torch.randn(48)))

    def decided(reply: tuple[int, ...]) -> Decision:
        with torch.no_grad():
            soft = pair.read((2, 9, 3), reply, WORDING).latent.sample(torch.Generator().manual_seed(reply[0]))
        return Decision(Written((2, 9, 3), reply, "", True), WORDING, soft.numpy())

    def likelihoods(decision: Decision) -> tuple[float, float]:
        with torch.no_grad():
            read = pair.read(decision.written.prompt, decision.written.tokens, decision.wording)
            text = log_probabilities(read.logits, decision.written.tokens, 1.0)[0]
            return float(text), float(read.latent.log_density(torch.tensor(decision.soft)).mean())

    won, lost = decided((20, 1)), decided((30, 1))
    before = [likelihoods(won), likelihoods(lost)]
    rated = [(Rollout((won,), 1.0), 1.0), (Rollout((lost,), 0.0), -1.0)]
    add_gradients(pair, rated, 2 * (2 + LATENT), 1.0)
    free = [weight for weight in pair.parameters() if weight.grad is not None]
    assert pair.soft.mean.weight.grad is not None
    with torch.no_grad():
        for weight in free:
            weight -= 1e-2 * weight.grad
    for decision, sign, (text, latent) in zip((won, lost), (1.0, -1.0), before):
        text_now, latent_now = likelihoods(decision)
        assert sign * (text_now - text) > 0
        assert sign * (latent_now - latent) > 0


def test_gradients_of_the_reply_alone_leave_the_likelihoods_as_they_are() -> None:
    whole, tail = (
        SoftPair(tiny(0), tiny(1), SoftMemory(48, 48, LATENT), through_prompt=through) for through in (True, False)
    )
    tail.soft.load_state_dict(whole.soft.state_dict())
    prompt, reply = (2, 9, 30, 31, 3), (20, 21, 1)
    one, other = whole.read(prompt, reply, WORDING), tail.read(prompt, reply, WORDING)
    assert torch.allclose(one.logits, other.logits, atol=1e-5)
    assert torch.allclose(one.latent.mean, other.latent.mean, atol=1e-6)
    assert torch.allclose(one.states, other.states, atol=1e-5)


def test_soft_memory_on_the_robot_is_the_one_that_was_trained(tmp_path: Path) -> None:
    torch.manual_seed(1)
    soft = SoftMemory(64, 48, 5, torch.randn(64))
    save_soft_memory(soft, tmp_path / "soft.npz")
    again = load_soft_memory(tmp_path / "soft.npz")
    weights, states = SoftMemoryWeights.read(tmp_path / "soft.npz"), torch.randn(5, 64)
    unsaid = torch.randn(UNSAID)
    latent = soft(states, unsaid)
    told = (states.numpy(), unsaid.numpy())
    assert weights(*told) == pytest.approx(latent.mean.detach().numpy(), abs=1e-2)
    assert soft_memory_weights(again).spread(*told) == pytest.approx(latent.log_sd.detach().numpy(), abs=1e-2)
    assert torch.allclose(again(states, unsaid).mean, latent.mean, atol=1e-2)
    assert again.placeholders.shape == (5, 64)


def test_losses_of_latent_tokens() -> None:
    exact = Gaussian(torch.zeros(2, 3), torch.zeros(2, 3))
    expected = 0.5 * math.log(2 * math.pi)
    assert latent_loss(exact, torch.zeros(2, 3)).item() == pytest.approx(expected)
    assert latent_loss(exact, torch.ones(2, 3)).item() == pytest.approx(expected + 0.5)
    assert entropy_loss(exact).item() == pytest.approx(-expected - 0.5)
    text = torch.tensor([[1.0, 0.0]], requires_grad=True)
    aslant = torch.tensor([[1.0, 1.0]], requires_grad=True)
    loss = orthogonality_loss(aslant, text)
    assert loss.item() == pytest.approx(math.sqrt(0.5))
    loss.backward()
    assert text.grad is None


def test_wording_stands_between_reply_and_placeholders() -> None:
    frozen = tiny(0).requires_grad_(False)
    kept = SoftPair(frozen, tiny(1), SoftMemory(48, 48, LATENT, unknown=torch.randn(48)))
    learning = SoftPair(tiny(0), tiny(1), kept.soft)
    with torch.no_grad():
        one, same, other = (
            pair.read([1, 2, 3], [4, 5], words) for pair, words in ((kept, [6, 7]), (learning, [6, 7]), (kept, [8, 7]))
        )
    assert torch.allclose(one.behind, same.behind, atol=1e-5), "however it is read"
    assert torch.allclose(one.states, other.states, atol=1e-6)
    assert not torch.allclose(one.behind, other.behind, atol=1e-3)


def test_action_reaches_f_phi_through_the_frozen_executor() -> None:
    pair = SoftPair(tiny(0), tiny(1), SoftMemory(48, 48, LATENT, unknown=torch.randn(48)))
    words = Words()
    dialogue = (Message("system", "be good"), Message("user", "It is open.\n\nAdvice: go."))
    before, after = around_latent(dialogue, words)
    assert (*before, *after) == tuple(words.prompt(dialogue))
    assert words.text(after[:-1]) == ""  # the end of the turn alone
    step = soft_example(
        SimpleNamespace(executor=dialogue, action="go", messages=dialogue, reply="go", unsaid=()),  # type: ignore[arg-type]
        words,
        100,
    )
    assert step is not None
    pair.losses(step).action.backward()
    assert float(pair.soft.mean.weight.grad.abs().sum()) > 0
    assert all(weight.grad is None for weight in pair.executor.parameters())


def examples_of_one_name(count: int, seed: int) -> list[SoftExample]:
    """Steps that say the same, each about a thing at another place and of another size."""
    looks = torch.zeros(count, UNSAID)
    looks[:, :6] = torch.randn((count, 6), generator=torch.Generator().manual_seed(seed))
    return [SoftExample((2, 3), (4, 5), (6, 7), (8,), (9, 10), (11, 12), tuple(look.tolist())) for look in looks]


def told_apart(pair: SoftPair, steps: Sequence[SoftExample]) -> float:
    """Return how often a step's latent tokens are nearer to what its own words leave out than to another step's."""
    right = []
    with torch.no_grad():
        for one in steps:
            latent = pair.read(one.prompt, one.reply, one.wording, one.unsaid).latent
            near = {other: float(latent.log_density(pair.targets(other)).mean()) for other in steps}
            right += [near[one] > near[other] for other in steps if other is not one]
    return sum(right) / len(right)


def test_vectors_tell_things_of_one_name_apart(tmp_path: Path) -> None:
    pair = SoftPair(tiny(0).requires_grad_(False), tiny(1), SoftMemory(48, 48, LATENT, unknown=torch.randn(48)))
    unseen = examples_of_one_name(6, 1)
    schedule = Schedule(epochs=12, rate=2e-2, per_update=4, minutes=2.0)
    *_, taught = learn(
        pair,
        examples_of_one_name(64, 0),
        schedule,
        tmp_path / "checkpoint.pt",
        lambda model, example: model.losses(example).latent,
    )
    assert taught.losses[-1][1] < taught.losses[0][1]
    assert told_apart(pair, unseen) > 0.9
    with torch.no_grad():
        pair.soft.body[0].weight[:, -UNSAID:] = 0.0  # type: ignore[index]
    assert told_apart(pair, unseen) == pytest.approx(0.5, abs=0.1), "without what words leave out it is chance"


def test_spread_is_wide_where_nothing_tells_and_narrow_where_all_is_told() -> None:
    torch.manual_seed(0)
    soft = SoftMemory(8, 8, 2)
    sure, unsure = torch.zeros(2, 8), torch.ones(2, 8)
    optimizer = torch.optim.Adam(soft.parameters(), lr=1e-2)
    for _ in range(300):
        optimizer.zero_grad()
        loss = latent_loss(soft(sure, NOTHING), torch.zeros(2, 8))
        loss = loss + latent_loss(soft(unsure, NOTHING), 0.15 * torch.randn(2, 8))
        loss.backward()
        optimizer.step()
    assert float(soft.log_sd.weight.detach().abs().max()) > 0.1
    narrow, wide = (soft(states, NOTHING).log_sd.exp().mean().item() for states in (sure, unsure))
    assert narrow < FIRST_SD < wide < MOST_SD
    assert wide == pytest.approx(0.15, rel=0.4)
