"""How a text becomes comparable words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memory_node.domain.names import singular

_WORD = re.compile(r"[^\W_]+")
# A contraction's or possessive's end says nothing: "Anna's", "didn't".
_CLITIC = re.compile(r"n['’]t\b|['’](?:s|re|ve|ll|d|m)\b")
STOP_WORDS = frozenset(
    _WORD.findall(
        "a an the some any each every either neither both my your our his her hers their its it this that these those "
        "of for to from with without in on at by into onto about as than over under after before during between while "
        "and or but nor so then if because is are was were be been being am do does did done doing has have had having "
        "i we you he she they me him us them who whom whose which what when where why how there here not no yes too "
        "very can cannot could would will shall should may might must also just only own same such other another more "
        "most many much few up out off down again once please get got"
    )
)
_SUFFIXES = ("ings", "ing", "ed", "er", "ly")
_LEAST_STEM = 4


def folded(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower()


def plain_words(text: str) -> list[str]:
    """Return the words and numbers of a text, folded; every one."""
    return _WORD.findall(_CLITIC.sub("", folded(text)))


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return a folded word without its inflection: "painted" and "painting" become "paint", "films" "film"."""
    word = singular(word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            word = word.removesuffix(suffix)
            if word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > _LEAST_STEM else word


def stems(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order, repetitions kept."""
    return [stem(word) for word in plain_words(text) if word not in STOP_WORDS]
