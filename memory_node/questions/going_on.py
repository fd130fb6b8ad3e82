"""Recognises the words by which people let the robot go on with what it was interrupted in."""

from __future__ import annotations

import re

_GO_ON = re.compile(
    r"(?:please )?(?:go on|continue|carry on|resume|keep going|go ahead)(?:,? but leave (?P<left>.+?)"
    r"(?: where (?:it|they) (?:is|are)| alone| out)?)?",
    re.I,
)


def going_on(words: str) -> re.Match[str] | None:
    """Return the match of "go on"; its group "left" is what is to be left out, None for nothing."""
    return _GO_ON.fullmatch(words.strip(" .!"))
