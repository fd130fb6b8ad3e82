"""What kind of room holds such things: sentence embeddings of the contents against descriptions of the kinds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import resource_path
from memory_node.scene_graph.find import spoken_name

# No single thing rules a kind out: a bicycle in the bedroom is one thing that fits ill.
_LEAST_PROBABILITY = 1e-3
_NUMBERED = re.compile(r"(.+?) [0-9]+")


@dataclass(frozen=True)
class RoomKinds:
    """Descriptions of each kind of room, by its name; config/room_kinds.yaml holds the shipped ones."""

    phrases: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        empty = [name for name, phrases in self.phrases.items() if not name.strip() or not phrases]
        if len(self.phrases) < 2 or empty:
            raise InvalidValueError(f"room kinds: expected two or more, each with phrases, got {dict(self.phrases)}")

    @classmethod
    def load(cls, path: Path | None = None) -> RoomKinds:
        """Read a YAML file of kinds with their phrases (default: the shipped one).

        Raises:
            InvalidValueError: it holds anything else.
        """
        path = path or resource_path("config/room_kinds.yaml")
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not all(isinstance(phrases, list) for phrases in content.values()):
            raise InvalidValueError(f"{path}: expected kinds of rooms with lists of phrases")
        return cls({str(name): tuple(map(str, phrases)) for name, phrases in content.items()})

    def kind_in(self, room_name: str) -> str:
        """Return the kind that a room is named by, as in "bedroom 2"; empty for any other name."""
        numbered = _NUMBERED.fullmatch(room_name)
        kind = numbered[1] if numbered else room_name
        return kind if kind in self.phrases else ""


class RoomClassifier:
    """Weighs the evidence of each class of things once, then only adds up.

    cosine_slope: log-odds between two kinds for each unit of cosine by which a thing is more like one of them.
    """

    def __init__(self, kinds: RoomKinds, embedder: TextEmbedder, cosine_slope: float) -> None:
        self.kinds = kinds
        self._embedder = embedder
        self._slope = cosine_slope
        self._described: NDArray[np.float32] | None = None
        self._evidence: dict[str, NDArray[np.float64]] = {}

    def probabilities(self, classes: Collection[str]) -> dict[str, float]:
        """Return the probability of each kind for a room that holds things of these classes; they sum to 1.

        Several things of a class tell no more than one: twelve drawers make no kitchen.
        """
        missing = sorted(set(classes) - set(self._evidence))
        if missing:
            self._evidence.update(zip(missing, self._weigh(missing)))
        total = sum((self._evidence[name] for name in sorted(set(classes))), np.zeros(len(self.kinds.phrases)))
        odds = np.exp(total - total.max())
        return dict(zip(self.kinds.phrases, (odds / odds.sum()).tolist()))

    def _weigh(self, classes: list[str]) -> NDArray[np.float64]:
        """Return the log-odds (n, kinds) that each class gives, scaled by how much it tells: a window stands in any
        room, a toilet in one (one minus the normalised entropy of its kinds)."""
        described = [(name, *phrases) for name, phrases in self.kinds.phrases.items()]
        sizes = [len(phrases) for phrases in described]
        if self._described is None:
            self._described = self._embedder.embed([phrase for phrases in described for phrase in phrases])
        cosine = self._embedder.embed([spoken_name(name) for name in classes]) @ self._described.T
        best = np.maximum.reduceat(cosine, np.cumsum([0, *sizes[:-1]]), axis=1).astype(np.float64)
        odds = np.exp(self._slope * (best - best.max(axis=1, keepdims=True)))
        share = odds / odds.sum(axis=1, keepdims=True)
        characteristic = 1.0 + (share * np.log(share)).sum(axis=1, keepdims=True) / np.log(len(sizes))
        return np.asarray(characteristic * np.log((share + _LEAST_PROBABILITY) * len(sizes)))
