"""Recognises the words by which people let the robot go on with what it was interrupted in, or ask what is left."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.questions.plain_question import without_opening

_WORK = r"(?:it|that|this|the (?:job|task|work|rest)|(?:what|where) (?:you|we) (?:were|left|stopped)\b[\w ]*)"
_STAYS = r"(?:can|may|should|must|is to|has to) (?:stay|wait|remain)\b[\w ]*"
_GO_ON = re.compile(
    rf"(?:(?:please|just) )*(?:(?:go on|continue|carry on|resume|keep going|go ahead|get on)(?:(?: with)? {_WORK})?|"
    rf"(?:finish|complete|pick up)(?: with)? {_WORK}(?: off)?),?(?: now| again| please)*"
    r"(?:,? (?:but|only|except|and)(?: (?:leave|skip|forget|not)(?: out)? (?P<left>.+?)"
    rf"(?: where (?:it|they) (?:is|are)| alone| out)?| (?P<stays>.+?) {_STAYS}))?",
    re.I,
)
_ASKED_FOR = r"(?: (?:that )?I asked(?: you)?(?: for)?)?"
_LEFT = re.compile(
    r"^(?:(?:what(?: else)?|which(?: things?)?|is there anything)(?: of (?:it|that|those|them))?"
    r"(?: is| are|'s)? (?:still )?(?:left|still missing|undone|to (?:be done|do))(?: to (?:do|be done))?|"
    r"how far (?:did|have) you (?:get|got)|(?:are|have) you (?:done|finished|ready)|"
    rf"did you (?:find|get|do|bring|fetch|finish) (?:everything|it all|them all){_ASKED_FOR}|"
    r"(?:is|was) there anything .+ you (?:could not|couldn't|did not|didn't) \w+)$",
    re.I,
)


@dataclass(frozen=True)
class GoingOn:
    """The wish to go on. left: what is to be left out, "" for nothing."""

    left: str = ""


def going_on(words: str) -> GoingOn | None:
    """Return the wish that words say, behind clauses that ask for nothing; None for other words."""
    found = _GO_ON.fullmatch(without_opening(words).strip(" .!"))
    return GoingOn(found["left"] or found["stays"] or "") if found is not None else None


def asks_what_is_left(words: str) -> bool:
    """Return whether words ask what of all that was asked for is still to be done, or was not found."""
    return _LEFT.match(without_opening(words).strip(" ?.!")) is not None
