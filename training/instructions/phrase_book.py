"""The words that instructions of several goals are made of, from phrases/instruction_phrases.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

# goal_patterns, instruction_phrases, descriptions, spoken_descriptions: what the readers learn from
PHRASES = Path(__file__).parent / "phrases"
# a key of the file, or two of them joined by a space ("verbs at") -> phrases
PhraseBook = Mapping[str, tuple[str, ...]]


@cache
def load_phrases(name: str) -> Mapping[str, Any]:
    """Return a file of PHRASES, by its name without the ending; it is read once."""
    loaded: Mapping[str, Any] = yaml.safe_load((PHRASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


@cache
def load_phrase_book() -> PhraseBook:
    """Return every list of phrases of the file."""
    loaded = load_phrases("instruction_phrases")
    book: dict[str, tuple[str, ...]] = {}
    for key, value in loaded.items():
        if isinstance(value, Mapping):
            book.update({f"{key} {name}": tuple(phrases) for name, phrases in value.items()})
        else:
            book[key] = tuple(value)
    return book
