"""How requests become words, and which of them are the name of a thing and nothing else: "the red mug", as against
"something to drink from"."""

from __future__ import annotations

import re

from memory_node.domain.names import singular

_WORD = re.compile(r"[a-z0-9]+")
_BEFORE_A_NAME = frozenset(
    _WORD.findall("the a an my our your his her their its this that these those all both one two three")
)
# "Is there a potato left?" asks for a potato.
_AFTER_A_NAME = frozenset(_WORD.findall("please left here there around anywhere somewhere again too now"))
_STANDING_IN = frozenset(_WORD.findall("something anything somewhere anywhere thing object item one stuff type"))
_LONGEST = 4
# Sentences about a situation or a purpose name its subject, not the wanted thing.
_SUBJECT = (
    r"(?:the|my|our|your|his|her|their|this|that|these|those|some|it|there)\b"
    r"(?:\s+(?!that\b|which\b|who\b|i\b)\w+){0,3}?"
)
_SITUATION = re.compile(
    rf"^{_SUBJECT}\s+(?:is|are|was|were|looks?|tastes?|smells?|feels?|seems?|sounds?|has|have|had|does|do|did|needs?|got"
    r"|went|came|ran|will|would|should|can|cannot|could|must)\b"
    r"|^(?:how|why|when|who|did|does|is there)\b"
    r"|^(?:i|we)\s+(?!(?:need|want|lost|miss|forgot|search|seek)\b|(?:would|should|could|am|are|cannot|can)\b)\w+"
    r"|^(?:i|we)\s+(?:am|are|cannot|can)\s+(?!looking\b|searching\b|find\b|have\b)"
    r"|^(?:i|we)\s+(?:need|want|have|(?:would|should|could)\s+(?:like|love))\s+to\s+(?!have\b|get\b|find\b|see\b)"
)
_CONTRACTED = re.compile(r"\b(i|we|he|she|you|they)['’]d\b")


def tells_a_situation(text: str) -> bool:
    """Return whether a text tells of a situation or a purpose: "the toilet is blocked", "how do I pay?"."""
    plain = _CONTRACTED.sub(r"\1 would", text.lower())
    return _SITUATION.search(" ".join(plain.split())) is not None


def bare_name(text: str) -> tuple[str, ...]:
    """Return the words of a name, singular, its head last; () for a text that is more or less than a name."""
    if tells_a_situation(text):
        return ()
    words = _WORD.findall(text.lower().replace("'s ", " ").replace("’s ", " "))
    while words and words[0] in _BEFORE_A_NAME:
        words = words[1:]
    while len(words) > 1 and words[-1] in _AFTER_A_NAME:
        words = words[:-1]
    named = tuple(singular(word) for word in words)
    if not 1 <= len(words) <= _LONGEST or not _STANDING_IN.isdisjoint(named):
        return ()
    # The last word is a noun whatever it is elsewhere: "the watering can".
    is_name = FUNCTION_WORDS.isdisjoint(words[:-1]) and (len(words) > 1 or words[0] not in FUNCTION_WORDS)
    return named if is_name else ()


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
