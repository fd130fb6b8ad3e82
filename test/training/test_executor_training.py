"""The executor policy's training: what is learnt of a game, the loop, and the adapter's file, with a tiny model."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_node.llm.chat import Message

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")
pytest.importorskip("gguf", reason="needs the extra learning")

import gguf
import torch
from tiny_models import tiny_llama

from training.adapters.adapter import interleaved, save_adapter, with_adapter
from training.adapters.example import Example
from training.adapters.learning import Progress, Schedule, learn, loss_of, write_card
from training.executor.practice import (
    PractisedGame,
    PractisedStep,
    advice_for,
    compiled_example_of,
    example_of,
    examples_of,
)

GO, TAKE = "go to desk 1", "take pen 1 from desk 1"
GAME = PractisedGame(
    "put a pen in box.",
    "You see a desk 1 and a box 1. Your task is to: put a pen in box.",
    (PractisedStep(GO, GO, "You see a pen 1."), PractisedStep(TAKE, TAKE, "You pick up the pen 1.")),
)
ASTRAY = (PractisedStep("open safe 1", GO, "It is empty.", ("Goal: put a pen in box.",)), *GAME.steps)
OTHER = replace(
    GAME,
    steps=(
        PractisedStep("open safe 1", "open safe 1", "It is empty."),
        PractisedStep("go to bed 1", "go to bed 1", "You see nothing."),
    ),
)
END = 0


class Letters:
    """Tokens are letters; a turn begins with its role's number."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        tokens: list[int] = []
        for message in messages:
            if message.role == "assistant":
                tokens += self.reply(message.text)
            else:
                tokens += [1, *self._letters(message.text), 2]
        return tokens

    def reply(self, text: str) -> list[int]:
        return [*self._letters(text), END]

    def _letters(self, text: str) -> list[int]:
        return [3 + ord(letter) % 125 for letter in text]


def spoken(tokens: Sequence[int], text: str) -> bool:
    """Return whether the letters of a text stand somewhere in some tokens."""
    wanted = Letters().reply(text)[:-1]
    return any(list(tokens[at : at + len(wanted)]) == wanted for at in range(len(tokens)))


def learnt_texts(example: Example) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    for token, learnt in zip(example.tokens, example.learnt):
        if learnt:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def tiny_model() -> object:
    return with_adapter(tiny_llama(128, 32, intermediate_size=48, max_position_embeddings=512), 4)


def examples() -> list[Example]:
    return list(examples_of([GAME, OTHER] * 3, Letters(), 400, seed=0))


def test_loss_is_on_every_command_and_on_nothing_else() -> None:
    example = example_of(GAME, Letters(), lambda _: "", 400)
    assert example is not None
    assert learnt_texts(example) == [Letters().reply(GO), Letters().reply(TAKE)]


def test_wrong_command_stands_there_and_is_not_learnt() -> None:
    example = example_of(replace(GAME, steps=ASTRAY), Letters(), lambda _: "", 600)
    assert spoken(example.tokens, "open safe 1")
    assert learnt_texts(example) == [Letters().reply(GO), Letters().reply(TAKE)]


def test_step_with_a_brief_state_is_learnt_as_compiled_memory_shows_it() -> None:
    example = compiled_example_of(replace(GAME, steps=ASTRAY), 0, Letters(), lambda command: f"{command}!", 600)
    assert learnt_texts(example) == [Letters().reply(GO)]  # what was sent in its place is nowhere
    assert spoken(example.tokens, f"Goal: put a pen in box.\n\nAdvice: {GO}!")
    assert not spoken(example.tokens, "open safe 1")
    assert len(examples_of_all(replace(GAME, steps=ASTRAY))) == 2  # the whole game, and the step that has a state
    assert len(examples_of_all(GAME)) == 1


def examples_of_all(game: PractisedGame) -> list[Example]:
    return list(examples_of([game, OTHER], Letters(), 600, 0))[:-1]


def test_advice_is_right_or_of_another_game_or_none() -> None:
    chance = random.Random(0)
    drawn = [advice_for("go to desk 1", ["open safe 1"], chance) for _ in range(2000)]
    shares = [drawn.count(text) / 2000 for text in ("go to desk 1.", "open safe 1.", "")]
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.05)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_adapter_learns_and_the_model_itself_stays(bfloat16: bool, tmp_path: Path) -> None:
    model = tiny_model()
    frozen = {name: weight.clone() for name, weight in model.named_parameters() if not weight.requires_grad}
    schedule = Schedule(epochs=12, rate=2e-2, per_update=2, minutes=1.0, bfloat16=bfloat16)
    losses = [progress.losses[-1][1] for progress in learn(model, examples(), schedule, tmp_path / "c.pt")]
    # The scores of a random model of random states cannot fall far.
    assert np.mean(losses[-5:]) < np.mean(losses[:2]) - 0.2
    assert all(torch.equal(weight, frozen[name]) for name, weight in model.named_parameters() if name in frozen)


def test_run_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    schedule = Schedule(epochs=2, rate=1e-2, per_update=2, minutes=1.0)
    whole = tiny_model()
    *_, ended = learn(whole, examples(), schedule, tmp_path / "whole.pt")
    killed = learn(tiny_model(), examples(), schedule, tmp_path / "killed.pt")
    next(killed), next(killed)
    killed.close()
    again = tiny_model()
    *_, resumed = learn(again, examples(), schedule, tmp_path / "killed.pt")
    assert resumed.taken == ended.taken == 12
    assert [loss for _, loss in resumed.losses] == pytest.approx([loss for _, loss in ended.losses])
    assert loss_of(again, examples()[0]).item() == pytest.approx(loss_of(whole, examples()[0]).item())


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    next(learn(tiny_model(), examples(), Schedule(rate=1e-3), tmp_path / "c.pt"))
    with pytest.raises(ValueError, match="another run"):
        next(learn(tiny_model(), examples(), Schedule(rate=1e-4), tmp_path / "c.pt"))


def test_adapter_file_holds_what_was_learnt_with_query_heads_interleaved(tmp_path: Path) -> None:
    model = tiny_model()
    next(learn(model, examples(), Schedule(rate=1e-2), tmp_path / "c.pt"))
    save_adapter(model, tmp_path / "adapter.gguf")
    reader = gguf.GGUFReader(tmp_path / "adapter.gguf")
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    assert len(tensors) == 2 * 2 * 6  # two layers, two parts of six matrices each
    learnt = {name: weight.detach().numpy() for name, weight in model.named_parameters() if weight.requires_grad}
    up = next(values for name, values in learnt.items() if "layers.1.mlp.up_proj.lora_B" in name)
    query = next(values for name, values in learnt.items() if "layers.0.self_attn.q_proj.lora_B" in name)
    assert tensors["blk.1.ffn_up.weight.lora_b"] == pytest.approx(up, abs=1e-3)
    assert tensors["blk.0.attn_q.weight.lora_b"] == pytest.approx(interleaved(query, 4), abs=1e-3)
    assert float(reader.fields["adapter.lora.alpha"].parts[-1][0]) == 8.0


def test_card_tells_examples_command_and_losses(tmp_path: Path) -> None:
    progress = Progress(8, [(4, 3.0), (8, 1.0)])
    kind = "A LoRA adapter (5.0 MB)"
    write_card(tmp_path / "card.md", "Policy", "It plays.", kind, "memory-node train it", Schedule(), progress)
    text = (tmp_path / "card.md").read_text()
    assert text.startswith("# Policy\n\nIt plays.\n")
    assert "5.0 MB" in text
    assert "    memory-node train it" in text
    assert "| 8 | 1.000 |" in text
