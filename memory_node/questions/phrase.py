"""A thing or place as a plain sentence speaks of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.states import ATTRIBUTES, ObjectState
from memory_node.questions.past import with_whole_verbs

TIME = (
    r"(?:today|yesterday|this (?:morning|afternoon|evening)|last (?:night|week|month)|(?:on|last) [A-Z][a-z]+day|"
    r"(?:\d+|an?|two|three|four|five|six) (?:day|week|month)s? ago|earlier|just now|before)"
)
_DETERMINER = r"(?P<owner>the|a|an|some|another|my|his|her|their|our|your|that|this|[A-Z][\w-]*'s|my [a-z]+'s)"
_PLACE = r"(?P<how>from|on|in|at|inside) (?:the |my |our |a )?(?P<place>[\w' -]+?)"
_DEED = rf"(?: that| which)? you (?P<verb>[a-z_]+)(?: (?P<to>me))?(?: (?P<time>{TIME}))?"
_PHRASE = re.compile(
    rf"^(?:{_DETERMINER} )?(?P<noun>[\w][\w' -]*?)(?: {_PLACE})?(?P<again> again)?(?:{_DEED})?$",
)
_PRONOUN = re.compile(r"^(?:it|them|that|this)$", re.I)


@dataclass(frozen=True)
class Phrase:
    """What the words say.

    text: the words. classes: likeliest first; () for a pronoun. others: classes that are called so, too. owner: "his",
    "Anna's", "my sister's", "" for an article. states: that it is said to have. place, how: what it is said to stand
    "on", "in", or to come "from". again: the one of last time. verb, to, time: what the robot is said to have done with
    it.
    """

    text: str
    classes: tuple[str, ...] = ()
    owner: str = ""
    states: tuple[ObjectState, ...] = ()
    place: str = ""
    how: str = ""
    again: bool = False
    verb: str = ""
    to: str = ""
    time: str = ""
    another: bool = False
    others: tuple[str, ...] = ()

    @property
    def pronoun(self) -> bool:
        """Whether it stands for what was named before."""
        return not self.classes


def phrase_of(text: str, kinds: ObjectCatalogue, present: Collection[str] = ()) -> Phrase | None:
    """Return what words say of a thing; None where no class of the label space is called so.

    present: the classes of the home: of several that are called so alike, the only one among these is meant.
    """
    words = " ".join(text.replace("’", "'").split()).strip(" .!?,")
    if _PRONOUN.match(words):
        return Phrase(words)
    spelt = with_whole_verbs(words)
    match = _PHRASE.match(spelt[:1].lower() + spelt[1:] if not re.match(r"[A-Z][\w-]*'s ", spelt) else spelt)
    if match is None:
        return None
    noun, states = _without_states(match["noun"].lower())
    called = kinds.spoken_names.answering(noun)
    here = [one for one in called if one in present]
    name = kinds.spoken_names.only_class(noun) or (here[0] if len(here) == 1 else "")
    if not name:
        return None
    owner = match["owner"] or ""
    return Phrase(
        words,
        (name,),
        "" if owner in ("the", "a", "an", "some", "another", "that", "this", "our", "your") else owner,
        states,
        match["place"] or "",
        match["how"] or "",
        bool(match["again"]),
        match["verb"] or "",
        match["to"] or "",
        match["time"] or "",
        owner == "another",
        tuple(one for one in called if one != name),
    )


def _without_states(noun: str) -> tuple[str, tuple[ObjectState, ...]]:
    states = []
    first, _, rest = noun.partition(" ")
    while rest and first in ATTRIBUTES:
        states.append(ATTRIBUTES[first])
        noun = rest
        first, _, rest = noun.partition(" ")
    return noun, tuple(states)
