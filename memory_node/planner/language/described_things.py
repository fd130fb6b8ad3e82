"""From what a thing is for or like to the classes that it may be, as memory's search finds them."""

from __future__ import annotations

from functools import cached_property

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.search.class_scores import ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.glosses import ClassGlosses
from memory_node.search.request_phrases import RequestPhrases

_LIKELY = 0.0  # log-odds from which on a class is what is meant
_AS_GOOD = 0.5  # log-odds by which a class may be behind the one that fits best


class DescribedThings:
    """Finds what "something to cut the bread with" is by what the label space says of its classes, and of things that
    are none: where scissors fit better than every class, none is meant.

    The vectors of these texts are loaded when the first description is read.
    """

    def __init__(self, kinds: ObjectCatalogue, embedder: TextEmbedder) -> None:
        self._kinds = kinds
        self._embedder = embedder

    @cached_property
    def _scores(self) -> ClassScores:
        return ClassScores(self._embedder, ClassGlosses.of(self._kinds), RetrievalConfig())

    def classes(self, description: str) -> tuple[str, ...]:
        """Return the everyday classes that fit a description well, and nearly as well as any; the best first."""
        phrases = RequestPhrases.of(description)
        if not phrases.wanted:
            return ()
        texts = list(dict.fromkeys(filter(None, (phrases.wanted, phrases.purpose, phrases.deed))))
        vectors = dict(zip(texts, self._embedder.embed(texts)))
        fit = self._scores.fit(
            phrases, vectors[phrases.wanted], vectors.get(phrases.purpose), vectors.get(phrases.deed)
        )
        each = self._scores.log_odds(fit.cosines, fit) + fit.word_log_odds
        least = max(_LIKELY, float(each[~fit.used_on].max(initial=_LIKELY)) - _AS_GOOD)
        numbers = {kind.name: self._scores.number_of(kind.name) for kind in self._kinds if kind.everyday}
        likely = [name for name, number in numbers.items() if each[number] >= least and not fit.used_on[number]]
        return tuple(sorted(likely, key=lambda name: -each[numbers[name]]))
