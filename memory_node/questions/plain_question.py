"""Turns a question into the plain form that asks the same: people ask one thing in many ways."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_node.knowledge.text import on_one_line
from memory_node.questions.past import verb_of, with_whole_verbs

_THING = r"(?P<thing>(?:the|my|our|your|that|this|a|an) [\w' -]+?)"
_REST = r"(?P<rest>(?: .+)?)"
# A clause before a sentence that asks for nothing: an exclamation, or a statement that wants nothing of anybody.
_OPENING = re.compile(
    r"^(?:(?:and|so|well|ok(?:ay)?),? |(?:right|alright|good|great|thanks|thank you|sorry|listen|fine), |"
    r"(?:(?:the|my|our|this|that|it|everything|I|we|he|she|they)\b ?"
    r"(?![^,]*\b(?:your?|needs?|wants?|like|should|must|not|never|or|if)\b|[^,]*n't\b)"
    r"[^,]*?(?:\b(?:is|are|was|has|have|had|am|did|came|went)|'s|'re|'ve|'m)\b[^,]*, )(?:so |and )?)+",
    re.I,
)
_IDLE = re.compile(r"^(?:(?:but|please|now|(?:can|could) you tell me|tell me|remind me)[, ]+)+", re.I)
# The forms are tried in this order, each on what those before it made.
_FORMS = tuple(
    (re.compile(pattern, re.I), plain)
    for pattern, plain in (
        # Words that ask for nothing.
        (r",? (?:so far|for me|for us|in all|altogether|already|actually|again|then|at all|ever|please)(?= |,|$)", ""),
        (r"^(when|why|how often|what) (?:was|is) it (?:that )?you ", r"\1 did you "),
        (rf"^{_THING}, (?P<asked>(?:have|did|when|where|why|how)\b.*?) (?:that|this|it|them|those|one)\b{_REST}$",
         r"\g<asked> \g<thing>\g<rest>"),
        # Other words for "when", "how often", "last" and "put".
        (r"^(?:at|by) (?:what|which) (?:time|hour)(?: of (?:the )?day)? ", "when "),
        (r"^(?:how many times|how frequently|on how many occasions) ", "how often "),
        (r"^how (?:would|will|should|could|did) (?:you|I|we) ", "how do you "),
        (r"^how do you (?:go about|set about|manage) (?P<verb>[a-z]+?)ing ", r"how do you \g<verb> "),
        (r"^when was the last time (?:that )?you ", "when did you last "),
        (r"^what (?:was|is) the (last|first) (?:thing|one) (?:that )?you ", r"what did you \1 "),
        (r"^what (?:all )?(?:went|ended up|landed) (?=in|on|to)", "what did you put "),
        (r"\b(?:have|had) (?:I|you)\b(?! got\b)", "did you"),
        (r"^(what|how) did you done\b", r"\1 did you do"),
        # Contents: how a thing lies there does not matter.
        (
            r"^what(?:'s| is| are| have (?:we|you|I)(?: got)?| do (?:we|you|I) (?:have|keep))(?: (?:that|there|left))?"
            r"(?: (?:locked|stored|kept|hidden|put|lying|standing|sitting))?(?: up| away)? (?=(?:in|inside|on) )",
            "what is ",
        ),
    )
)  # fmt: skip
_ASKS = re.compile(r"(?:what|which|where|who|when|how|is|are|did|have)\b", re.I)
_PRONOUN = re.compile(r"\b(?:it|they|them|that|this|those|these)\b", re.I)
_PASSIVE = re.compile(
    rf"^(?:(?P<asks>when|why|how often) )?(?:did|was|were) {_THING} (?P<last>last )?"
    rf"(?P<becomes>(?:get |got |been )*)(?P<verb>\w+){_REST}$",
    re.I,
)
_SUBJECT = re.compile(
    rf"^(?P<asks>what|how many(?: [\w' -]+?)?) (?:was|were|got|(?:have|has) been)(?: all)? (?P<verb>\w+){_REST}$", re.I
)


def without_opening(text: str) -> str:
    """Return a sentence without the clauses before it that ask for nothing: "right, the door is shut, carry on"."""
    return _OPENING.sub("", on_one_line(text), count=1)


def plain_question(question: str) -> Iterator[str]:
    """Yield the plain forms of a question: of the whole, and of its last clause, which may ask the same again."""
    whole = _IDLE.sub("", without_opening(question).strip(" ?.!"))
    yield _plain(whole)
    clause = whole.rpartition(", ")[2]
    if clause != whole and _ASKS.match(clause) and not _PRONOUN.search(clause):
        yield _plain(clause)


def _plain(question: str) -> str:
    plain = question
    for words, instead in _FORMS:
        plain = words.sub(instead, plain)
    plain = with_whole_verbs(plain[:1].lower() + plain[1:])
    passive, subject = _PASSIVE.match(plain), _SUBJECT.match(plain)
    # "Was it broken?" asks for a state, "did it get broken?" for a deed.
    if passive is not None and verb_of(passive["verb"]) and (passive["asks"] or passive["becomes"]):
        last = passive["last"] or ""
        asks = f"{passive['asks']} did" if passive["asks"] else "did"
        return f"{asks} you {last}{verb_of(passive['verb'])} {passive['thing']}{passive['rest']}"
    if subject is not None and verb_of(subject["verb"]):
        return f"{subject['asks']} did you {verb_of(subject['verb'])}{subject['rest']}"
    return plain
