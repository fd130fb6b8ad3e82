"""The words that training sentences are made of: phrases/*.yaml, and what the label space calls its classes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memory_node.catalogue.label_space import load_catalogue

# goal_patterns, descriptions, spoken_descriptions: what the reader learns from
PHRASES = Path(__file__).parent / "phrases"
Names = dict[str, dict[str, list[str]]]


@cache
def load_phrases(name: str) -> Mapping[str, Any]:
    """Return a file of PHRASES, by its name without the ending; it is read once."""
    loaded: Mapping[str, Any] = yaml.safe_load((PHRASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def class_words() -> Names:
    """Return class -> {"names": the best first, "described": phrases}, of the classes that people often mean."""
    return {
        kind.name: {"names": list(kind.names), "described": list(kind.described)}
        for kind in load_catalogue()
        if kind.everyday
    }
