"""Why compiled memory helps: what is memory in a prompt, and the attention that it gets."""

from pathlib import Path

import numpy as np
import pytest
from small_game import Embedder
from test_alfworld_compiled import HEATED, KINDS, LEARNT, Obedient, game_of
from test_compiler_chain import Words, tiny

from benchmarks.alfworld.attempts import Attempts
from benchmarks.alfworld.compiled import goals_reader
from benchmarks.alfworld.compiled_aid import CompiledAids
from benchmarks.alfworld.games import Game
from benchmarks.alfworld.policy import PolicyPlayer
from benchmarks.compiler_variants import STATIC, TEXT
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.llm.chat import Message

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("sklearn", reason="needs the extra learning")

import torch

from training.diagnosis.attention import mean_logit, memory_tokens
from training.diagnosis.pictures import draw_attention, draw_states
from training.diagnosis.watched import Watch


def test_memory_is_found_in_a_prompt() -> None:
    words = Words()
    dialogue = [Message("system", "be good"), Message("user", "a room\n\nGoal: tea\n\nAdvice: go.")]
    tokens, places = memory_tokens(dialogue, "Goal: tea\n\nAdvice: go.", words)
    assert tokens == words.prompt(dialogue)
    assert words.text(tokens[places.start : places.stop]) == "Goal: tea\n\nAdvice: go."
    with pytest.raises(ValueError, match="contains"):
        memory_tokens(dialogue, "Goal: coffee", words)


def test_logit_is_that_of_the_attention_itself() -> None:
    model = tiny(3).eval()
    model.set_attn_implementation("eager")
    tokens = list(range(5, 25))
    with torch.no_grad():
        weights = model(torch.tensor([tokens]), output_attentions=True).attentions
    places = (range(3, 7), range(8, 15))
    one, other = (mean_logit(model, tokens, place) for place in places)
    # Softmax turns differences of logits into ratios of attention.
    expected = torch.stack(
        [layer.log()[0, :, -1, 3:7].mean(-1) - layer.log()[0, :, -1, 8:15].mean(-1) for layer in weights]
    )
    assert one - other == pytest.approx(float(expected.mean()), abs=1e-5)


@pytest.mark.parametrize("variant", [STATIC, TEXT])
def test_watch_keeps_each_prompt_with_what_memory_says(variant: str) -> None:
    library = Attempts.of([HEATED], KINDS, goals_reader(KINDS, Embedder()))
    aids = CompiledAids(KINDS, Embedder(), RulesCompiler(), library, variant, 20)
    watch = Watch(Obedient(), aids)
    player = PolicyPlayer(watch, 4, 5.0, watch.open, lambda _: game_of())
    played = player.play(Game("a/b/game.tw-pddl", "a", b""), LEARNT)
    assert [prompt.step for prompt in watch.prompts] == list(range(1, played.steps + 1))
    for prompt in watch.prompts:
        assert any(prompt.memory in message.text for message in prompt.messages)


def test_pictures_are_drawn(tmp_path: Path) -> None:
    draw_attention({"static": {1: [0.5, 0.7], 2: [0.1]}, "text": {1: [0.9]}}, tmp_path / "attention.png")
    chance = np.random.default_rng(0)
    groups = {name: chance.normal(size=(8, 6)).astype(np.float32) for name in ("soft", "text")}
    draw_states(groups, 0, tmp_path / "states.png")
    for name in ("attention.png", "states.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
