"""How well each class fits a request: cosine, BM25, and whether the request names it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import folded, spoken
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.names import embedded_now, is_embedded
from memory_node.domain.ports import TextEmbedder
from memory_node.search.config import RetrievalConfig
from memory_node.search.glosses import ClassGlosses, NamedClasses, gloss_vectors
from memory_node.search.lexical_index import LexicalIndex
from memory_node.search.request_phrases import RequestPhrases, contradict, role_of
from memory_node.search.request_words import KindWords, content_tokens, is_for_a_place, tokens

_LOG = logging.getLogger(__name__)
# Log-odds of a perfect BM25 score (which is a share of the best possible).
_LEXICAL_LOG_ODDS = 4.0
# Log-odds of a place that a request names beside the wanted thing: a belief of 0.73.
_PLACE_LOG_ODDS = 1.0
# A cosine that no text has: of one that says that the thing is a vessel, where a tool is asked for.
_OTHER_ROLE = -1.0
# By the deed alone a class may fit so much worse than the best (cosine) without being less likely.
_DEED_SLACK = 0.1


@dataclass(frozen=True)
class ClassFit:
    """How a request fits the classes by number (n,): the best cosine of each one's texts, log-odds by words, whether it
    names them or what they are pieces of, as what is wanted or as its place, and whether it names them as what the
    wanted thing is used on."""

    cosines: NDArray[np.float64]
    word_log_odds: NDArray[np.float64]
    named: NDArray[np.bool_]
    used_on: NDArray[np.bool_]
    best_cosine: float


@dataclass(frozen=True)
class _ClassTable:
    """What is known of the classes by number: how they are spelt, their texts, the texts' vectors (n, d), and where
    each one's begin. What their words tell is found out when it is first asked for: classes come in bursts."""

    glosses: ClassGlosses
    index: dict[str, int]
    spelt: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]

    def with_classes(self, texts_of: Mapping[str, tuple[str, ...]], vectors: NDArray[np.float32]) -> _ClassTable:
        """Return the table with more classes; vectors (k, d): of all their texts, in order."""
        numbers = range(len(self.index), len(self.index) + len(texts_of))
        counts = [len(texts) for texts in texts_of.values()]
        return replace(
            self,
            index={**self.index, **dict(zip(texts_of, numbers))},
            spelt=(*self.spelt, *map(folded, texts_of)),
            texts=(*self.texts, *texts_of.values()),
            vectors=np.concatenate([self.vectors, vectors]),
            starts=np.append(self.starts, len(self.vectors) + np.cumsum([0, *counts[:-1]])),
        )

    def with_vectors(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> _ClassTable:
        """Return the table with other vectors (len(rows), d) of some texts; rows: the texts' numbers."""
        changed = self.vectors.copy()
        changed[rows] = vectors
        return replace(self, vectors=changed)

    @cached_property
    def lexical(self) -> LexicalIndex:
        """The classes' texts by words."""
        return LexicalIndex.of(content_tokens(" ".join(texts)) for texts in self.texts)

    @cached_property
    def named(self) -> NamedClasses:
        """The classes by their names."""
        return NamedClasses(self.glosses, self.index)

    @cached_property
    def pieces(self) -> dict[str, list[int]]:
        """By class, the numbers of those that are it or pieces of it."""
        found: dict[str, list[int]] = {}
        for name, number in self.index.items():
            found.setdefault(self.glosses.whole(name), []).append(number)
        return found

    @cached_property
    def no_places(self) -> NDArray[np.bool_]:
        """By class (n,), whether nothing is done at or in it."""
        return np.array([self.glosses.is_no_place(name) for name in self.index], dtype=np.bool_)

    @cached_property
    def strangers(self) -> NDArray[np.bool_]:
        """By class (n,), whether the label space has it as a thing that people ask for, and not as a class."""
        return np.array([name in self.glosses.catalogue.strangers for name in self.index], dtype=np.bool_)

    @cached_property
    def kinds(self) -> KindWords:
        """What their texts say of their kinds."""
        return KindWords(self.texts, self.glosses.catalogue.rooms)

    @cached_property
    def compounds(self) -> NDArray[np.bool_]:
        """By class (n,), whether its name says which of a kind it is: wine bottle."""
        return np.array([len(tokens(spoken(name))) > 1 for name in self.index], dtype=np.bool_)

    @cached_property
    def roles(self) -> list[str]:
        """By text, what it says the thing is to a deed."""
        return [role_of(text) for group in self.texts for text in group]

    def cosines(self, vector: NDArray[np.float32], role: str = "") -> NDArray[np.float64]:
        """Return by class (n,) the best cosine of its texts with a vector (d,); texts of another role do not count."""
        each = self.vectors @ vector
        if role:
            each[[contradict(role, of_text) for of_text in self.roles]] = _OTHER_ROLE
        return np.asarray(np.maximum.reduceat(each, self.starts), dtype=np.float64)


class ClassScores:
    """Scores the classes of the glosses and any others that were met; a class keeps its number.

    The vectors of the shipped texts come from the disk. Safe to share between threads: the table is replaced whole.
    """

    def __init__(self, embedder: TextEmbedder, glosses: ClassGlosses, config: RetrievalConfig) -> None:
        self._embedder = embedder
        self._glosses = glosses
        self._config = config
        self._lock = threading.Lock()
        self._waiting: dict[int, str] = {}
        # Equal phrases are embedded once: kinds share them among their classes.
        texts = list(dict.fromkeys(text for group in glosses.texts.values() for text in group))
        rows = {text: row for row, text in enumerate(texts)}
        vectors = gloss_vectors(texts, embedder)
        groups = [tuple(glosses.texts_of(name)) for name in glosses.texts]
        self._table = _ClassTable(
            glosses,
            {name: number for number, name in enumerate(glosses.texts)},
            tuple(map(folded, glosses.texts)),
            tuple(groups),
            vectors[[rows[text] for group in groups for text in group]],
            np.cumsum([0, *map(len, groups)])[:-1],
        )

    @property
    def dimension(self) -> int:
        """Length of the texts' vectors."""
        return self._table.vectors.shape[1]

    def number_of(self, class_name: str) -> int:
        """Return the number of a class; one that was not met before is embedded and gets the next."""
        if class_name not in self._table.index:
            self.meet([class_name])
        return self._table.index[class_name]

    @property
    def waiting(self) -> int:
        """How many texts of classes are still to be embedded."""
        return len(self._waiting)

    def meet(self, class_names: Collection[str]) -> None:
        """Give those classes numbers that were not met before. Their texts are embedded together, as many as one call
        may cost; those that wait from calls before come first."""
        if not self._waiting and all(name in self._table.index for name in class_names):
            return
        with self._lock:
            new = [name for name in dict.fromkeys(class_names) if name not in self._table.index]
            texts_of = {name: tuple(self._glosses.texts_of(name)) for name in new}
            if texts_of:
                texts = [text for group in texts_of.values() for text in group]
                self._waiting.update(enumerate(texts, len(self._table.vectors)))
                nothing = np.zeros((len(texts), self.dimension), dtype=np.float32)
                self._table = self._table.with_classes(texts_of, nothing)
            self._embed_waiting()

    def _embed_waiting(self) -> None:
        chosen = set(embedded_now(self._waiting.values()))
        rows = [row for row, text in self._waiting.items() if text in chosen]
        if rows:
            self._table = self._table.with_vectors(rows, self.vectors_of([self._waiting[row] for row in rows]))
        self._waiting = {row: text for row, text in self._waiting.items() if text not in chosen and is_embedded(text)}
        if self._waiting:
            _LOG.warning("%d names of classes wait to be embedded; their words find them", len(self._waiting))

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors (n, dimension) of what units are; zeros for texts of more than 80 characters, and for all
        when the embedder fails.

        A remote embedder that is away must not cost the memory of what is seen: BM25 and class names find it still.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        rows = [row for row, text in enumerate(texts) if is_embedded(text)]
        try:
            if rows:
                vectors[rows] = self._embedder.embed([texts[row] for row in rows])
        except RobotMemoryError as error:
            _LOG.warning("%d texts of remembered things are not embedded: %s", len(texts), error)
        return vectors

    def same_class(self, class_name: str) -> NDArray[np.bool_]:
        """Return by class number (n,) whether a class is what `class_name` means: the class that is spelt so, in
        whatever way; only where there is none, those that people call so."""
        table, spelt = self._table, folded(class_name)
        same = np.array([name == spelt for name in table.spelt], dtype=np.bool_)
        if not same.any():
            same = np.array([self._glosses.same_class(class_name, name) for name in table.index], dtype=np.bool_)
        return same

    def mask(self, text: str) -> NDArray[np.bool_]:
        """Return by class number (n,) whether the text names a class."""
        named = self._table.named.mentioned(text)
        return np.array([name in named for name in self._table.index], dtype=np.bool_)

    def mentioned(self, text: str) -> set[str]:
        """Return the classes that the text names."""
        return self._table.named.mentioned(text)

    def fit(
        self,
        phrases: RequestPhrases,
        vector: NDArray[np.float32],
        purpose: NDArray[np.float32] | None = None,
        deed: NDArray[np.float32] | None = None,
    ) -> ClassFit:
        """Return how a request fits each class.

        vector (d,): the embedding of what is wanted; purpose and deed (d,): those of `phrases.purpose` and
        `phrases.deed`, None where they are empty. A class that the request does not name fits as well as the worse of
        wanted and purpose: furniture to sit on is no cupboard. It fits less where another fits the deed better: one
        eats soup with a spoon, and heats it with something else.
        """
        table, config = self._table, self._config
        named = table.named.find(phrases.wanted)
        plain = table.cosines(vector)
        cosines = table.cosines(vector, phrases.role) if phrases.role else plain
        lexical = table.lexical.shares(content_tokens(phrases.wanted))
        if purpose is not None and not named.meant:
            for_it = table.cosines(purpose)
            plain = np.minimum(plain, for_it)
            cosines = np.minimum(cosines, table.cosines(purpose, phrases.role) if phrases.role else for_it)
            lexical = np.minimum(lexical, table.lexical.shares(content_tokens(phrases.purpose)))
        if deed is not None and not named.meant:
            doing = table.cosines(deed, phrases.role)
            cosines = cosines - np.maximum(doing.max(initial=0.0) - doing - _DEED_SLACK, 0.0)
        words = config.lexical_weight * _LEXICAL_LOG_ODDS * lexical
        is_named = np.zeros(len(words), dtype=np.bool_)
        if named.meant:
            # "The bread" may be a slice of it.
            is_named[[number for name in named.meant for number in table.pieces.get(name, ())]] = True
            signs = np.full(len(words), -1.0)
            signs[[table.index[name] for name in named.meant]] = 1.0
            signs[[table.index[name] for name in named.called_so]] = 0.0
            signs[table.compounds & table.kinds.is_other(phrases.wanted) & (signs >= 0.0)] = -2.0
            words += config.class_weight * signs
        elif not phrases.purpose:
            words -= config.class_weight * table.kinds.missing(phrases.wanted)
        if is_for_a_place(phrases.wanted):
            words -= config.class_weight * table.no_places
        used_on = np.zeros(len(words), dtype=np.bool_)
        used_on[[table.index[name] for name in named.used_on]] = True
        # A thing that the glosses know by a phrase or two need not tell its role to be the one that is meant.
        best = float(np.where(table.strangers, plain, cosines).max(initial=0.0))
        # Texts that could not be embedded are neutral.
        fit = ClassFit(np.where(cosines == 0.0, config.cosine_center, cosines), words, is_named, used_on, best)
        places = [table.index[name] for name in table.named.mentioned(phrases.place) - named.meant]
        if places:
            # The destination of the thing is meant as well, but less.
            is_named[places] = True
            words[places] = _PLACE_LOG_ODDS - self.log_odds(fit.cosines[places], fit)
        return fit

    def log_odds(self, cosines: NDArray[np.float64], fit: ClassFit) -> NDArray[np.float64]:
        """Return the log-odds of "this is what is meant" by cosines alone.

        A class that memory may lack but the glosses know can fit better: then this one is not what is meant.
        """
        config = self._config
        behind = np.maximum(fit.best_cosine - cosines, 0.0)
        absolute = config.cosine_slope * (cosines - config.cosine_center)
        return np.asarray(config.dense_weight * (absolute - config.rivalry_slope * behind))
