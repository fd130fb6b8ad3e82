"""The words that instructions of several goals are made of, from phrases/instruction_phrases.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

# goal_patterns, instruction_phrases, descriptions, spoken_descriptions: what the readers learn from
PHRASES = Path(__file__).parent / "phrases"
# a key of the file, or two of them joined by a space ("verbs at") -> phrases
PhraseBook = Mapping[str, tuple[str, ...]]


def load_phrase_book() -> PhraseBook:
    """Return every list of phrases of the file."""
    loaded = yaml.safe_load((PHRASES / "instruction_phrases.yaml").read_text(encoding="utf-8"))
    book: dict[str, tuple[str, ...]] = {}
    for key, value in loaded.items():
        if isinstance(value, Mapping):
            book.update({f"{key} {name}": tuple(phrases) for name, phrases in value.items()})
        else:
            book[key] = tuple(value)
    return book
