"""How a text becomes sentences."""

from __future__ import annotations

import re

# Points that end no sentence: of abbreviations and initials.
_ABBREVIATIONS = {
    *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "inc", "ltd", "co", "corp", "no", "vol", "fig"),
    *("eg", "ie", "ca", "approx", "gen", "col", "lt", "capt", "sgt", "rev", "hon", "feat"),
}
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-zà-ÿ])|\n\s*\n|\n(?=\s*[-*•])")
_LAST_WORD = re.compile(r"([^\W_]+)\.[\"'”’)\]]*\s*$")
# A text without full stops is cut, so that no sentence outgrows the embedder.
LONGEST_SENTENCE = 600


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, stripped, none empty."""
    parts: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _is_abbreviation(text[start : match.end()]):
            continue
        parts.append(text[start : match.end()])
        start = match.end()
    parts.append(text[start:])
    return [piece for part in parts for piece in _cut(" ".join(part.split())) if piece]


def _is_abbreviation(part: str) -> bool:
    found = _LAST_WORD.search(part)
    if found is None:
        return False
    word = found.group(1)
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _cut(sentence: str) -> list[str]:
    """Return a sentence in pieces of at most LONGEST_SENTENCE characters, cut at spaces where there are any."""
    pieces = []
    while len(sentence) > LONGEST_SENTENCE:
        space = sentence.rfind(" ", 0, LONGEST_SENTENCE)
        at = space if space > 0 else LONGEST_SENTENCE
        pieces.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*pieces, sentence]
