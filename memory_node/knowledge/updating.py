"""Decides how a new statement and the most similar stored one are combined (PlugMem's update)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from memory_node.knowledge.facts import MOST_SENTENCES, Proposition
from memory_node.knowledge.text import (
    MOST_CONCEPTS,
    concepts_of,
    name_key,
    names_in,
    plain_words,
    sentences,
    stem,
)

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


# Statements less like each other than this are never compared (cosine); PlugMem: 0.6 to 0.7.
LEAST_LIKENESS = 0.6
# Statements on one topic that are joined are at least so like each other.
TOPIC_LIKENESS = 0.75
_NUMBER = re.compile(r"\d+")
_NEGATED = re.compile(r"\b(?:not|never|no longer|nobody|cannot|\w+n['’]t)\b", re.I)
# What else denies, where words are compared one by one.
_DENIED = re.compile(
    rf"{_NEGATED.pattern}|\b(?:no|none|no one|nothing|neither|nor|without|hardly|except|but for)\b", re.I
)
# Openings that lean on what stood before: such a statement is not joined with another.
_LEANS = re.compile(
    r"^(?:however|but|then|also|instead|therefore|thus|this|these|that|those|such|afterwards?|later|there|another|"
    r"both|the (?:former|latter|other|same)|as a result|for example|in addition|after(?: \w+)?|before)\b",
    re.I,
)
# Things and names, besides their subject, that two statements on one topic share.
_LEAST_SHARED = 2


@dataclass(frozen=True)
class Update:
    """What becomes of two statements. relationship: "same", "topic", "conflict" or "weak".

    merged: the statement that takes their place, "" when none does.
    """

    relationship: str
    merged: str = ""
    deactivate_earlier: bool = False
    deactivate_later: bool = False


# Judges (earlier, later); rules, or a language model behind the same form.
UpdateJudge = Callable[[Proposition, Proposition], Update]


def judge_by_rules(earlier: Proposition, later: Proposition) -> Update:
    """Return the update by rules: of two that say the same the fuller one stays, of two that do not both stay."""
    if earlier.subject != later.subject or _negated(earlier) != _negated(later):
        return Update("weak")
    if _negated(later) and plain_words(earlier.statement) != plain_words(later.statement):
        return Update("weak")  # the fuller one denies less
    if says_all(later.statement, earlier.statement):
        return Update("same", later.text, deactivate_earlier=True)
    if says_all(earlier.statement, later.statement):
        return Update("same", earlier.text, deactivate_later=True)
    if _joins(earlier, later):
        joined = f"{earlier.subject}: {earlier.statement.rstrip()} {later.statement}"
        return Update("topic", joined, True, True)
    return Update("weak")


def updated(earlier: Proposition, later: Proposition, update: Update) -> list[Proposition]:
    """Return both statements after the update, and the merged one if it is a third; nothing is lost. The remaining
    statement inherits concepts and sources of the replaced one.
    """
    standing = update.merged or (later.text if update.deactivate_earlier else earlier.text)
    result = []
    for one, other, gone in (
        (earlier, later, update.deactivate_earlier),
        (later, earlier, update.deactivate_later),
    ):
        if gone:
            result.append(one.ended(standing, later.stamp_ns))
        elif update.relationship == "same" and one.text == standing:
            result.append(replace(one.merged(other), concepts=one.concepts | other.concepts))
        else:
            result.append(one)
    if update.merged and update.merged not in (earlier.text, later.text):
        both = replace(earlier.merged(later), text=update.merged, active=True, replaced_by="")
        concepts = earlier.concepts | later.concepts
        if len(concepts) > MOST_CONCEPTS:
            # As if both sentences had been read as one statement: names first.
            concepts = concepts_of(both.subject, both.statement)
        result.append(replace(both, concepts=concepts))
    return result


def _joins(first: Proposition, second: Proposition) -> bool:
    """Return whether two statements of one source about one subject are on one topic, and read well together.

    They come from the same step, so that whoever forgets it forgets both; what people told stays as it was told.
    """
    if not first.subject or first.sources != second.sources or first.text == second.text:
        return False
    if len(sentences(first.statement)) + len(sentences(second.statement)) > MOST_SENTENCES:
        return False
    shared = (first.concepts & second.concepts) - {name_key(first.subject)}
    return len(shared) >= _LEAST_SHARED and not (_LEANS.match(first.statement) or _LEANS.match(second.statement))


def _negated(proposition: Proposition) -> bool:
    return _NEGATED.search(proposition.statement) is not None


def added_by(text: str, *said: str) -> list[str]:
    """Return the names and numbers of a text that others do not say, and "not" where it denies and they do not."""
    known = {stem(word) for one in said for word in plain_words(one)}
    marks = [word for name in names_in(text) for word in name.split()] + _NUMBER.findall(text)
    denial = ["not"] if _DENIED.search(text) and not any(map(_DENIED.search, said)) else []
    return [mark for mark in dict.fromkeys(marks) if stem(mark) not in known] + denial
