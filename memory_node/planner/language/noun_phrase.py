"""A noun phrase taken apart: how many, which states it claims, what it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.domain.nouns import singular
from memory_node.domain.states import ObjectState


def _words(text: str) -> list[str]:
    return text.split()


_S = ObjectState
_STATE_WORDS: dict[str, ObjectState] = {
    **dict.fromkeys(_words("clean cleaned washed rinsed spotless wet"), _S.CLEANED),
    **dict.fromkeys(_words("hot heated warm warmed microwaved"), _S.HEATED),
    **dict.fromkeys(_words("cooked boiled baked toasted fried mashed"), _S.COOKED),
    **dict.fromkeys(_words("cold chilled cooled cool refrigerated frozen"), _S.COLD),
    **dict.fromkeys(_words("sliced cut chopped diced"), _S.SLICED),
    **dict.fromkeys(_words("dirty filthy unwashed"), _S.DIRTY),
    **dict.fromkeys(_words("broken cracked smashed"), _S.BROKEN),
    **dict.fromkeys(_words("filled full"), _S.FILLED),
}
_PIECES = frozenset(_words("slice slices piece pieces chunk chunks portion portions bit"))
_NUMBERS = {"two": 2, "2": 2, "both": 2, "couple": 2, "pair": 2, "three": 3, "3": 3, "four": 4, "4": 4}
_DEFINITE = frozenset(_words("the this that these those it them my your its their"))
_NOISE = frozenset(
    _words("a an some any all of each every other another second first middle end left right top bottom")
)
_NOISE |= frozenset(_words("lower upper far near nearest closest head loaf set on in")) | _DEFINITE
_COLLECTIVE = frozenset(_words("tableware cutlery silverware crockery dishware cookware stuff electronics"))
PRONOUNS = frozenset({"", "it", "them", "this", "that", "these", "those", "one", "everything", "both"})
# words for a thing that do not say which: what follows them does
UNNAMED = frozenset(_words("something anything thing whatever what object item tool device gadget utensil"))
# a clause or a phrase behind the noun: "the knife | with the yellow handle", "the one | that you washed"
_FOLLOWING = re.compile(
    r"\s(?:that|which|who|whose|used|for|to|with|when|while|lying|standing|sitting|hanging|you|i|we|people"
    r"|one (?:can|would))\s"
)


@dataclass(frozen=True)
class NounPhrase:
    """text: as said. head: what it is called, singular, without states and numbers; "" for a pronoun.

    description: it is not named but told from others by what follows ("something to write with").
    """

    text: str
    head: str
    states: tuple[ObjectState, ...] = ()
    count: int = 1
    plural: bool = False
    pieces: bool = False
    definite: bool = False
    another: bool = False
    description: bool = False


def read_noun_phrase(text: str) -> NounPhrase:
    """Take a noun phrase apart."""
    words = re.findall(r"[a-z0-9'\-]+", text.lower().replace("'s", ""))
    states = tuple(dict.fromkeys(_STATE_WORDS[word] for word in words if word in _STATE_WORDS))
    following = _FOLLOWING.search(" ".join(words))
    core = " ".join(words)[: following.start()].split() if following else words
    counts = [_NUMBERS[word] for word in core if word in _NUMBERS]
    named = [word for word in core if word not in _STATE_WORDS and word not in _NUMBERS and word not in _NOISE]
    pieces = any(word in _PIECES for word in named)
    named = [word for word in named if word not in _PIECES]
    singulars = [singular(word) for word in named]
    several = bool(named) and (named[-1] != singulars[-1] or named[-1] in _COLLECTIVE)
    plural = several or (bool(named) and bool(set(core) & {"both", "these", "those", "them"}))
    told_apart = named == ["one"] and "the" in core and bool(states)  # "the one that you washed", "the clean one"
    head = "" if " ".join(named) in PRONOUNS and not told_apart else " ".join(singulars)
    return NounPhrase(
        text,
        head,
        states,
        counts[0] if counts else 1,
        plural or (not named and bool({"them", "both"} & set(core))),
        pieces,
        bool(set(core) & _DEFINITE) or not words,
        bool(set(core) & {"another", "other", "second"}),
        bool(named) and named[0] in UNNAMED and (following is not None or named[0] in ("what", "whatever")),
    )
