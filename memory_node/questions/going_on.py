"""Recognises the words by which people let the robot go on with what it was interrupted in, or ask what is left."""

from __future__ import annotations

import re

_GO_ON = re.compile(
    r"(?:please )?(?:go on|continue|carry on|resume|keep going|go ahead)(?:,? but leave (?P<left>.+?)"
    r"(?: where (?:it|they) (?:is|are)| alone| out)?)?",
    re.I,
)
_ASKED_FOR = r"(?: (?:that )?I asked(?: you)?(?: for)?)?"
_LEFT = re.compile(
    r"^(?:(?:what(?: is|'s)|is there anything) (?:still )?(?:left|to (?:be done|do))(?: to do)?|"
    r"how far (?:did|have) you (?:get|got)|(?:are|have) you (?:done|finished|ready)|"
    rf"did you (?:find|get|do|bring|fetch|finish) (?:everything|it all|them all){_ASKED_FOR}|"
    r"(?:is|was) there anything .+ you (?:could not|couldn't|did not|didn't) \w+)$",
    re.I,
)


def going_on(words: str) -> re.Match[str] | None:
    """Return the match of "go on"; its group "left" is what is to be left out, None for nothing."""
    return _GO_ON.fullmatch(words.strip(" .!"))


def asks_what_is_left(words: str) -> bool:
    """Return whether words ask what of all that was asked for is still to be done, or was not found."""
    return _LEFT.match(words) is not None
