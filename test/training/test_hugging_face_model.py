"""Training with the folder of a Hugging Face model, text or image-text, in the place of a GGUF file."""

import argparse
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra learning")
pytest.importorskip("transformers", reason="needs the extra learning")
pytest.importorskip("peft", reason="needs the extra learning")

import torch
import transformers

from benchmarks.alfworld.policy import ADAPTER
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import Message, ModelMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.open_model import model_file
from training.adapters.adapter import free_weights, load_adapter, save_adapter
from training.adapters.base_model import open_base
from training.compiler import train as train_compiler
from training.compiler.teacher import CompilerPair, write_pairs
from training.grpo import train as train_grpo
from training.grpo.rollouts import Decisions
from training.grpo.train import open_models
from training.optimizer.policy import Policy
from training.softmem import train as train_soft_memory

# As image-text models have them: a message is a list of parts, and a plain text is passed over.
PARTS_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
DIALOGUE = [
    Message("system", "Nobody ends a turn by <|im_end|>."),
    Message("user", "Is mug 12 clean?\n\n  Über <|im_start|>"),
    Message("assistant", "No."),
    Message("user", "Clean it."),
]
TOLD = (Message("user", "The mug is dirty.\n\nAdvice: go to sink."),)
PAIRS = [
    CompilerPair("task", dialogue, '{"delivery":"noaction"}', "noaction", TOLD, "go to sink")
    for dialogue in (tuple(DIALOGUE), TOLD)
]


@pytest.fixture(scope="module")
def embedded() -> Path:
    try:
        return model_file(ModelConfig(backend="llama"))
    except ModelMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def image_text(embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new image-text model of half a million parameters with the embedded model's tokenizer."""
    folder: Path = tmp_path_factory.mktemp("image_text")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(embedded.parent), gguf_file=embedded.name)
    tokenizer.chat_template = PARTS_TEMPLATE
    tokenizer.save_pretrained(folder)
    text = {
        "model_type": "llama",
        "vocab_size": len(tokenizer),
        "hidden_size": 8,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "pad_token_id": 0,
    }
    vision = {
        "hidden_size": 8,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 16,
    }
    torch.manual_seed(0)
    config = transformers.SmolVLMConfig(text_config=text, vision_config=vision, image_token_id=len(tokenizer) - 1)
    transformers.AutoModelForImageTextToText.from_config(config).save_pretrained(folder)
    return folder


def test_folder_reads_a_dialogue_as_llama_cpp_does(embedded: Path, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(embedded.parent), gguf_file=embedded.name)
    tokenizer.save_pretrained(tmp_path)
    folder, file = open_base(str(tmp_path), 1).tokens, open_base("", 1).tokens
    assert folder.prompt(DIALOGUE) == file.prompt(DIALOGUE)
    assert folder.reply("Über <|im_end|> 1") == file.reply("Über <|im_end|> 1")
    assert folder.text(folder.reply("Über <|im_end|> 1")) == "Über <|im_end|> 1"
    assert folder.end == file.end


def test_template_that_takes_parts_loses_nothing(image_text: Path) -> None:
    tokens = open_base(str(image_text), 1).tokens
    assert tokens.prompt(DIALOGUE) == open_base("", 1).tokens.prompt(DIALOGUE)


def test_image_text_model_learns_where_it_reads_text(image_text: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.jsonl", PAIRS)
    parser = argparse.ArgumentParser()
    train_compiler.add_arguments(parser)
    files = ["--pairs", str(tmp_path / "pairs.jsonl"), "--model", str(image_text), "--out", str(tmp_path)]
    assert train_compiler.run(parser.parse_args([*files, "--epochs", "3", "--rate", "1e-2"])) == 0
    assert "3 epoch(s)" in (tmp_path / "card.md").read_text("utf-8")

    model = open_base(str(image_text), 1).adapted(8)
    load_adapter(model, tmp_path / "compiler")
    learnt = {name: weight for name, weight in free_weights(model).items() if "lora_B" in name}
    assert learnt
    assert all("text_model" in name and bool(weight.any()) for name, weight in learnt.items())
    with pytest.raises(ValueError, match="--rank"):
        load_adapter(open_base(str(image_text), 1).adapted(4), tmp_path / "compiler")
    with pytest.raises(ValueError, match="has no adapter_model"):
        load_adapter(model, image_text)
    with pytest.raises(ValueError, match="of a model with other free weights"):
        load_adapter(model, ADAPTER)


def test_soft_memory_of_an_image_text_model(image_text: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.jsonl", PAIRS)
    adapter = tmp_path / "adapter"
    save_adapter(open_base(str(image_text), 1).adapted(8), adapter)
    parser = argparse.ArgumentParser()
    train_soft_memory.add_arguments(parser)
    files = ["--pairs", str(tmp_path / "pairs.jsonl"), "--model", str(image_text), "--out", str(tmp_path)]
    models = ["--compiler", str(adapter), "--executor", str(adapter)]
    assert train_soft_memory.run(parser.parse_args([*files, *models])) == 0
    assert (tmp_path / "full.npz").is_file()


def test_compiler_of_an_image_text_model_is_reinforced_by_torch(image_text: Path, tmp_path: Path) -> None:
    save_adapter(open_base(str(image_text), 1).adapted(8), tmp_path / "adapter")
    parser = argparse.ArgumentParser()
    train_grpo.add_arguments(parser)
    models = ["--compiler", str(tmp_path / "adapter"), "--executor", str(tmp_path / "adapter")]
    files = ["--games", "none", "--model", str(image_text), "--out", str(tmp_path), "--reply-tokens", "3"]
    base, pair, opened = open_models(parser.parse_args([*files, *models]))
    decisions = Decisions()
    opened.compiler(1.0, 7, decisions).reply(DIALOGUE)
    (decision,) = decisions.made
    assert decision.written.prompt == tuple(base.tokens.prompt(DIALOGUE))
    assert opened.writer.allowed(decision.written) is None
    read = pair.read(decision.written.prompt, decision.written.tokens, decision.wording)
    assert len(read.logits) == len(decision.written.tokens) == 3


def test_policy_of_an_image_text_model_samples_and_tells_likelihoods(image_text: Path) -> None:
    base = open_base(str(image_text), 1)
    model = base.adapted(2)
    policy = Policy(model, base.tokens, base.writer(model, most_tokens=6))
    replies = policy.sample(DIALOGUE, 2, seed=1)
    for reply, found in zip(replies, policy.log_likelihoods(replies, policy.allowed(replies))):
        assert len(found) == len(reply.tokens) <= 6
        assert float(found.max()) < 0.0


def test_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no tokenizer"):
        open_base(str(tmp_path), 1)
    parser = argparse.ArgumentParser()
    train_compiler.add_arguments(parser)
    files = ["--pairs", str(tmp_path / "pairs.jsonl"), "--model", str(tmp_path), "--out", str(tmp_path / "out")]
    (tmp_path / "pairs.jsonl").write_text("")
    with pytest.raises(InvalidValueError, match="has no tokenizer"):
        train_compiler.run(parser.parse_args(files))
