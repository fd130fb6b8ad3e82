"""Whether one statement says all that another one says: by its words, and only where nothing else can be meant."""

from __future__ import annotations

import re

from memory_node.knowledge.text.words import plain_words, stem

# Words that do not change a statement. Other stop words, such as "before" and "off", do.
_EMPTY = frozenset(
    ["a", "an", "the", "is", "are", "was", "were", "be", "been", "am", "do", "does", "did", "has", "have"]
)
_EMPTY |= {"had", "that", "also", "now", "just", "too", "very", "so", "and"}
# What may stand behind a whole statement and add to it. Behind "Ben likes tea" stands no "cup".
_ADDS = frozenset(["of", "and", "who", "which", "whose", "where", "because"])
# Of what happened once, also when, where and with whom. "The museum is closed on Mondays" does not say that it is
# closed; "Anna was born in Bonn in 1930" says that she was born in Bonn.
_ADDS_TO_PAST = _ADDS | frozenset(
    ["in", "on", "at", "from", "to", "with", "by", "for", "since", "during", "near", "as", "after", "under", "into"]
)
# What makes an addition a condition, a choice or a habit.
LIMITS = frozenset(
    ["if", "unless", "when", "whenever", "except", "but", "or", "only", "instead", "until", "before", "every", "each"]
)
LIMITS |= {"sometimes", "often", "usually", "always", "never", "not", "almost", "nearly", "most", "than", "while"}
LIMITS |= {f"{day}days" for day in ("sun", "mon", "tues", "wednes", "thurs", "fri", "satur")}
_PAST = re.compile(r"\b(?:was|were|did|had|\w{2,}ed|won|made|wrote|became|took|gave|bought|sold|went|left)\b", re.I)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = rf"(?:(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}},?)? )?\d{{4}}"
_DATED = re.compile(rf",? \b(?:in|on) ({_DATE})\b(?! \w+s\b),?", re.I)
_DATED_FIRST = re.compile(rf"^(?:in|on) ({_DATE}),? (?=\S)", re.I)


def says_all(fuller: str, shorter: str) -> bool:
    """Return whether a statement begins with the content words of another one, in their order, and adds to it.

    The day or year of what happened may stand anywhere. Similarity cannot decide that: the embeddings of "before the
    meal" and "after the meal" are as near as those of equal statements. Nor can the set of words: "Anna gave Ben" is
    not "Ben gave Anna". Nor can one statement lie within another: "Ben thinks that the keys are in the drawer" does not
    say that they are.
    """
    if _telling(fuller) == _telling(shorter):
        return True
    past = _PAST.search(shorter) is not None
    core, dates = _without_dates(fuller)
    wanted, wanted_dates = _without_dates(shorter)
    if wanted_dates != dates and not (past and wanted_dates < dates):
        return False
    left = _behind(plain_words(core), _telling(wanted))
    if left is None:
        return False
    return not left or (left[0] in (_ADDS_TO_PAST if past else _ADDS) and not LIMITS.intersection(left))


def _telling(statement: str) -> list[str]:
    return [stem(word) for word in plain_words(statement) if word not in _EMPTY]


def _behind(words: list[str], wanted: list[str]) -> list[str] | None:
    """Return the words behind those that are wanted, None when the words do not begin with them."""
    place = 0
    for want in wanted:
        while place < len(words) and words[place] in _EMPTY:
            place += 1
        if place == len(words) or stem(words[place]) != want:
            return None
        place += 1
    return words[place:]


def _without_dates(statement: str) -> tuple[str, frozenset[str]]:
    """Return a statement without the day or year on which it happened, and that; with several it stays as it is, as
    each belongs to a part of it.
    """
    dates = [found[1].lower() for found in (_DATED_FIRST.match(statement),) if found]
    rest = _DATED_FIRST.sub("", statement)
    dates += [found.lower() for found in _DATED.findall(rest)]
    if len(dates) > 1:
        return statement, frozenset(dates)
    return _DATED.sub(" ", rest), frozenset(dates)
