"""Starts knowledge from a file beside the store, and from the store where the file does not fit."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.index_file import IndexFileError, read_index, write_index
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS, STEPS
from memory_node.search.packing import Arrays
from memory_node.store.apply import tombstone_of
from memory_node.store.reader import without_collection
from memory_node.store.records import StoreMark
from memory_node.store.store import Store

_log = logging.getLogger(__name__)

# The kinds of documents that the file spares reading.
_KEPT = (PROPOSITIONS, STEPS)
# The file is written anew when more than this share of the statements changed; the next start reads fewer anew.
_CHANGED_SHARE = 0.01
# Embedded to tell one embedder from another.
_PROBE = "The blue mug stands on the table in the kitchen."
_LEAST_LIKENESS = 0.999


@dataclass(frozen=True)
class _About:
    """What a file was made from. apart: documents of the store that the graph does not hold, by kind."""

    mark: StoreMark
    apart: dict[str, int]
    probe: list[float]


class KeptKnowledge:
    """A file of statements, steps, vectors and indexes, as they were at a mark of the store. It is never the truth.

    What changed after the mark is read from the store. The file is not used when it is damaged, of another version,
    store or embedder, or when the store then holds another number of documents; knowledge is read whole, and the
    next end makes a new file. It goes as soon as anything is removed or forgotten.
    """

    def __init__(self, path: Path, store: Store, embedder: TextEmbedder) -> None:
        self._path = path
        self._store = store
        self._embedder = embedder
        self._changes_kept = 0

    def load(self, knowledge: KnowledgeGraph) -> bool:
        """Let an empty graph take over what the store holds; return whether the file was of use.

        Raises:
            StoreUnavailableError: the store cannot be read now.
        """
        with without_collection():
            return self._load(knowledge)

    def _load(self, knowledge: KnowledgeGraph) -> bool:
        found = self._read()
        if found is not None and self._go_on(knowledge, *found):
            return True
        bodies = {kind: [dict(one.body) for one in self._store.bodies([kind])] for kind in _KEPT}
        knowledge.load(bodies[PROPOSITIONS], bodies[STEPS])
        return False

    def save(self, knowledge: KnowledgeGraph) -> bool:
        """Write the file if enough has changed; return whether it was written. The graph may not change meanwhile."""
        sizes = knowledge.sizes
        if not sizes[PROPOSITIONS] or (self._path.is_file() and not self._is_old(knowledge)):
            return False
        try:
            mark = self._store.mark()
            about = _About(mark, self._apart(knowledge), self._probe())
            write_index(self._path, asdict(about), knowledge.packed())
            self._changes_kept = knowledge.changes
        except (RobotMemoryError, OSError) as error:
            _log.warning(
                "what is known will be read anew at the next start, as %s cannot be written: %s", self._path, error
            )
            return False
        return True

    def drop(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _is_old(self, knowledge: KnowledgeGraph) -> bool:
        return knowledge.changes - self._changes_kept > _CHANGED_SHARE * knowledge.sizes[PROPOSITIONS]

    def _read(self) -> tuple[_About, Arrays] | None:
        """Return what the file holds if it is of this store and this embedder."""
        if not self._path.is_file():
            return None
        try:
            values, arrays = read_index(self._path)
            about = _about_from_dict(values)
            if not self._store.is_past(about.mark):
                raise IndexFileError("it is of another store, or of a newer copy of it")
            if len(about.probe) != self._embedder.dimension or np.dot(about.probe, self._probe()) < _LEAST_LIKENESS:
                raise IndexFileError("its vectors are of another embedder")
        except (RobotMemoryError, OSError) as error:
            _log.warning("what is known is read anew: %s: %s", self._path, error)
            return None
        return about, arrays

    def _go_on(self, knowledge: KnowledgeGraph, about: _About, arrays: Arrays) -> bool:
        """Take over the file and what changed since; return whether that is as much as the store holds."""
        nothing = knowledge.packed()
        knowledge.restore(arrays)
        since = about.mark.revision
        forgotten = self._store.forgotten_since(since)
        if forgotten:
            # Before what changed: it may have been learned anew since.
            knowledge.drop_forgotten(lambda kind, key: tombstone_of(kind, key) in forgotten, ())
        changed = self._store.bodies(_KEPT, since)
        present = {kind: [dict(one.body) for one in changed if one.kind == kind and not one.removed] for kind in _KEPT}
        knowledge.load(present[PROPOSITIONS], present[STEPS])
        knowledge.give_up({kind: {one.id for one in changed if one.kind == kind and one.removed} for kind in _KEPT})
        if self._apart(knowledge) == about.apart:
            return True
        _log.warning("what is known is read anew: %s holds another number of statements than the store", self._path)
        knowledge.restore(nothing)
        return False

    def _apart(self, knowledge: KnowledgeGraph) -> dict[str, int]:
        counts, sizes = self._store.count_documents(_KEPT), knowledge.sizes
        return {kind: counts[kind] - sizes[kind] for kind in _KEPT}

    def _probe(self) -> list[float]:
        return [float(value) for value in self._embedder.embed([_PROBE])[0]]


def _about_from_dict(values: dict[str, Any]) -> _About:
    try:
        return _About(StoreMark(**values["mark"]), dict(values["apart"]), list(values["probe"]))
    except (KeyError, TypeError, ValueError) as error:
        raise IndexFileError(f"it does not say what it is made from: {error!r}") from error
