"""What is known about classes in words: their names, short glosses, and the kinds that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from memory_node.domain.resources import resource_path
from memory_node.search.words import class_words, tokens

# libyaml's is ten times as fast, which start-up notices.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class ClassGlosses:
    """names: class -> what people call it; texts: class -> every phrase that points at it, the names among them."""

    names: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, tuple[str, ...]]

    @classmethod
    def build(
        cls,
        names: Mapping[str, Iterable[str]],
        phrases: Mapping[str, Iterable[str]],
        kinds: Iterable[Mapping[str, Any]] = (),
    ) -> ClassGlosses:
        """Return the glosses of these names and phrases by class, and of kinds {phrases: [...], classes: [...]}."""
        kinds = tuple(kinds)
        members = [member for kind in kinds for member in kind["classes"]]
        all_names, all_texts = {}, {}
        for name in dict.fromkeys([*names, *phrases, *members]):
            called = dict.fromkeys([class_words(name), *names.get(name, ())])
            of_kind = [phrase for kind in kinds if name in kind["classes"] for phrase in kind["phrases"]]
            all_names[name] = tuple(called)
            all_texts[name] = tuple(dict.fromkeys([*called, *phrases.get(name, ()), *of_kind]))
        return cls(all_names, all_texts)

    @classmethod
    def load(cls) -> ClassGlosses:
        """Return the shipped glosses: object_types.yaml, vocabulary.yaml and class_glosses.yaml in config/."""
        types, vocabulary, kinds = (
            yaml.load(resource_path(f"config/{name}.yaml").read_text(encoding="utf-8"), _LOADER)
            for name in ("object_types", "vocabulary", "class_glosses")
        )
        phrases: dict[str, list[str]] = {name: [entry["gloss"]] for name, entry in types.items()}
        for name, purposes in kinds["strangers"].items():
            phrases.setdefault(name, []).extend(purposes)
        for name, entry in vocabulary.items():
            phrases.setdefault(name, []).extend(entry["described"])
        return cls.build(
            {name: entry["names"] for name, entry in vocabulary.items()},
            phrases,
            [*kinds["kinds"], *kinds["needs"]],
        )

    def texts_of(self, class_name: str) -> tuple[str, ...]:
        """Return every phrase that points at a class; for an unknown class its own words."""
        return self.texts.get(class_name) or (class_words(class_name),)

    def names_of(self, class_name: str) -> tuple[str, ...]:
        """Return what people call a class; for an unknown class its own words."""
        return self.names.get(class_name) or (class_words(class_name),)

    def same_class(self, one: str, other: str) -> bool:
        """Return whether two class names mean the same: equal words, or one is a name of the other."""
        words = class_words(one), class_words(other)
        return words[0] == words[1] or words[0] in self.names_of(other) or words[1] in self.names_of(one)


_DESCRIBING = frozenset(
    tokens("something anything somewhere anywhere thing object item one stuff what which whatever kind type")
)
# Sentences that tell of a situation or a purpose name what it is about, not what is wanted for it.
_SUBJECT = (
    r"(?:the|my|our|your|his|her|their|this|that|these|those|some|it|there)\b"
    r"(?:\s+(?!that\b|which\b|who\b|i\b)\w+){0,3}?"
)
_SITUATION = re.compile(
    rf"^{_SUBJECT}\s+(?:is|are|was|were|looks?|tastes?|smells?|feels?|seems?|sounds?|has|have|had|does|do|did|needs?|got"
    r"|went|came|ran|will|would|should|can|cannot|could|must)\b"
    r"|^(?:how|why|when|who|did|does|is there)\b"
    r"|^(?:i|we)\s+(?!(?:need|want|lost|miss|forgot|search|seek)\b|(?:would|should|could|am|are|cannot|can)\b)\w+"
    r"|^(?:i|we)\s+(?:am|are|cannot|can)\s+(?!looking\b|searching\b|find\b|have\b)"
    r"|^(?:i|we)\s+(?:need|want|have|(?:would|should|could)\s+(?:like|love))\s+to\s+(?!have\b|get\b|find\b|see\b)"
)


class NamedClasses:
    """Finds the class names in a request: "put the clean mug on the coffee table" names mug and coffee table."""

    def __init__(self, glosses: ClassGlosses, class_names: Iterable[str]) -> None:
        self._classes: dict[tuple[str, ...], set[str]] = {}
        for class_name in class_names:
            for name in glosses.names_of(class_name):
                self._classes.setdefault(tuple(tokens(name)), set()).add(class_name)
        self._longest = max((len(name) for name in self._classes), default=0)

    def find(self, text: str) -> set[str]:
        """Return the classes that the text names as wanted.

        None when it describes ("something for cutting bread"), tells of a situation ("the toilet is blocked") or of a
        purpose ("I want to pay for the pizza"). A word after "to" is a verb ("to water", "to switch").
        """
        if not _DESCRIBING.isdisjoint(tokens(text)) or _SITUATION.search(" ".join(text.lower().split())):
            return set()
        return self.mentioned(text)

    def mentioned(self, text: str) -> set[str]:
        """Return the classes that the text names at all; of names side by side only the last, the head."""
        words = tokens(text)
        spans: list[tuple[int, int]] = []
        start = 0
        while start < len(words):
            end = next(
                (
                    start + size
                    for size in range(min(self._longest, len(words) - start), 0, -1)
                    if tuple(words[start : start + size]) in self._classes and words[start - 1 : start] != ["to"]
                ),
                start,
            )
            if end > start:
                spans.append((start, end))
            start = max(end, start + 1)
        # Of names side by side the last is the head: a bread knife is a knife.
        heads = [span for span, following in zip(spans, [*spans[1:], (-1, -1)]) if span[1] != following[0]]
        return set().union(*(self._classes[tuple(words[start:end])] for start, end in heads))
