"""What people call the household's classes, as the phrase book's sentences need it."""

from __future__ import annotations

from memory_node.catalogue.label_space import load_catalogue

Names = dict[str, dict[str, list[str]]]


def class_words() -> Names:
    """Return class -> {"names": the best first, "described": phrases}, of the classes that people often mean."""
    return {
        kind.name: {"names": list(kind.names), "described": list(kind.described)}
        for kind in load_catalogue()
        if kind.everyday
    }


def group_words() -> dict[str, tuple[str, ...]]:
    """Return words for groups of classes, such as "fruit", with their members."""
    return dict(load_catalogue().groups)
