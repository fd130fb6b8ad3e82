"""The words that instructions of several goals are made of, from config/instruction_phrases.yaml."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from memory_node.domain.resources import resource_path

# a key of the file, or two of them joined by a space ("verbs at") -> phrases
PhraseBook = Mapping[str, tuple[str, ...]]


def load_phrase_book() -> PhraseBook:
    """Return every list of phrases of the file."""
    loaded = yaml.safe_load(resource_path("config/instruction_phrases.yaml").read_text(encoding="utf-8"))
    book: dict[str, tuple[str, ...]] = {}
    for key, value in loaded.items():
        if isinstance(value, Mapping):
            book.update({f"{key} {name}": tuple(phrases) for name, phrases in value.items()})
        else:
            book[key] = tuple(value)
    return book
