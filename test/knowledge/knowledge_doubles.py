"""What tests of knowledge use in the place of the sentence embedder and the store."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text import stems
from memory_node.knowledge.told.fact import ToldFact
from memory_node.knowledge.told.forms import TellingReader
from memory_node.llm.chat import LlmError, Message, Reply

_TELLING = TellingReader(load_catalogue())


def read_facts(said: str, step: StandardStep) -> tuple[ToldFact, ...]:
    """Read a told sentence as a memory does that has no language model."""
    return _TELLING.read(said, step.stamp_ns, step.subject).facts


class BagOfWords:
    """Unit vectors of words that are hashed: texts that share words are alike."""

    dimension = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-6, dtype=np.float32)
        for row, text in zip(vectors, texts):
            for word in stems(text):
                row[zlib.crc32(word.encode()) % self.dimension] += 1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


class ListedLog:
    """A log that can be looked at. sources: what each document was learned from."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, dict[str, Any]]] = {PROPOSITIONS: {}, STEPS: {}}
        self.sources: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}

    def put_documents(
        self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[tuple[str, str], ...]]]
    ) -> None:
        for key, values, sources in documents:
            self.documents[kind][key] = values
            self.sources[kind, key] = sources

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        for key in ids:
            del self.documents[kind][key]


def reborn(log: ListedLog) -> KnowledgeGraph:
    """Return a graph that starts from what a log holds."""
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    graph.load(*(log.documents[kind].values() for kind in (PROPOSITIONS, STEPS)))
    graph.embed_statements()
    return graph


class ScriptedModel:
    """Gives replies in their order, and keeps what it was sent."""

    name = "script"

    def __init__(self, *replies: dict[str, Any] | str | LlmError) -> None:
        self._replies = list(replies)
        self.sent: list[str] = []

    def reply(self, messages: tuple[Message, ...], *_: object) -> Reply:
        self.sent.append(messages[-1].text)
        said = self._replies.pop(0)
        if isinstance(said, LlmError):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Reply(text, 1, 1)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4
