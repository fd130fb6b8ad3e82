"""The knowledge graph: propositions by concept, prescriptions by intent, both by source."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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
# All of them are compared with each question.
_MOST_WAYS = 1000


class KnowledgeLog(Protocol):
    """Where knowledge becomes durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


@dataclass(frozen=True)
class Withdrawal:
    """What an episode's withdrawal changed, and the texts and keys of what went."""

    stated: list[Proposition]
    ways: list[Prescription]
    texts: list[str]
    keys: list[str]


class KnowledgeGraph:
    """Thread-safe. embedder: compares intents."""

    def __init__(self, embedder: TextEmbedder, log: KnowledgeLog) -> None:
        self._embedder = embedder
        self._log = log
        self._lock = threading.RLock()
        self._propositions: dict[str, Proposition] = {}
        self._prescriptions: dict[str, Prescription] = {}
        self._by_concept: dict[str, set[str]] = defaultdict(set)
        self._vectors: dict[str, NDArray[np.float32]] = {}

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
            self._keep_newest()

    def embed_intents(self) -> None:
        """Make the intents that were loaded findable; takes seconds, so not to be waited for."""
        with self._lock:
            intents = [w.intent for w in self._prescriptions.values() if w.intent not in self._vectors]
        for intent in dict.fromkeys(intents):
            self._embed(intent)

    def learn(self, episode: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
        """Take over what a finished episode showed."""
        way = prescription_of(episode, steps)
        if way is not None:
            self._embed(way.intent)
        with self._lock:
            kept = {self._keep(proposition).text for proposition in propositions_of(steps)}
            stated = [self._propositions[text] for text in sorted(kept)]
            if way is not None:
                known = self._prescriptions.pop(way.key, None)
                way = self._prescriptions[way.key] = known.merged(way) if known else way
                self._keep_newest()
        self._store(stated, [way] if way is not None else [])

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
            known = [way for way in self._prescriptions.values() if way.intent in self._vectors]
            vectors = [self._vectors[way.intent] for way in known]
        if not known or not intent.strip():
            return []
        scores = np.stack(vectors) @ self._embedder.embed([intent])[0]
        order = np.argsort(-scores, kind="stable")[:k]
        return [known[index] for index in order if scores[index] >= _SAME_INTENT]

    def forget(self, episode_id: str) -> int:
        """Withdraw an episode; return how many facts only it supported, which are gone now."""
        withdrawn = self.drop(episode_id)
        self._log.remove_documents(PROPOSITIONS, withdrawn.texts)
        self._log.remove_documents(PRESCRIPTIONS, withdrawn.keys)
        self._store(withdrawn.stated, withdrawn.ways)
        return len(withdrawn.texts) + len(withdrawn.keys)

    def drop(self, episode_id: str) -> Withdrawal:
        """Withdraw an episode that has gone from the store already; return what that took and changed."""
        with self._lock:
            shown = [p for p in self._propositions.values() if episode_id in _episodes(p.sources)]
            for proposition in shown:
                self._drop(proposition.text)
            stated = [self._keep(left) for p in shown if (left := p.without(episode_id)) is not None]
            worked = [way for way in self._prescriptions.values() if episode_id in way.sources]
            for way in worked:
                del self._prescriptions[way.key]
            ways = [kept for way in worked if (kept := way.without(episode_id)) is not None]
            self._prescriptions.update((way.key, way) for way in ways)
            texts = [p.text for p in shown if p.text not in self._propositions]
            keys = [way.key for way in worked if way.key not in self._prescriptions]
        return Withdrawal(stated, ways, texts, keys)

    def drop_forgotten(self, is_forgotten: Callable[[str, str], bool], episode_ids: Iterable[str]) -> None:
        """Give up what has gone from the store already; is_forgotten: by a document's kind and id."""
        for episode_id in episode_ids:
            self.drop(episode_id)
        with self._lock:
            for text in [text for text in self._propositions if is_forgotten(PROPOSITIONS, text)]:
                self._drop(text)
            for key in [key for key in self._prescriptions if is_forgotten(PRESCRIPTIONS, key)]:
                del self._prescriptions[key]

    def _store(self, stated: Iterable[Proposition], ways: Iterable[Prescription]) -> None:
        self._log.put_documents(PROPOSITIONS, [(p.text, to_dict(p), _episodes(p.sources)) for p in stated])
        self._log.put_documents(PRESCRIPTIONS, [(way.key, to_dict(way), way.sources) for way in ways])

    def _embed(self, intent: str) -> None:
        if intent not in self._vectors:
            vector = self._embedder.embed([intent])[0]
            with self._lock:
                self._vectors[intent] = vector

    def _keep_newest(self) -> None:
        """Let the oldest ways go; the log keeps them."""
        if len(self._prescriptions) <= _MOST_WAYS:
            return
        by_age = sorted(self._prescriptions.values(), key=lambda way: (way.stamp_ns, way.key))
        for way in by_age[: len(by_age) - _MOST_WAYS]:
            del self._prescriptions[way.key]
        used = {way.intent for way in self._prescriptions.values()}
        self._vectors = {intent: vector for intent, vector in self._vectors.items() if intent in used}

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
