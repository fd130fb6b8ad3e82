"""`memory-node train sequences`: trains the reader of instructions of several goals."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from memory_node.app.progress import shown
from memory_node.search.minilm_graph import load_weights
from memory_node.search.model_files import published_folder
from training.instructions.class_words import class_words
from training.instructions.corpus import load_tasks
from training.instructions.export_sequences import write_sequence_weights
from training.instructions.network import FROZEN_LAYERS, FrozenLayers
from training.instructions.sequence_examples import BATCH, LONGEST, Examples, written_symbols
from training.instructions.sequence_network import SequenceNetwork, SequenceSizes
from training.instructions.sequences import SequenceExample, Sequences
from training.instructions.train import english_pieces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--tasks", type=Path, required=True, help="tasks_train.jsonl.gz")
    parser.add_argument("--scenes", type=Path, required=True, help="scenes.json.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=40_000, help="new sentences in each epoch")
    parser.add_argument("--rate", type=float, default=1e-3, help="highest learning rate of what is new")
    parser.add_argument(
        "--go-on",
        type=Path,
        nargs="+",
        default=[],
        help="what earlier runs left beside their folders: start from the mean",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)


def run(args: argparse.Namespace) -> int:
    """Train, report on sentences of ours that were not learnt from, write the weights."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    generator = random.Random(args.seed)
    vocabulary = class_words()
    tasks = load_tasks(args.tasks, args.scenes)
    maker = Sequences.shipped(tasks, generator)
    classes = sorted(vocabulary)
    symbols = written_symbols(classes)
    published = published_folder()
    weights = load_weights(published / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(published / "tokenizer.json"))
    frozen = FrozenLayers(weights, FROZEN_LAYERS, english_pieces(tokenizer))
    network = SequenceNetwork(frozen, SequenceSizes(len(symbols), LONGEST, 2 * len(classes)))
    network.reader.tuned.load(weights, FROZEN_LAYERS)
    if args.go_on:
        load_states(network, args.go_on)
    examples = Examples(maker, tokenizer, classes, symbols, np.random.default_rng(args.seed))
    if args.epochs:
        fit(network, examples, args.epochs, args.sentences, args.rate, args.out.with_suffix(".pt"))
    seen = {name for task in tasks for name in task.objects | task.fixtures}
    strange = [name for name in classes if name not in seen]
    write_sequence_weights(network.reader, network.writer, symbols, classes, strange, args.out)
    return 0


def load_states(network: SequenceNetwork, paths: Sequence[Path]) -> None:
    """Take over what `fit` saved, of several runs the mean."""
    states = [torch.load(path) for path in paths]
    parts: tuple[nn.Module, ...] = (network.reader, network.writer)
    for index, part in enumerate(parts):
        named = [state[index] for state in states]
        part.load_state_dict({name: torch.stack([one[name] for one in named]).mean(0) for name in named[0]})


def fit(network: SequenceNetwork, examples: Examples, epochs: int, sentences: int, rate: float, saved: Path) -> None:
    """Minimise the symbols' cross-entropy with AdamW, a warm-up and a cosine to zero; save after each epoch."""
    tuned = list(network.reader.tuned.parameters())
    fresh = [value for name, value in network.reader.named_parameters() if not name.startswith("tuned.")]
    fresh += list(network.writer.parameters())
    optimiser = torch.optim.AdamW([{"params": tuned, "lr": rate / 5}, {"params": fresh, "lr": rate}], weight_decay=0.02)
    steps = epochs * -(-sentences // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=[rate / 5, rate], total_steps=steps, pct_start=0.08
    )
    held_back = examples.made(1_000)
    for epoch in range(epochs):
        network.train()
        started, total = time.monotonic(), 0.0
        batches = shown(examples.batches(examples.made(sentences)), f"epoch {epoch + 1}", -(-sentences // BATCH))
        for ids, mask, target, home, absent in batches:
            logits = network(ids, mask, target[:, :-1].clamp(min=0), home, absent)
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=-1, label_smoothing=0.02
            )
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*tuned, *fresh], 1.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        right, seconds = exact(network, examples, held_back), time.monotonic() - started
        print(f"epoch {epoch + 1}: loss {total * epochs / steps:.3f}, {right:.3f} right, {seconds:.0f} s", flush=True)
        torch.save((network.reader.state_dict(), network.writer.state_dict()), saved)


def exact(network: SequenceNetwork, examples: Examples, held_back: Sequence[SequenceExample]) -> float:
    """Return the share of instructions whose every symbol is the likeliest one, given those before it."""
    network.eval()
    right = 0
    for ids, mask, target, home, absent in examples.batches(held_back):
        with torch.no_grad():
            likeliest = network(ids, mask, target[:, :-1].clamp(min=0), home, absent).argmax(-1)
        right += int(((likeliest == target[:, 1:]) | (target[:, 1:] < 0)).all(1).sum())
    return right / len(held_back)
