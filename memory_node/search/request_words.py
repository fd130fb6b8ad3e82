"""How requests become words."""

from __future__ import annotations

import re

from memory_node.domain.nouns import singular

_WORD = re.compile(r"[a-z0-9]+")
FUNCTION_WORDS = frozenset(
    _WORD.findall(
        "a an the some any my your our his her their its this that these those of for to from with in on at by into "
        "onto and or then it is are was be me i we you he she they please something thing things stuff object one "
        "am not no so too very can cannot could would will want wants need needs like get got have has had do does did "
        "how what when where who why there here somewhere anything somebody someone up out"
    )
)


def tokens(text: str) -> list[str]:
    """Return the lower-case words and numbers of a text, plurals cut."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def content_tokens(text: str) -> list[str]:
    """Return the tokens that say what is meant, without articles, pronouns and the like."""
    return [singular(word) for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS]
