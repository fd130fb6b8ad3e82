"""How requests become words: the name of a thing and nothing else, a kind, a purpose, or states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.class_name import spoken
from memory_node.domain.names import singular
from memory_node.domain.states import ADJECTIVES, ATTRIBUTES, ObjectState, adjective_of

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


Span = tuple[int, int]

_DETERMINER = r"(?:the|an?|my|our|your|his|her|their|this|that|these|those)\b"
# "To sit on", "for making toast"; "to the sink" and "for the remote" are no purposes.
_PURPOSE = re.compile(
    rf"(?<=\w)\s+(?:to\s+(?!{_DETERMINER})\w|for\s+(?!{_DETERMINER})\w+ing\b).*", re.IGNORECASE | re.DOTALL
)
_RELATIVE = re.compile(r"(?<=\w)\s+(?:that|which)\s.*", re.IGNORECASE | re.DOTALL)
_KIND_OF = re.compile(r"^(?:an?|some|any|one)?\s*(?:pieces?|kinds?|types?|sorts?|bits?)\s+of\s+", re.IGNORECASE)
_PERSONS = frozenset({"i", "we", "you"})
_DEFINITE = frozenset(tokens("the my our your his her their this that these those"))
_INDEFINITE = frozenset(tokens("a an some any"))
_ANYTHING = frozenset(tokens("something anything somewhere anywhere thing what whatever"))
_PREPOSITIONS = frozenset(tokens("with from in into on onto off of under over by for"))
_OF_AN_EXAMPLE = frozenset(tokens("like as say instead"))

_SOMEWHERE = re.compile(
    r"^(?:(?:some|any)where|(?:an?|any|some)\s+(?:good\s+)?(?:places?|spots?)|where)\b", re.IGNORECASE
)


def is_for_a_place(text: str) -> bool:
    """Return whether a request asks for a place to do something: "somewhere to wash my hands"."""
    return _SOMEWHERE.match(text) is not None


def without_purpose(text: str) -> str:
    """Return a text up to what it says the thing is for: of "a cup to drink wine from" it is "a cup"."""
    kind = _PURPOSE.sub("", text)
    return kind if any(len(word) > 1 for word in content_tokens(kind)) else text  # not "I would like to have the mug"


def purpose_of(text: str) -> str:
    """Return the purpose in a request for a kind of thing, as a request of its own: "something to sit on" of "furniture
    to sit on". "" where no kind is told beside it, or no purpose."""
    found = _PURPOSE.search(text) or _RELATIVE.search(text)
    if found is None or not bare_name(_KIND_OF.sub("", text[: found.start()])):
        return ""
    return "something" + text[found.start() :]


def handled(words: Sequence[str], names: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Return which names in a description are those of what the wanted thing is used on, and no names of it: the
    certain things ("to open the wine bottle with"), and the others ("to spread on toast", "a tool for cutting bread").

    words: as `tokens` gives them; names: where names stand among them.
    """
    begin = next((n for n in range(1, len(words)) if _begins_doing(words[max(0, n - 2) : n + 1])), len(words))
    doing = words[begin:]
    if not _OF_AN_EXAMPLE.isdisjoint(doing) or doing[:1] in (["make"], ["making"]):
        return [], []  # what toast is made from is called toast
    of_a_kind = _ANYTHING.isdisjoint(words[:begin])
    left_over = bool(doing) and doing[-1] in _PREPOSITIONS
    certain, others = [], []
    for start, end in names:
        before = start
        while before > begin and words[before - 1] in _DEFINITE | _INDEFINITE:
            before -= 1
        if before <= begin:
            continue
        if not _DEFINITE.isdisjoint(words[before:start]):
            certain.append((start, end))
        elif of_a_kind or left_over or words[before - 1] in _PREPOSITIONS:
            others.append((start, end))
    return certain, others


def _begins_doing(words: Sequence[str]) -> bool:
    """Return whether the last of up to three words is the verb of a purpose; words: a word before, one, the verb."""
    *_, last, verb = ["", *words]
    return last in {"to", "can"} | _PERSONS or (last == "for" and verb.endswith("ing"))


_PART_OF_KIND = re.compile(r"^((?:an?|some|any|one)\s+)?(?:pieces?|kinds?|types?|sorts?|bits?|pairs?)\s+of\s+", re.I)
_WITH = re.compile(r"\s+(?:with|without|made\s+(?:of|from)|of)\s+", re.IGNORECASE)
# "Some caffeine" asks for a kind of thing, not for a thing of that name.
_OF_A_KIND = frozenset({"some", "any"})
# Adjectives that tell things of one kind apart, and no kinds.
_ANY_QUALITY = frozenset(
    tokens(
        "small big large little tiny huge long short new old nice good better best favourite favorite other same"
        " different usual own normal ordinary whole entire right certain spare second another clean dirty washed"
        " unwashed used broken empty full open closed"
    )
)
# What tells how a thing looks; names of kinds have other words before their last.
_ANY_LOOK = frozenset(
    tokens(
        "red green blue yellow black white brown grey gray orange pink purple silver gold golden beige dark bright"
        " light colourful colorful round square flat tall short wide narrow thick thin heavy soft hard wooden metal"
        " plastic leather pretty beautiful ugly cute fancy modern antique cheap expensive"
    )
)
# And what tells where it is.
_ANY_WHERE = frozenset(
    tokens("bedside top bottom upper lower front back rear middle left right corner upstairs downstairs")
)
_ANY_PLACE = frozenset(tokens("place spot"))


@lru_cache(maxsize=4096)
def kind_of(text: str) -> tuple[str, ...]:
    """Return the words of a name or a kind, its head last: ("leafy", "vegetable") of "a leafy vegetable"; () for a text
    that is more: what a gloss says a thing is ("a rubber cup on a stick") is not what people call it."""
    return bare_name(_PART_OF_KIND.sub(r"\1", text))


class KindWords:
    """What the texts of classes say of their kinds, by class number."""

    def __init__(self, texts: Iterable[Sequence[str]], rooms: Iterable[str] = ()) -> None:
        """texts: by class; rooms: names of rooms, which tell where a thing is and not what it is."""
        self._rooms = frozenset(word for room in rooms for word in tokens(room))
        self._heads: dict[str, list[int]] = {}
        self._words: dict[str, list[int]] = {}
        self._count = 0
        for number, group in enumerate(texts):
            for head in {kind[-1] for kind in map(kind_of, group) if kind}:
                self._heads.setdefault(head, []).append(number)
            for word in {word for text in group for word in content_tokens(text)}:
                self._words.setdefault(word, []).append(number)
            self._count = number + 1

    def missing(self, text: str) -> NDArray[np.float64]:
        """Return by class number (n,) how much of the kind that a text asks for no text of the class tells: 1 where
        none has its head, up to 2 more for the share of the words beside it that none has; 0 for a text that asks for
        no kind by its name.

        A dustpan is no dustbin, whatever it sounds like, and a tomato no root vegetable.
        """
        share = np.zeros(self._count)
        if _OF_A_KIND & set(text.lower().split()[:1]):
            return share
        plain = _PART_OF_KIND.sub(r"\1", text)
        noun, *told = _WITH.split(plain, maxsplit=1)
        name = bare_name(plain) or bare_name(noun)
        if not name or name[-1] in _ANY_PLACE:
            return share
        share[:] = 1.0
        share[self._heads.get(name[-1], [])] = 0.0
        beside = (
            [*name[:-1], *(word for words in told for word in content_tokens(words))] if name[-1] in self._heads else []
        )
        beside = [word for word in dict.fromkeys(beside) if word not in _ANY_QUALITY]
        for word in beside:
            lacks = np.ones(self._count)
            lacks[self._words.get(word, [])] = 0.0
            share += 2.0 / len(beside) * lacks
        return share

    def is_other(self, text: str) -> NDArray[np.bool_]:
        """Return by class number (n,) whether a name has a word before its last that tells of a kind and that no text
        of the class has: a milk bottle may be no wine bottle. Nowhere for a text that is no name."""
        found = np.zeros(self._count, dtype=np.bool_)
        for word in bare_name(text)[:-1]:
            if word not in _ANY_QUALITY | _ANY_LOOK | _ANY_WHERE | self._rooms:
                lacks = np.ones(self._count, dtype=np.bool_)
                lacks[self._words.get(word, [])] = False
                found |= lacks
        return found


# What somebody did to a thing, in the past tense.
_DEEDS = {
    ObjectState.CLEANED: ("cleaned", "washed", "rinsed"),
    ObjectState.DIRTY: ("dirtied", "soiled", "used"),
    ObjectState.SLICED: ("sliced", "cut", "chopped"),
    ObjectState.HEATED: ("heated", "warmed", "microwaved"),
    ObjectState.COLD: ("cooled", "chilled", "refrigerated"),
    ObjectState.COOKED: ("cooked", "fried", "boiled", "baked"),
    ObjectState.FILLED: ("filled",),
    ObjectState.USED_UP: ("emptied", "used up", "finished"),
    ObjectState.OPENED: ("opened",),
    ObjectState.CLOSED: ("closed", "shut"),
    ObjectState.BROKEN: ("broke", "cracked", "broken"),
    ObjectState.ON: ("turned on", "switched on"),
    ObjectState.OFF: ("turned off", "switched off"),
}
_ARTICLE = r"(?:the|a|an|some|any|my|your|our|this|that|these|those|\d+|one|two|three|both|all)"
_ADVERB = r"(?:(?:freshly|just|already|very|still|really|now|have|has|had|been|previously)\s+)*"


def _alternatives(words: tuple[str, ...]) -> str:
    return "(?:" + "|".join(word.replace("-", "[- ]").replace(" ", r"\s+") for word in words) + ")"


def _pattern(state: ObjectState) -> re.Pattern[str]:
    adjective = _alternatives(tuple(word for word in ADJECTIVES[state] if word in ATTRIBUTES))
    deed = _alternatives(_DEEDS.get(state, (state.value,)))
    # An adjective follows a determiner, perhaps over another adjective; "clean the mug" is an order, no state.
    attribute = rf"\b{_ARTICLE}\s+{_ADVERB}(?:[a-z]+[, ]\s*(?:and\s+)?)?{adjective}\s+(?!{_ARTICLE}\b|it\b|them\b)[a-z]"
    predicate = rf"\b(?:is|are|was|were|has\s+been|that's|stays?)\s+{_ADVERB}(?:{adjective}|{deed})\b"
    deed_of_somebody = rf"\b(?:i|we|you|he|she|they|robot)(?:'ve)?\s+{_ADVERB}{deed}\b"
    return re.compile(rf"{attribute}|{predicate}|{deed_of_somebody}")


_PATTERNS = {state: _pattern(state) for state in ObjectState}


def described(class_name: str, states: Iterable[ObjectState]) -> str:
    """Return a thing in a few words: "clean mug"."""
    return " ".join([*map(adjective_of, states), spoken(class_name)])


def states_in(text: str) -> tuple[ObjectState, ...]:
    """Return the states that a request asks of its object, in the order of ObjectState."""
    lowered = " ".join(text.lower().split())
    return tuple(state for state, pattern in _PATTERNS.items() if pattern.search(lowered))
