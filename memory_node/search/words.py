"""How class names and requests become words."""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+")
_STOPWORDS = frozenset(
    _WORD.findall(
        "a an the some any my your our his her their its this that these those of for to from with in on at by into "
        "onto and or then it is are was be me i we you he she they please something thing things stuff object one "
        "am not no so too very can cannot could would will want wants need needs like get got have has had do does did "
        "how what when where who why there here somewhere anything somebody someone up out"
    )
)


def class_words(class_name: str) -> str:
    """Return a class name as people write it: "CoffeeMachine" and "coffee_machine" give "coffee machine"."""
    return " ".join(_CAMEL.sub(" ", class_name).replace("_", " ").lower().split())


def tokens(text: str) -> list[str]:
    """Return the lower-case words and numbers of a text, plurals cut."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def content_tokens(text: str) -> list[str]:
    """Return the tokens that say what is meant, without articles, pronouns and the like."""
    return [singular(word) for word in _WORD.findall(text.lower()) if word not in _STOPWORDS]


def singular(word: str) -> str:
    """Return a word without its plural ending, by the regular rules of English."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    if len(word) > 4 and word.endswith("ives"):
        return word[:-3] + "fe"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
