"""The optimizer's training with a tiny model: sampling, GRPO, evolution, and the whole chain."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_node.lessons.bank import LessonBank
from memory_node.lessons.optimizer.attempt import Attempt, Candidate
from memory_node.llm.chat import Message

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")
pytest.importorskip("gguf", reason="needs the extra learning")

import torch
from tiny_models import tiny_llama
from tiny_world import TASKS, VETTING, WordEmbedder, attempt, world

from training.adapters.adapter import with_adapter
from training.adapters.learning import Schedule, loss_of
from training.adapters.writing import TorchWriter, Written
from training.optimizer.evolution import EvolutionSettings, Judge, Task, evolve, take_best
from training.optimizer.executions import Executions, neighbourhoods
from training.optimizer.policy import Group, GrpoSettings, Policy, counted, update
from training.optimizer.stages import TrainingRun, examples_of, train


class Words:
    """A word with the spaces behind it is a token; words that were never learnt are one."""

    end = 0

    def __init__(self, texts: Sequence[str]) -> None:
        found = dict.fromkeys(word for text in texts for word in re.findall(r"\S+\s*", text))
        self._words = ["", "?", *found]
        self._numbers = {word: number for number, word in enumerate(self._words)}

    def __len__(self) -> int:
        return len(self._words)

    def _tokens(self, text: str) -> list[int]:
        return [self._numbers.get(word, 1) for word in re.findall(r"\S+\s*", text)]

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        return [token for message in messages for token in [*self._tokens(message.text), self.end]]

    def reply(self, text: str) -> list[int]:
        return [*self._tokens(text), self.end]

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(self._words[token] for token in tokens if token != self.end)


class Heard(Words):
    """Collects the texts that are turned into tokens."""

    def __init__(self) -> None:
        super().__init__(())
        self.texts: list[str] = []

    def _tokens(self, text: str) -> list[int]:
        self.texts.append(text)
        return [1]


def test_warm_start_shows_from_none_to_all_of_the_entries() -> None:
    class Read(Heard):
        def prompt(self, messages: Sequence[Message]) -> list[int]:
            shown.append(sum(line.startswith(("0 (", "1 (", "2 (")) for line in messages[1].text.splitlines()))
            return [1]

    shown: list[int] = []
    bank = LessonBank(WordEmbedder())
    for value in ("The pan is in the sink.", "The cup is in the sink.", "The pot is in the sink."):
        bank.apply(Candidate(value), (), attempt(0, True), "rules")
    examples = examples_of(attempts(), bank, VETTING, Read(), 10_000)
    assert set(shown) == {0, 1, 2, 3}
    assert shown.count(0) >= len(shown) // 4
    assert len(examples) == len(shown)


def test_warm_start_adds_where_a_young_memory_shows_nothing_about_the_task() -> None:
    heard = Heard()
    bank = LessonBank(WordEmbedder())
    for place in (1, 2):
        bank.apply(Candidate("The cup is in the sink."), (), attempt(place, True), "rules")
    again = [attempt(0, True)] * (2 * (bank.limits.shown + 1))
    examples_of(again, bank, VETTING, heard, 10_000)
    old = ["ADD", "UPDATE 0", "UPDATE 0", "UPDATE 0"]
    assert _operations(heard) == [*old, *["ADD"] * 4]


def _operations(heard: Heard) -> list[str]:
    """Return the operations of the replies that were heard."""
    replies = (re.search(r"<operation>(ADD|UPDATE \d)</operation></experience>$", text) for text in heard.texts)
    return [found[1] for found in replies if found]


def attempts() -> list[Attempt]:
    return [attempt(place, success) for place in range(len(TASKS)) for success in (True, False)]


@pytest.fixture(scope="module")
def tiny() -> tuple[Words, dict[str, Any]]:
    """Words, and the weights of a tiny model that has learnt to answer as the rules do."""
    heard = Heard()
    examples_of(attempts(), LessonBank(WordEmbedder()), VETTING, heard, 10_000)
    words = Words(heard.texts)
    examples = examples_of(attempts(), LessonBank(WordEmbedder()), VETTING, words, 10_000)
    model = tiny_llama(len(words))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(120):
        loss_of(model, examples[step % len(examples)]).backward()
        optimizer.step()
        optimizer.zero_grad()
    return words, model.state_dict()


def adapted(tiny):
    words, weights = tiny
    model = tiny_llama(len(words))
    model.load_state_dict(weights)
    torch.manual_seed(0)  # of the adapter: two runs begin alike
    return with_adapter(model, 4)


def policy_of(tiny) -> Policy:
    model = adapted(tiny)
    return Policy(model, tiny[0], TorchWriter(model, tiny[0], 120))


MESSAGES = (Message("user", "Task: cool some mug"),)


def likelihoods(policy: Policy, replies: Sequence[Written]) -> list[torch.Tensor]:
    return policy.log_likelihoods(replies, policy.allowed(replies))


def test_sampling_is_repeatable_and_by_the_likelihoods_that_training_reads(tiny) -> None:
    policy = policy_of(tiny)
    first, again = policy.sample(MESSAGES, 3, seed=7), policy.sample(MESSAGES, 3, seed=7)
    assert first == again
    assert len({reply.tokens for reply in first}) > 1
    (one, other) = policy.sample(MESSAGES, 2, seed=1, greedy=True)
    assert one.tokens == other.tokens
    (likeliest,) = likelihoods(policy, [one])
    assert all(float(likeliest.sum()) >= float(found.sum()) for found in likelihoods(policy, first))


def different_replies(policy: Policy) -> tuple[Written, ...]:
    """Two samples that are not the same by chance."""
    return tuple({reply.tokens: reply for reply in policy.sample(MESSAGES, 8, seed=3)}.values())[:2]


def test_update_makes_the_better_reply_likelier_and_the_worse_less_likely(tiny) -> None:
    policy = policy_of(tiny)
    replies = different_replies(policy)
    before = [found.sum().item() for found in likelihoods(policy, replies)]
    optimizer = torch.optim.AdamW([weight for _, weight in policy.free()], lr=1e-2)
    figures = update(policy, [Group(replies, (1.0, 0.0))], GrpoSettings(steps=3), optimizer)
    after = [found.sum().item() for found in likelihoods(policy, replies)]
    assert after[0] - before[0] > after[1] - before[1]
    assert figures["kl"] > 0.0
    assert 0.0 < figures["clipped"] < 1.0


def test_reply_that_is_read_beside_others_sees_the_dialogue_and_itself_alone(tiny) -> None:
    policy = policy_of(tiny)
    replies = policy.sample(MESSAGES, 3, seed=5)
    alone = [likelihoods(policy, [reply])[0].tolist() for reply in replies]
    beside = [found.tolist() for found in likelihoods(policy, replies[::-1])][::-1]
    assert beside == [pytest.approx(one, abs=1e-4) for one in alone]


@pytest.mark.parametrize(("masked", "left_out"), [("none", ""), ("extraction", "a b"), ("management", "ADD")])
def test_masked_part_gets_no_gradient(tiny, masked, left_out: str) -> None:
    words = Words(["why <value> a b </value> <operation> ADD </operation>"])
    model = adapted(tiny)
    policy = Policy(model, words, TorchWriter(model, words, 80))
    text = "why <value> a b </value> <operation> ADD </operation>"
    reply = Written((0,), tuple(words.reply(text)), text, whole=True)
    marks = zip(reply.tokens, counted(reply, policy, masked))
    shown = [words.text([token]).strip() for token, counts in marks if not counts]
    assert " ".join(shown).replace("<value>", "").replace("<operation>", "").strip() == left_out


def judge_of() -> Judge:
    near = neighbourhoods(TASKS, WordEmbedder(), 3)
    return Judge([Task(query, places) for query, places in zip(TASKS, near)], Executions(world), VETTING)


def test_candidate_is_rewarded_for_what_it_does_for_neighbours_and_not_for_its_own_task() -> None:
    judge, bank = judge_of(), LessonBank(WordEmbedder())
    good = Candidate("Thing: mug. Look first at: shelf.").text("why")
    idle = Candidate("The mug was on the shelf.").text("why")
    broken = Candidate("Take mug 1.").text("why")
    judged = judge.judge(0, attempt(0, True), bank, [good, idle, broken, "nothing"])
    assert [one.form for one in judged] == [1.0, 1.0, 0.0, 0.0]
    assert judged[0].gain > 0.4
    assert [one.gain for one in judged[1:]] == [0.0, 0.0, 0.0]
    assert len(bank) == 0
    take_best(bank, judged, attempt(0, True))
    assert [one.text for one in bank] == ["Thing: mug. Look first at: shelf."]


def test_run_that_was_killed_goes_on_as_if_it_had_not_been(tiny, tmp_path: Path) -> None:
    settings = EvolutionSettings(group=2, batch=2, epochs=1, grpo=GrpoSettings(rate=1e-3))
    tasks = [Task(query, (0, 1)) for query in TASKS[:4]]

    def run(path: Path, most: int):
        policy, bank = policy_of(tiny), LessonBank(WordEmbedder())
        steps = evolve(policy, tasks, bank, judge_of(), settings, path)
        progress = [next(steps) for _ in range(most)][-1]
        return policy, bank, progress

    whole, bank, ended = run(tmp_path / "whole.pt", 2)
    run(tmp_path / "killed.pt", 1)
    again, again_bank, resumed = run(tmp_path / "killed.pt", 1)
    assert resumed.queries == ended.queries == 4
    assert [row["r_g"] for row in resumed.curve] == pytest.approx([row["r_g"] for row in ended.curve])
    assert [one.text for one in again_bank] == [one.text for one in bank]
    assert all(torch.allclose(a, b, atol=1e-5) for (_, a), (_, b) in zip(whole.free(), again.free()))
    for other in (EvolutionSettings(group=3, batch=2), EvolutionSettings(group=2, batch=2, neighbours=1)):
        with pytest.raises(ValueError, match="another run"):
            next(evolve(policy_of(tiny), tasks, LessonBank(WordEmbedder()), judge_of(), other, tmp_path / "whole.pt"))


def test_whole_chain_runs_with_a_tiny_pair_and_ends_in_an_adapter_and_a_card(tiny, tmp_path: Path) -> None:
    told: list[str] = []
    plan = TrainingRun(
        adapted(tiny),
        tiny[0],
        lambda model: TorchWriter(model, tiny[0], 120),
        Executions(world),
        WordEmbedder(),
        VETTING,
        TASKS,
        queries=4,
        held_out=2,
        warm=Schedule(rate=1e-3, per_update=3, minutes=1.0),
        settings=EvolutionSettings(group=3, batch=2, grpo=GrpoSettings(rate=1e-3)),
        executor="a world of rules",
    )
    adapter = train(plan, tmp_path, told.append)
    assert adapter.stat().st_size > 1000
    assert (tmp_path / "warm_start.gguf").read_bytes() != adapter.read_bytes()
    card = (tmp_path / "card.md").read_text()
    assert "a world of rules" in card
    assert "| after the warm start | empty | 1 |" in card
    assert re.search(r"\| at the end \| [1-9] entries \| 1 \|", card)
    assert "| 4 |" in card
    assert any(line.startswith("warm start") for line in told)
    curve = torch.load(tmp_path / "checkpoint.pt", weights_only=True)["progress"]["curve"]
    assert [row["queries"] for row in curve] == [2.0, 4.0]
    # What is done goes on from where it stands, and ends at once.
    runs = plan.executions.figures()["run"]
    train(plan, tmp_path, told.append)
    assert plan.executions.figures()["run"] <= runs + 4
