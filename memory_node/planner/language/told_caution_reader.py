"""Tells of statements that no rule reads whether they may speak against something, by their words and their meaning."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import readers_folder
from memory_node.planner.language.told_cautions import Cautious, cautious_by_words

_LOG = logging.getLogger(__name__)
FILE = "told_cautions.json"
_SURE = 0.5


class CautionReader:
    """A logistic regression over a sentence's vector, beside the words of caution; training/instructions/
    told_cautions.py makes its weights. A wrong yes costs a question, a wrong no may cost an act that was not meant.

    weights (dimension,), bias: for unit vectors of the embedder.
    """

    def __init__(self, embedder: TextEmbedder, weights: NDArray[np.float32], bias: float) -> None:
        self._embedder = embedder
        self._weights = weights
        self._bias = bias

    def __call__(self, clause: str) -> bool:
        """Return whether a clause has a word of caution, or means one."""
        return cautious_by_words(clause) or self.probability(clause) >= _SURE

    def probability(self, clause: str) -> float:
        """Return how probable it is by the clause's meaning that it speaks against something."""
        logit = float(self._embedder.embed([clause])[0] @ self._weights) + self._bias
        return float(1.0 / (1.0 + np.exp(-logit)))


def model_of(embedder: TextEmbedder) -> str:
    """Return the name of an embedder's model; its precision and file do not matter here."""
    return str(getattr(embedder, "fingerprint", "")).partition("/")[0]


def open_caution_reader(embedder: TextEmbedder | None, folder: Path | None = None) -> Cautious:
    """Return the reader with the shipped weights; the words alone where there are none for this embedder."""
    path = (folder or readers_folder()) / FILE
    if embedder is None or not path.is_file():
        return cautious_by_words
    shipped = json.loads(path.read_text(encoding="utf-8"))
    model = model_of(embedder)
    if shipped["embedder"] != model:
        _LOG.warning("%s is for %s, not %r: words alone tell cautions", path, shipped["embedder"], model)
        return cautious_by_words
    return CautionReader(embedder, np.array(shipped["weights"], dtype=np.float32), float(shipped["bias"]))
