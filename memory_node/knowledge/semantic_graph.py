"""The semantic graph: propositions, the concepts that they mention, the steps that they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.facts import TOLD_SESSION, Proposition
from memory_node.knowledge.retrieval.retriever import Hit, Retriever
from memory_node.knowledge.retrieval.row_tables import NO_STEP
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.search.vector_rows import Vectors

# Embedded at once, so that a search that needs them does not wait for all of a long document.
_BATCH = 64
# Neighbours among which one that shares a concept is looked for.
_COMPARED = 8


class SemanticGraph:
    """Not thread-safe; its owner locks and computes vectors. Propositions that are not active are kept, never found.

    new_vectors: how many were put since it was made, or vectors were taken from a file.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        config: KnowledgeConfig,
    ) -> None:
        self._propositions: dict[str, Proposition] = {}
        self._by_session: dict[str, dict[str, None]] = defaultdict(dict)
        self._dimension, self._config = embedder.dimension, config
        self._rows = StatementRows(embedder.dimension)
        self._retriever = Retriever(self._rows, config)
        self._waiting: dict[str, None] = {}
        # Those with a session of its own for what a person told: few beside what documents say.
        self._told: set[str] = set()
        # Active ones with a structure, in the order in which they came.
        self._structured: dict[str, None] = {}
        self.new_vectors = 0

    def __len__(self) -> int:
        return len(self._propositions)

    def get(self, text: str) -> Proposition | None:
        """Return the proposition of this text, None when there is none."""
        return self._propositions.get(text)

    def all(self) -> list[Proposition]:
        """Return every proposition, given-up ones too."""
        return list(self._propositions.values())

    def texts(self) -> list[str]:
        """Return the text of every proposition, given-up ones too."""
        return list(self._propositions)

    def put(self, proposition: Proposition) -> None:
        """Take over a proposition as it is, in the place of the one of this text."""
        text = proposition.text
        known = self._propositions.get(text)
        if known is not None:
            self._leave_sessions(known)
        if not proposition.active:
            self._rows.remove(text)
            self._waiting.pop(text, None)
        else:
            self._rows.add(proposition)
            if known is None or not known.active:
                self._waiting[text] = None
        self._propositions[text] = proposition
        if proposition.active and proposition.structure:
            self._structured[text] = None
        else:
            self._structured.pop(text, None)
        for session in _sessions(proposition):
            self._by_session[session][text] = None
            if session.startswith(TOLD_SESSION):
                self._told.add(text)

    def remove(self, text: str) -> None:
        """Drop a proposition; nothing where there is none."""
        proposition = self._propositions.get(text)
        if proposition is None:
            return
        self._leave_sessions(proposition)
        self._rows.remove(text)
        self._waiting.pop(text, None)
        self._told.discard(text)
        self._structured.pop(text, None)
        del self._propositions[text]

    def _leave_sessions(self, proposition: Proposition) -> None:
        for session in _sessions(proposition):
            self._by_session[session].pop(proposition.text, None)
            if not self._by_session[session]:
                del self._by_session[session]

    def about(self, concepts: Iterable[str], told: bool = False) -> list[Proposition]:
        """Return the active propositions that mention any of these concepts; told: from what people told alone."""
        wanted = set(concepts)
        keys = (self._rows.key(row) for concept in sorted(wanted) for row in self._rows.by_concept.all(concept))
        found = [self._propositions[key] for key in dict.fromkeys(keys) if not told or key in self._told]
        # A row is found by the names in its text, too.
        return [one for one in found if one.concepts & wanted]

    def told(self) -> list[Proposition]:
        """Return every proposition from what people told, given-up ones too."""
        return [self._propositions[text] for text in sorted(self._told)]

    def structured(self) -> list[Proposition]:
        """Return the active propositions that were read into facts, in the order in which they came."""
        return [self._propositions[text] for text in self._structured]

    def of_session(self, session: str) -> list[Proposition]:
        """Return the propositions that come from a session."""
        return [self._propositions[text] for text in self._by_session.get(session, ())]

    def of_step(self, source: str) -> list[str]:
        """Return the texts of the active propositions of a step, in the order in which they were read."""
        step = self._rows.steps.number(source)
        return [self._rows.key(row) for row in sorted(self._rows.steps.rows(step))] if step != NO_STEP else []

    def most_like(self, proposition: Proposition, least: float) -> Proposition | None:
        """Return the other active proposition that is most like this one and shares a concept; None below `least`."""
        vector = self._rows.vector_of(proposition.text)
        if vector is None:
            return None
        rows, cosines = self._rows.vectors.search(vector, _COMPARED)
        for row, cosine in zip(rows.tolist(), cosines.tolist()):
            other = self._propositions[self._rows.key(row)]
            if cosine >= least and other.text != proposition.text and other.concepts & proposition.concepts:
                return other
        return None

    def order(self, proposition: Proposition) -> tuple[int, int]:
        """Return what sorts propositions by when they were learned, and those of one time as they were read."""
        return proposition.stamp_ns, self._rows.row_of(proposition.text)

    def likeness(self, text: str, vector: Vectors) -> float:
        """Return the cosine of a proposition with a vector (dimension,); 0 while it has none."""
        own = self._rows.vector_of(text)
        return float(own @ vector) if own is not None else 0.0

    def cosine(self, text: str, other: str) -> float:
        """Return the cosine of two propositions; 0 while one has no vector."""
        vector = self._rows.vector_of(other)
        return self.likeness(text, vector) if vector is not None else 0.0

    def idf(self, word: str) -> float:
        """Return the weight of a word's stem among the propositions."""
        return self._rows.words.idf(word)

    def waiting(self) -> list[str]:
        """Return the next texts that have no vector yet, for put_vectors(); empty when all have one."""
        return list(islice(self._waiting, _BATCH))

    def waiting_count(self) -> int:
        """Return how many texts have no vector yet."""
        return len(self._waiting)

    def waiting_about(self, concepts: Iterable[str]) -> list[str]:
        """Return up to a batch of the texts without a vector that mention any of these concepts."""
        if not self._waiting:
            return []
        texts = (self._rows.key(row) for concept in sorted(concepts) for row in self._rows.by_concept.all(concept))
        return list(islice(dict.fromkeys(text for text in texts if text in self._waiting), _BATCH))

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Take over the vectors (n, dimension) of texts; those that have gone meanwhile are left out."""
        self.new_vectors += self._rows.put_vectors(texts, vectors)
        for text in texts:
            self._waiting.pop(text, None)

    def take_vectors(self, known: Callable[[Sequence[str]], tuple[list[str], Vectors]]) -> None:
        """Take over the vectors that are known of texts that have none; known: returns which these are, and them."""
        self.put_vectors(*known(list(self._waiting)))
        self.new_vectors = 0

    def vectors(self) -> tuple[list[str], Vectors]:
        """Return the texts that have a vector, and these (n, dimension)."""
        return self._rows.embedded()

    def search(self, question: str, vector: Vectors, k: int, hops: int | None = None) -> list[Hit]:
        """Return up to k steps with their best propositions; see Retriever.search."""
        return self._retriever.search(question, vector, k, hops)

    def figures(self) -> tuple[int, int]:
        """Return how many nodes and edges there are."""
        return self._rows.figures()


def _sessions(proposition: Proposition) -> set[str]:
    return {source.rpartition(":")[0] for source in proposition.sources}
