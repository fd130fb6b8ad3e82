"""What one task says in the place of what another one says."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"[\w()'-]+")
# Tasks that share fewer words are of different kinds: what stands in one place means nothing.
_LEAST_ALIKE = 0.5
# A name has no more words.
_LONGEST_NAME = 4


def swapped_words(task: str, other: str) -> dict[str, str]:
    """Return what `other` says in the place of each word or name of `task` ({"red": "green"}); {} for tasks of
    different kinds."""
    words, others = _WORD.findall(task.lower()), _WORD.findall(other.lower())
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return {}
    return {
        " ".join(words[a:b]): " ".join(others[c:d])
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag == "replace" and max(b - a, d - c) <= _LONGEST_NAME
    }
