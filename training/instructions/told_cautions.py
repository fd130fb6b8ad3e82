"""Trains what tells whether a told statement may speak against something.

`python -m training.instructions.told_cautions FILE...`: statements as in benchmarks/checks/told_facts*.yaml; an example
is whether an instruction about one wants a question.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from memory_node.planner.language.told_caution_reader import FILE, model_of
from memory_node.search.minilm import MiniLmEmbedder

Floats = NDArray[np.float64]
_QUESTION = ["question"]
_WEIGHT_DECAY = 0.3
_STEPS = 2000
_RATE = 2.0
_DIGITS = 4


def main() -> None:
    """Train on the files, print how it does on each when trained on the others, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="told facts with instructions")
    parser.add_argument("--out", type=Path, default=Path("readers/src/robot_memory_readers") / FILE)
    args = parser.parse_args()
    embedder = MiniLmEmbedder(threads=1)
    sets = [_examples(path) for path in args.files]
    vectors = [embedder.embed([text for text, _ in one]).astype(np.float64) for one in sets]
    labels = [np.array([label for _, label in one], dtype=np.float64) for one in sets]
    for place, path in enumerate(args.files):
        others = [at for at in range(len(sets)) if at != place]
        if others:
            weights, bias = fitted(np.vstack([vectors[at] for at in others]), np.hstack([labels[at] for at in others]))
            print(path.stem, _figures(vectors[place] @ weights + bias, labels[place]))
    weights, bias = fitted(np.vstack(vectors), np.hstack(labels))
    shipped = {
        "embedder": model_of(embedder),
        "bias": round(bias, _DIGITS),
        "weights": np.round(weights, _DIGITS).tolist(),
    }
    args.out.write_text(json.dumps(shipped) + "\n", encoding="utf-8")


def fitted(vectors: Floats, labels: Floats) -> tuple[Floats, float]:
    """Return weights (dimension,) and bias of a logistic regression with weight decay, by gradient descent.

    vectors (n, dimension); labels (n,) of 0 and 1.
    """
    weights, bias = np.zeros(vectors.shape[1]), 0.0
    for _ in range(_STEPS):
        error = 1.0 / (1.0 + np.exp(-(vectors @ weights + bias))) - labels
        weights -= _RATE * (vectors.T @ error + _WEIGHT_DECAY * weights) / len(labels)
        bias -= _RATE * float(error.mean())
    return weights, bias


def _examples(path: Path) -> Sequence[tuple[str, bool]]:
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [(" ".join(group["told"]), any(case["want"] == _QUESTION for case in group["ask"])) for group in groups]


def _figures(logits: Floats, labels: Floats) -> str:
    cautions, others = logits[labels == 1.0], logits[labels == 0.0]
    found, wrong = np.mean(cautions >= 0.0), np.mean(others >= 0.0)
    return f"{len(labels)} statements, cautions found {found:.2f}, others taken for one {wrong:.2f}"


if __name__ == "__main__":
    main()
