"""An instruction as words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_node.planner.language.english import ENDS, English, phrase_at

_GOES_ON = (["of"], ["to"], ["into"], ["as"])  # it is no phrase of kindness that one of these follows
_REQUESTS = (("would", "you"), ("will", "you"), ("could", "you"), ("can", "you"))
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
    return [_is_or_has(found, at) for at in range(len(found))]


def _is_or_has(words: Sequence[str], at: int) -> str:
    """Return the word itself; "has" for the short "is" of "it's got", "somebody's been"."""
    short = words[at] in ("'s", "is") and words[at + 1 : at + 2] in (["got"], ["been"])
    return "has" if short else words[at]


def _respelt(text: str, english: English) -> str:
    """Return the text with other ways to say a word put into the usual one."""
    for phrase, word in english.spelling.items():
        if phrase in text:
            text = re.sub(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", word, text)
    return text


def _tag(words: Sequence[str], at: int, english: English) -> int:
    """Return how many words a tag has that begins at a word and ends the sentence: "have you" of "..., have you?"."""
    if at > 1 and tuple(words[at : at + 2]) in _REQUESTS:  # "grab us a fork would you"
        tag = 2
    else:
        tag = phrase_at(english.tags, words, at) if at and words[at - 1] == "," else 0
    return tag if tag and (at + tag >= len(words) or words[at + tag] in ENDS) else 0


def without_kindness(words: Sequence[str], english: English) -> list[str]:
    """Return the words without such phrases as "if you can", "right away", and without tags."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        skipped = phrase_at(english.kindness, words, at) or _tag(words, at, english)
        introduces = tuple(words[at : at + skipped]) in english.openings and _is_deed(words, at + skipped, english)
        if introduces or words[at + skipped : at + skipped + 1] in _GOES_ON:
            skipped = 0  # "if you could open the door", "a bit of bread", "before you go to the kitchen"
        if not skipped:
            kept.append(words[at])
        at += skipped or 1
    return kept


def _is_deed(words: Sequence[str], at: int, english: English) -> bool:
    return at < len(words) and english.is_verb(words[at])
