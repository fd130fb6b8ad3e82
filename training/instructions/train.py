"""`memory-node train instructions`: trains the reader of single goals and writes its weights."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn

from memory_node.app.progress import shown
from memory_node.planner.reading.trained_reader import NO_CLASS, SEVERAL
from memory_node.search.minilm import published_folder
from memory_node.search.minilm_graph import load_weights
from training.instructions.corpus import Example, Task, load_tasks, part_of
from training.instructions.network import (
    FROZEN_LAYERS,
    MODEL_KINDS,
    SLOTS,
    TUNED_LAYERS,
    EncoderLayer,
    FrozenLayers,
    HeadSizes,
    InstructionHeads,
    InstructionModel,
    write_weights,
)
from training.instructions.wording import SeveralGoals, Wording, class_words

MAX_TOKENS = 80
UNASKED = -1  # the label of slots that mean nothing
_TEXTS_A_CALL = 1000
_ENCODED_AT_ONCE = 128
_DROP_HOME, _DROP_FIXTURES, _DROP_CLASS = 0.12, 0.12, 0.03


def half_precision() -> torch.autocast:
    """Return the context that multiplies in bfloat16, which takes a third of the time where the processor knows it."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


@dataclass
class Encoded:
    """Examples ready for training: hidden (tokens of all, 384) float16 by row offsets, home (n, 2c), labels (n, 6)."""

    hidden: NDArray[np.float16]
    offsets: NDArray[np.int64]
    home: NDArray[np.float32]
    labels: NDArray[np.int64]

    def batch(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return hidden (b, longest, 384) float32 and mask (b, longest)."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        hidden = np.zeros((len(rows), int(lengths.max()), self.hidden.shape[1]), dtype=np.float32)
        mask = np.zeros(hidden.shape[:2], dtype=np.float32)
        for index, row in enumerate(rows):
            hidden[index, : lengths[index]] = self.hidden[self.offsets[row] : self.offsets[row + 1]]
            mask[index, : lengths[index]] = 1.0
        return torch.from_numpy(hidden), torch.from_numpy(mask)


def home_vector(objects: frozenset[str], fixtures: frozenset[str], classes: Sequence[str]) -> NDArray[np.float32]:
    """Return (2 len(classes),): what movable things and what fixtures the home has; zeros where that is unknown."""
    things = [float(name in objects) for name in classes]
    return np.array(things + [float(name in fixtures) for name in classes], dtype=np.float32)


def forget_some(
    home: NDArray[np.float32], labels: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.float32]:
    """Return homes (n, 2c) of which some are unknown in whole or in part, so that the model does not lean on them.

    Of a home that is known, single classes are forgotten, but none that `labels` (n, 6) ask for.
    """
    count, width = home.shape
    kept = home * (generator.random(home.shape) >= _DROP_CLASS)
    rows = np.arange(count)[:, None]
    asked = np.maximum(labels[:, 1:5], 0)
    for columns in (asked, asked + width // 2):
        kept[rows, columns] = home[rows, columns]
    kept[generator.random(count) < _DROP_HOME] = 0.0
    kept[generator.random(count) < _DROP_FIXTURES, width // 2 :] = 0.0
    return kept.astype(np.float32)


def label_row(example: Example, classes: Sequence[str]) -> list[int]:
    """Return the labels' indices in the order of network.SLOTS; UNASKED where several goals leave none."""
    labels = example.labels
    if labels.kind == SEVERAL:
        return [MODEL_KINDS.index(SEVERAL), *([UNASKED] * 5)]
    slots = (labels.target, labels.parent, labels.container, labels.light)
    return [MODEL_KINDS.index(labels.kind), *(classes.index(name) for name in slots), int(labels.sliced)]


def _token_ids(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the pieces of each text; in parts, for Ctrl-C is heard between two calls of the tokenizer only."""
    parts = (texts[first : first + _TEXTS_A_CALL] for first in range(0, len(texts), _TEXTS_A_CALL))
    return [encoding.ids for part in parts for encoding in tokenizer.encode_batch(part)]


def encode(
    examples: Sequence[Example],
    classes: Sequence[str],
    tokenizer: Tokenizer,
    frozen: FrozenLayers,
) -> Encoded:
    """Run the frozen layers over all sentences once."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    ids = _token_ids([example.text for example in examples], tokenizer)
    lengths = np.array([len(row) for row in ids])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    hidden = np.empty((int(offsets[-1]), 384), dtype=np.float16)
    order = np.argsort(lengths, kind="stable")
    for start in shown(range(0, len(order), _ENCODED_AT_ONCE), "encoding"):
        rows = order[start : start + _ENCODED_AT_ONCE]
        longest = int(lengths[rows].max())
        block = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.float32)
        for index, row in enumerate(rows):
            block[index, : lengths[row]] = ids[row]
            mask[index, : lengths[row]] = 1.0
        with torch.no_grad(), half_precision():
            states = frozen(torch.from_numpy(block), torch.from_numpy(mask)).float().numpy()
        for index, row in enumerate(rows):
            hidden[offsets[row] : offsets[row + 1]] = states[index, : lengths[row]]
    home = np.stack([home_vector(example.objects, example.fixtures, classes) for example in examples])
    labels = np.array([label_row(example, classes) for example in examples], dtype=np.int64)
    return Encoded(hidden, offsets, home, labels)


_SLOT_WEIGHTS = dict(zip(SLOTS, (1.0, 1.0, 1.0, 0.7, 0.5, 0.7)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--tasks", type=Path, required=True, help="tasks_train.jsonl.gz")
    parser.add_argument("--scenes", type=Path, required=True, help="scenes.json.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="learn from the held-back parts too, for the shipped model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)


def run(args: argparse.Namespace) -> int:
    """Train, report on validation and test, write the weights."""
    began = time.monotonic()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    generator = random.Random(args.seed)
    vocabulary = class_words()
    classes = [NO_CLASS, *sorted(vocabulary)]
    tasks = load_tasks(args.tasks, args.scenes)
    parts = {name: [task for task in tasks if part_of(task.id) == name] for name in ("train", "validation", "test")}
    learnt = tasks if args.all else parts["train"]
    examples = training_examples(learnt, generator)
    print(f"{len(examples)} training sentences", flush=True)
    published = published_folder()
    weights = load_weights(published / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(published / "tokenizer.json"))
    frozen = FrozenLayers(weights, FROZEN_LAYERS, english_pieces(tokenizer))
    started = time.monotonic()
    encoded = encode(examples, classes, tokenizer, frozen)
    held_back = {
        name: encode(listed, classes, tokenizer, frozen)
        for name in ("validation", "test")
        for listed in [[example for task in parts[name] for example in task.examples()]]
    }
    print(f"encoded in {time.monotonic() - started:.0f} s", flush=True)
    heads = InstructionHeads(HeadSizes(len(MODEL_KINDS), len(classes), encoded.home.shape[1]))
    for layer in range(TUNED_LAYERS):
        cast(EncoderLayer, heads.tuned[layer]).load(weights, FROZEN_LAYERS + layer)
    if args.all:
        print("the figures below are of sentences that were learnt from", flush=True)
    fit(heads, encoded, held_back["validation"], args.epochs, np.random.default_rng(args.seed))
    figures = {name: accuracy(heads, part) for name, part in held_back.items()}
    print(json.dumps(figures), flush=True)
    seen = seen_slots(learnt)
    write_weights(InstructionModel(frozen, heads), classes, seen, published / "tokenizer.json", args.out)
    print(f"everything took {time.monotonic() - began:.0f} s", flush=True)
    return 0


def english_pieces(tokenizer: Tokenizer) -> np.ndarray:
    """Return the ids of the word pieces that English can need: plain ASCII, without the unused ones."""
    vocabulary = tokenizer.get_vocab()
    kept = [index for piece, index in vocabulary.items() if piece.isascii() and not piece.startswith("[unused")]
    return np.array(sorted(kept), dtype=np.int64)


def training_examples(tasks: Sequence[Task], generator: random.Random) -> list[Example]:
    """Return people's sentences, each twice, ours, and instructions of which most are several goals."""
    wording = Wording.shipped(generator)
    plain = [example for task in tasks for example in task.examples()]
    made = [wording.goal(generator.choice(tasks)) for _ in range(2 * len(plain) // 3)]
    made += [wording.told(generator.choice(tasks)) for _ in range(len(plain))]
    made += [wording.reworded(generator.choice(plain)) for _ in range(len(plain) // 2)]
    made += [wording.plain(generator.choice(tasks)) for _ in range(len(plain) // 20)]
    made += [wording.distracted(generator.choice(plain + made)) for _ in range(len(plain) // 2)]
    made += [wording.remark(generator.choice(tasks)) for _ in range(len(plain) // 15)]
    made += [wording.command(generator.choice(tasks)) for _ in range(len(plain) // 5)]
    for task in generator.sample(list(tasks), len(tasks) // 2):
        made.append(wording.chain(task, generator.randrange(len(task.steps))))
    several = SeveralGoals(wording, tasks, generator)
    return 2 * plain + made + [several.example() for _ in plain]


def seen_slots(tasks: Sequence[Task]) -> dict[str, dict[str, list[str]]]:
    """Return kind -> slot -> the classes that some task has there: what goals there can be."""
    seen: dict[str, dict[str, set[str]]] = {}
    for labels in (task.labels for task in tasks):
        for slot in ("target", "parent", "container", "light"):
            seen.setdefault(labels.kind, {}).setdefault(slot, set()).add(getattr(labels, slot))
    return {kind: {slot: sorted(names) for slot, names in slots.items()} for kind, slots in sorted(seen.items())}


def fit(
    heads: InstructionHeads, encoded: Encoded, validation: Encoded, epochs: int, generator: np.random.Generator
) -> None:
    """Minimise the slots' weighted cross-entropy with AdamW, a warm-up and a cosine to zero."""
    tuned = list(heads.tuned.parameters())
    fresh = [value for name, value in heads.named_parameters() if not name.startswith("tuned.")]
    optimiser = torch.optim.AdamW([{"params": tuned, "lr": 1.5e-4}, {"params": fresh, "lr": 1.2e-3}], weight_decay=0.02)
    batches = _batches(encoded, generator, 96)
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=[1.5e-4, 1.2e-3], total_steps=steps, pct_start=0.08
    )
    for epoch in range(epochs):
        heads.train()
        started, total = time.monotonic(), 0.0
        for rows in shown(_batches(encoded, generator, 96), f"epoch {epoch + 1}"):
            hidden, mask = encoded.batch(rows)
            home = torch.from_numpy(forget_some(encoded.home[rows], encoded.labels[rows], generator))
            labels = torch.from_numpy(encoded.labels[rows].copy())
            with half_precision():
                logits = heads(hidden, mask, home)
            loss = torch.zeros(())
            for index, slot in enumerate(SLOTS):
                one = nn.functional.cross_entropy(
                    logits[index].float(), labels[:, index], label_smoothing=0.02, ignore_index=UNASKED
                )
                loss = loss + _SLOT_WEIGHTS[slot] * one
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(heads.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        figures = accuracy(heads, validation)
        seconds = time.monotonic() - started
        print(f"epoch {epoch + 1}: loss {total / len(batches):.3f}, {seconds:.0f} s, {json.dumps(figures)}", flush=True)


def _batches(encoded: Encoded, generator: np.random.Generator, size: int) -> list[np.ndarray]:
    """Return rows in random batches of like length, so that little padding is computed."""
    lengths = np.diff(encoded.offsets)
    order = np.argsort(lengths + generator.uniform(0.0, 3.0, len(lengths)), kind="stable")
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    generator.shuffle(batches)  # type: ignore[arg-type]
    return batches


def accuracy(heads: InstructionHeads, encoded: Encoded) -> dict[str, float]:
    """Return the share of right answers by slot, and of goals whose every slot is right; homes known."""
    heads.eval()
    right = np.zeros((len(encoded.labels), len(SLOTS)), dtype=bool)
    with torch.no_grad():
        for start in range(0, len(right), 256):
            rows = np.arange(start, min(start + 256, len(right)))
            hidden, mask = encoded.batch(rows)
            with half_precision():
                logits = heads(hidden, mask, torch.from_numpy(encoded.home[rows]))
            for index in range(len(SLOTS)):
                right[rows, index] = logits[index].argmax(-1).numpy() == encoded.labels[rows, index]
    figures = {slot: round(float(right[:, index].mean()), 4) for index, slot in enumerate(SLOTS)}
    return {**figures, "goal": round(float(right.all(axis=1).mean()), 4)}
