"""What is known about classes in words: their names, short glosses, and the kinds that they belong to."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.names import singular
from memory_node.domain.ports import TextEmbedder
from memory_node.search.minilm import models_folder, write_whole
from memory_node.search.request_words import Span, bare_name, handled, tells_a_situation, tokens, without_purpose

_LOG = logging.getLogger(__name__)
_DIGEST_BYTES = hashlib.sha256().digest_size
# Of label spaces and models that are used side by side, some 3 MB each.
_FILES_KEPT = 8


def gloss_vectors(texts: Sequence[str], embedder: TextEmbedder, folder: Path | None = None) -> NDArray[np.float32]:
    """Return the unit vectors (n, d) of the texts, from the file of these texts and this embedder in `folder`.

    A damaged file is replaced, and the newest few of all stay. An embedder without a `fingerprint` (what tells its
    model from every other) is asked each time. folder: default `glosses` beside the models.
    """
    fingerprint = getattr(embedder, "fingerprint", "")
    if not fingerprint or not texts:
        return embedder.embed(texts)
    name = hashlib.sha256("\0".join([fingerprint, *texts]).encode()).hexdigest()[:32]
    path = (folder or models_folder() / "glosses") / f"{name}.vectors"
    known = _read(path, len(texts))
    if known is not None:
        return known
    vectors = np.ascontiguousarray(embedder.embed(texts), dtype="<f4")
    body = vectors.tobytes()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda scratch: scratch.write_bytes(hashlib.sha256(body).digest() + body))
        for older in sorted(path.parent.glob("*.vectors"), key=lambda one: one.stat().st_mtime_ns)[:-_FILES_KEPT]:
            older.unlink(missing_ok=True)
    except OSError as error:
        _LOG.warning("the glosses' vectors cannot be kept in %s and will be made again: %s", path, error)
    return vectors


def _read(path: Path, count: int) -> NDArray[np.float32] | None:
    try:
        document = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _LOG.warning("the glosses' vectors in %s cannot be read and are made again: %s", path, error)
        return None
    digest, body = document[:_DIGEST_BYTES], document[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        _LOG.warning("the glosses' vectors in %s are damaged and are made again", path)
        return None
    return np.frombuffer(body, dtype="<f4").reshape(count, -1)


@dataclass(frozen=True)
class ClassGlosses:
    """names: class -> what people call it; texts: class -> every phrase that points at it, the names among them.

    catalogue: the label space, which knows the names that other detectors have for the classes.
    """

    names: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, tuple[str, ...]]
    catalogue: ObjectCatalogue

    @classmethod
    def of(cls, catalogue: ObjectCatalogue) -> ClassGlosses:
        """Return what a label space says of its classes, and of strangers to it."""
        called = {kind.name: kind.names for kind in catalogue}
        phrases: dict[str, list[str]] = {kind.name: [kind.gloss, *kind.described] for kind in catalogue}
        for name, purposes in catalogue.strangers.items():
            phrases.setdefault(name, []).extend(purposes)
        members = [member for _, classes in catalogue.phrases for member in classes]
        names, texts = {}, {}
        for name in dict.fromkeys([*phrases, *members]):
            names[name] = tuple(dict.fromkeys([spoken(name), *called.get(name, ())]))
            of_several = [phrase for said, classes in catalogue.phrases if name in classes for phrase in said]
            texts[name] = tuple(dict.fromkeys([*names[name], *phrases.get(name, ()), *of_several]))
        return cls(names, texts, catalogue)

    def texts_of(self, class_name: str) -> tuple[str, ...]:
        """Return every phrase that points at a class; for an unknown class its own words."""
        return self.texts.get(self._known(class_name)) or (spoken(class_name),)

    def names_of(self, class_name: str) -> tuple[str, ...]:
        """Return what people call a class; for an unknown class its own words."""
        return self.names.get(self._known(class_name)) or (spoken(class_name),)

    def _known(self, class_name: str) -> str:
        """Return the class that another detector's name means, or the name itself."""
        kind = self.catalogue.find(class_name) if class_name not in self.texts else None
        return kind.name if kind is not None else class_name

    def whole(self, class_name: str) -> str:
        """Return the class of which another is a piece, Bread of BreadSliced; the class itself if it is none."""
        return self.catalogue.whole(class_name)

    def is_no_place(self, class_name: str) -> bool:
        """Return whether a class is known as one that a hand picks up and that holds nothing: soap, no sink."""
        kind = self.catalogue.find(class_name)
        return kind is not None and kind.can(Property.PICKUPABLE) and not kind.holds

    def same_class(self, one: str, other: str) -> bool:
        """Return whether two class names mean the same: equal words, or one is a name of the other."""
        words = spoken(one), spoken(other)
        return words[0] == words[1] or words[0] in self.names_of(other) or words[1] in self.names_of(one)


_DESCRIBING = frozenset(
    tokens("something anything somewhere anywhere thing object item one stuff what which whatever kind type")
)
# What follows tells of the thing before it: "a machine that browns bread" names no bread.
_RELATIVE = re.compile(r"(?<=\w)\s+(?:that|which|who|whose)\s.*", re.IGNORECASE | re.DOTALL)
# So does what it is for, where the thing before it is named: "batteries for the remote" are no remote.
_FOR = re.compile(
    r"(?<=\w)(?<!look)(?<!looking)(?<!search)(?<!searching)(?<!ask)(?<!asking)\s+for\s+"
    r"(?:the|an?|my|our|your|his|her|their|this|that)\s.*",
    re.IGNORECASE | re.DOTALL,
)
_LISTING = frozenset(tokens("and or plus"))


@dataclass(frozen=True)
class NamedInRequest:
    """meant: the classes that a request names; called_so: further ones with that name, which is another one's own;
    used_on: those that a description names as what the wanted thing is used on.

    "The towel" means the class Towel. A cloth is called a towel, too; it is meant where memory holds no towel.
    """

    meant: frozenset[str] = frozenset()
    called_so: frozenset[str] = frozenset()
    used_on: frozenset[str] = frozenset()


class NamedClasses:
    """Finds the class names in a request: "put the clean mug on the coffee table" names mug and coffee table."""

    def __init__(self, glosses: ClassGlosses, class_names: Iterable[str]) -> None:
        self._glosses = glosses
        self._classes: dict[tuple[str, ...], set[str]] = {}
        self._own: dict[str, tuple[str, ...]] = {}
        for class_name in class_names:
            self._own[class_name] = tuple(tokens(spoken(class_name)))
            for name in glosses.names_of(class_name):
                self._classes.setdefault(tuple(tokens(name)), set()).add(class_name)
        self._longest = max((len(name) for name in self._classes), default=0)
        parts = {"".join(name): " ".join(name) for name in self._classes if len(name) == 2}
        self._apart = {joined: apart for joined, apart in parts.items() if (joined,) not in self._classes}

    def find(self, text: str) -> NamedInRequest:
        """Return the classes that the text names as wanted.

        None when it describes ("something for cutting bread"), tells of a situation ("the toilet is blocked") or of a
        purpose ("I want to pay for the pizza"). A word after "to" is a verb ("to water", "to switch").
        """
        if tells_a_situation(text):
            return NamedInRequest()
        if not _DESCRIBING.isdisjoint(tokens(text)):
            return NamedInRequest(used_on=self._used_on(text))
        text = self.respelt(text)
        name, told = bare_name(text), without_purpose(_RELATIVE.sub("", text))
        if name:
            return self._named_by(self._head(name))
        named = self._named_by(self._names(_FOR.sub("", told)) or self._names(told), _LISTING.isdisjoint(tokens(told)))
        return named if named.meant else NamedInRequest(used_on=self._used_on(text))

    def respelt(self, text: str) -> str:
        """Return a text with names spelt as the classes have them: "dish cloth" for "dishcloth"."""
        words = [self._apart.get(singular(word.lower()), word) for word in text.split()]
        joined: list[str] = []
        for word in words:
            both = singular((joined[-1] + word).lower()) if joined else ""
            if (both,) in self._classes:
                joined[-1] = both
            else:
                joined.append(word)
        return " ".join(joined)

    def mentioned(self, text: str) -> set[str]:
        """Return the classes that the text names at all."""
        return set().union(*(self._classes[name] for name in self._names(text)))

    def _named_by(self, names: Sequence[tuple[str, ...]], of_one: bool = False) -> NamedInRequest:
        """Return what the names mean; of_one: they may tell of one thing, "the shaker with the pepper"."""
        called = [self._classes[name] for name in names]
        own = [{one for one in classes if self._own[one] == name} for name, classes in zip(names, called)]
        each = [itself or classes for itself, classes in zip(own, called)]
        meant = set.intersection(*each) if of_one and each else set()
        meant = meant or set().union(*each)
        return NamedInRequest(frozenset(meant), frozenset(set().union(*called) - meant))

    def _used_on(self, text: str) -> frozenset[str]:
        """Return the classes that a description names as what the wanted thing is used on.

        Of things that are not certain ones only those that hands move: one cuts bread, but watches television.
        """
        words = tokens(text)
        certain, others = handled(words, self._spans(words))
        named = set().union(*(self._classes[tuple(words[start:end])] for start, end in others))
        find = self._glosses.catalogue.find
        moved = {name for name in named if (kind := find(name)) is not None and kind.can(Property.PICKUPABLE)}
        return frozenset(moved.union(*(self._classes[tuple(words[start:end])] for start, end in certain)))

    def _head(self, name: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the longest end of a name that names a class: of "bread knife" knife, of "bath robe" none."""
        ends = (name[start:] for start in range(max(0, len(name) - self._longest), len(name)))
        return [end for end in ends if end in self._classes][:1]

    def _names(self, text: str) -> list[tuple[str, ...]]:
        """Return the names of classes in a text; of names side by side only the last, the head."""
        words = tokens(text)
        return [tuple(words[start:end]) for start, end in self._spans(words)]

    def _spans(self, words: Sequence[str]) -> list[Span]:
        """Return where the names of classes begin and end among words; of names side by side only the last."""
        spans: list[Span] = []
        start = 0
        while start < len(words):
            end = next(
                (
                    start + size
                    for size in range(min(self._longest, len(words) - start), 0, -1)
                    if tuple(words[start : start + size]) in self._classes and list(words[start - 1 : start]) != ["to"]
                ),
                start,
            )
            if end > start:
                spans.append((start, end))
            start = max(end, start + 1)
        # Of names side by side the last is the head: a bread knife is a knife.
        return [span for span, following in zip(spans, [*spans[1:], (-1, -1)]) if span[1] != following[0]]
