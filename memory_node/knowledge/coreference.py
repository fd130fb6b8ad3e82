"""Whom a pronoun means in what is told, by rules: the one who speaks, or the last one that was named."""

from __future__ import annotations

import re

from memory_node.knowledge.text.names import names_in

_SPEAKER = {
    "i": "{}",
    "i'm": "{} is",
    "i am": "{} is",
    "my": "{}'s",
    "mine": "{}'s",
    "me": "{}",
    "i've": "{} has",
    "i have": "{} has",
}
_FIRST_PERSON = re.compile(r"\b(?:(I am|I['’]m|I['’]ve|I have|I|my|mine|me)\b(?:( \w+)\b)?)", re.I)
# Verbs of lasting facts, which take an s in the third person; others are mostly past forms.
_PRESENT = frozenset(
    [
        "like",
        "love",
        "hate",
        "want",
        "need",
        "prefer",
        "live",
        "work",
        "own",
        "keep",
        "use",
        "drink",
        "eat",
        "take",
        "play",
        "sleep",
        "sit",
        "put",
        "store",
        "call",
        "know",
    ]
)
_OPENING = re.compile(r"^(?:(?:and|but|so|also)\s+)?(she|he|they|it|her|his|their|its)\b(['’]s\b)?", re.I)
_POSSESSIVE = frozenset({"her", "his", "their", "its"})


def told_clauses(text: str) -> list[str]:
    """Return the statements of what was told: a semicolon parts them as a full stop does."""
    return [part.strip() for part in re.split(r"\s*;\s*", text) if part.strip()]


def resolved(clause: str, speaker: str, last_named: str) -> str:
    """Return a clause that needs no other: "I" is the speaker, "she" at its begin the one who was named last.

    Where nobody was named, or nobody is known to speak, the words stay.
    """
    if speaker:
        clause = _FIRST_PERSON.sub(lambda match: _spoken(match[1], match[2] or "", speaker), clause)
    opening = _OPENING.match(clause)
    if opening and last_named:
        possessive = opening[1].lower() in _POSSESSIVE
        said = f"{last_named}'s" if possessive else f"{last_named} is" if opening[2] else last_named
        clause = said + clause[opening.end() :]
    return clause


def last_person(clause: str, before: str) -> str:
    """Return the name, as it is written, that a following pronoun would mean; `before` where the clause has none."""
    found = [
        word for word in re.findall(r"[^\W\d_]+", clause) if word[0].isupper() and word.lower() in names_in(clause)
    ]
    return found[0] if found else before


def _spoken(word: str, verb: str, speaker: str) -> str:
    word = word.lower().replace("’", "'")
    if word == "i" and verb.strip().lower() in _PRESENT:
        verb += "s"
    return _SPEAKER[word].format(speaker) + verb
