"""Words of an instruction: lower case, contractions written out, punctuation as words of its own."""

from __future__ import annotations

import re

from memory_node.planner.reading.english import Phrases, phrase_data

_TOKEN = re.compile(r"[a-zà-ÿ0-9]+(?:[-'][a-zà-ÿ0-9]+)*|[,.;:!?]")
_OTHER_NAME = re.compile(r"(?<=[a-zà-ÿ])/[a-zà-ÿ]+")  # "the hall/corridor": the first name will do
_DIGITS = re.compile(r"^\d{1,2}$")
_NUMBERS = {str(number): word for word, number in phrase_data("numbers").items() if isinstance(number, int)}
_CONTRACTED = phrase_data("contractions")
_SPELT = Phrases({tuple(said.split()): meant.split() for said, meant in phrase_data("spelling").items()})


def words_of(text: str) -> list[str]:
    """Return the words and marks of a text."""
    plain = text.lower().replace("’", "'").replace("…", ",").replace("...", ",")
    plain = re.sub(r"\s[-–—]+\s|[–—]|--+", " , ", plain)
    plain = _OTHER_NAME.sub("", plain)
    words: list[str] = []
    for token in _TOKEN.findall(plain):
        words += _written_out(token)
    return _respelt(words)


def _written_out(token: str) -> list[str]:
    if token in _CONTRACTED:
        return _CONTRACTED[token].split()
    if token.endswith("'s"):
        return [token[:-2], "'s"]
    if token.endswith("s'"):
        return [token[:-1], "'s"]
    if _DIGITS.match(token):
        return [_NUMBERS.get(token, token)]
    return token.split("-") if "-" in token else [token]


def _respelt(words: list[str]) -> list[str]:
    spelt: list[str] = []
    at = 0
    while at < len(words):
        found = _SPELT.at(words, at)
        spelt += found[0] if found is not None else [words[at]]
        at += found[1] if found is not None else 1
    return spelt
