"""Where knowledge becomes durable, and the kinds of documents that it is kept as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

PROPOSITIONS = "proposition"
STEPS = "knowledge_step"
# What a document was learned from: (kind, id).
Source = tuple[str, str]


class KnowledgeLog(Protocol):
    """Where knowledge becomes durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[Source, ...]]]) -> None:
        """Keep (id, values, what it was learned from as (kind, id)) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""
