"""An instruction as words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_node.planner.language.english import English, phrase_at

_WORD = re.compile(r"[a-zà-ÿ0-9]+(?:'[a-z0-9]+)*'?|[.,;:!?]|(?<=\s)-{1,2}(?=\s)|[–—]")


def words_of(text: str, english: English) -> list[str]:
    """Return the words and punctuation marks of a text in lower case; contractions are taken apart ("do not")."""
    lowered = text.lower().replace("’", "'").replace("`", "'").replace("&", " and ")
    found: list[str] = []
    lowered = _respelt(lowered, english)
    for match in _WORD.findall(lowered):
        word = "-" if match in ("–", "—", "--") else match.strip("'")
        for part in english.contractions.get(word, word).split():
            owner = part.removesuffix("'s")
            found += [part] if owner in ("", part) else [owner, "'s"]
    return found


def _respelt(text: str, english: English) -> str:
    """Return the text with other ways to say a word put into the usual one."""
    for phrase, word in english.spelling.items():
        if phrase in text:
            text = re.sub(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", word, text)
    return text


def without_kindness(words: Sequence[str], english: English) -> list[str]:
    """Return the words without such phrases as "if you can", "as well", "right away"."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        skipped = phrase_at(english.kindness, words, at)
        if not skipped:
            kept.append(words[at])
        at += skipped or 1
    return kept
