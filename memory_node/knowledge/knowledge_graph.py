"""The knowledge graph: propositions by concept, prescriptions by intent, both by source."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.extraction import prescription_of, propositions_of
from memory_node.knowledge.facts import (
    Prescription,
    Proposition,
    prescription_from_dict,
    proposition_from_dict,
    to_dict,
)

PROPOSITIONS = "proposition"
PRESCRIPTIONS = "prescription"
# An intent less like the instruction than this is about something else (cosine of sentence embeddings).
_SAME_INTENT = 0.5


class KnowledgeLog(Protocol):
    """Where knowledge becomes durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""


class KnowledgeGraph:
    """Thread-safe. embedder: compares intents."""

    def __init__(self, embedder: TextEmbedder, log: KnowledgeLog) -> None:
        self._embedder = embedder
        self._log = log
        self._lock = threading.RLock()
        self._propositions: dict[str, Proposition] = {}
        self._prescriptions: dict[str, Prescription] = {}
        self._by_concept: dict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._propositions) + len(self._prescriptions)

    def load(self, propositions: Iterable[dict[str, Any]], prescriptions: Iterable[dict[str, Any]]) -> None:
        """Take over what the store holds, at start-up."""
        with self._lock:
            for values in propositions:
                self._keep(proposition_from_dict(values))
            for values in prescriptions:
                prescription = prescription_from_dict(values)
                self._prescriptions[prescription.key] = prescription

    def learn(self, episode: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
        """Take over what a finished episode showed."""
        with self._lock:
            kept = {self._keep(proposition).text for proposition in propositions_of(steps)}
            stated = [self._propositions[text] for text in sorted(kept)]
            way = prescription_of(episode, steps)
            if way is not None:
                known = self._prescriptions.get(way.key)
                way = self._prescriptions[way.key] = known.merged(way) if known else way
        self._log.put_documents(PROPOSITIONS, [(p.text, to_dict(p), _episodes(p.sources)) for p in stated])
        if way is not None:
            self._log.put_documents(PRESCRIPTIONS, [(way.key, to_dict(way), way.sources)])

    def about(self, concepts: Iterable[str], k: int = 5) -> list[Proposition]:
        """Return the k propositions about these concepts: most concepts first, then best supported, then newest."""
        wanted = set(concepts)
        with self._lock:
            texts = {text for concept in wanted for text in self._by_concept.get(concept, ())}
            found = [self._propositions[text] for text in texts]
        return sorted(found, key=lambda p: (-len(p.concepts & wanted), -p.support, -p.stamp_ns, p.text))[:k]

    def ways_to(self, intent: str, k: int = 2) -> list[Prescription]:
        """Return the k prescriptions whose intents are most like this one."""
        with self._lock:
            known = list(self._prescriptions.values())
        if not known or not intent.strip():
            return []
        vectors = self._embedder.embed([intent, *(prescription.intent for prescription in known)])
        scores = vectors[1:] @ vectors[0]
        order = np.argsort(-scores, kind="stable")[:k]
        return [known[index] for index in order if scores[index] >= _SAME_INTENT]

    def forget(self, episode_id: str) -> int:
        """Withdraw an episode; return how many facts only it supported, which are gone now."""
        gone = 0
        with self._lock:
            for text, proposition in list(self._propositions.items()):
                left = tuple(s for s in proposition.sources if s.rpartition(":")[0] != episode_id)
                if left == proposition.sources:
                    continue
                self._drop(text)
                if left:
                    self._keep(Proposition(text, proposition.concepts, left, proposition.stamp_ns))
                gone += not left
            for key, way in list(self._prescriptions.items()):
                remaining = tuple(s for s in way.sources if s != episode_id)
                if remaining and remaining != way.sources:
                    self._prescriptions[key] = Prescription(way.intent, way.actions, remaining, way.stamp_ns)
                elif not remaining:
                    del self._prescriptions[key]
                    gone += 1
        return gone

    def _keep(self, proposition: Proposition) -> Proposition:
        known = self._propositions.get(proposition.text)
        kept = known.merged(proposition) if known else proposition
        self._propositions[proposition.text] = kept
        for concept in kept.concepts:
            self._by_concept[concept].add(kept.text)
        return kept

    def _drop(self, text: str) -> None:
        for concept in self._propositions.pop(text).concepts:
            self._by_concept[concept].discard(text)


def _episodes(sources: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.rpartition(":")[0] for source in sources))
