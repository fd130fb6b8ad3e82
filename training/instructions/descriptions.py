"""Phrases that point at a class of things without naming it, put together from phrases/descriptions.yaml."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from training.instructions.inflection import gerund

Facts = Mapping[str, Mapping[str, Sequence[str]]]

_USE_FRAMES = (
    "something to {use}",
    "something I can {use}",
    "something that one can {use}",
    "something you would {use}",
    "a thing to {use}",
    "what I {use}",
    "what people {use}",
    "whatever I {use}",
    "whatever one can {use}",
    "the thing that we {use}",
    "the thing I {use}",
    "the {noun} to {use}",
    "the {noun} that I {use}",
    "the {noun} people {use}",
    "a {noun} that you can {use}",
    "an object to {use}",
    "an item that is good to {use}",
)
_PURPOSE_FRAMES = (
    "something for {doing}",
    "the thing for {doing}",
    "the thing used for {doing}",
    "the {noun} for {doing}",
    "a {noun} used for {doing}",
    "the {noun} commonly used for {doing}",
    "an item for {doing}",
    "what is used to {bare}",
    "the tool that is used to {bare}",
    "something suitable for {doing}",
    "an object that helps with {doing}",
)
_DOING_FRAMES = (
    "something that {does}",
    "the thing that {does}",
    "the {noun} that {does}",
    "a {noun} which {does}",
    "what {does}",
    "whatever {does}",
    "the {noun}, the one that {does},",
    "an object that {does}",
)
_LOOK_FRAMES = ("the {look} {noun}", "a {look} {noun}", "the {look} thing", "something {look}", "the {look} object")
_INSTRUMENT = " with"
_SPOKEN = 0.7  # share of whole phrases, where there are some


class Descriptions:
    """Describes classes; every choice comes from `generator`.

    facts: phrases/descriptions.yaml, to be put together. spoken: phrases/spoken_descriptions.yaml, whole phrases.
    """

    def __init__(self, facts: Facts, spoken: Mapping[str, Sequence[str]], generator: random.Random) -> None:
        self._facts = facts
        self._spoken = spoken
        self._random = generator

    def __contains__(self, name: str) -> bool:
        return name in self._facts or name in self._spoken

    def phrase(self, name: str) -> str:
        """Return a complete noun phrase that describes the class.

        Raises:
            KeyError: nothing is known of the class.
        """
        if name in self._spoken and (name not in self._facts or self._random.random() < _SPOKEN):
            return self._random.choice(self._spoken[name])
        facts = self._facts[name]
        noun = self._random.choice(facts["is"])
        frames = [kind for kind in ("uses", "uses", "does", "looks") if facts.get(kind)]
        kind = self._random.choice(frames)
        if kind == "does":
            return self._random.choice(_DOING_FRAMES).format(noun=noun, does=self._random.choice(facts["does"]))
        if kind == "looks":
            return self._random.choice(_LOOK_FRAMES).format(noun=noun, look=self._random.choice(facts["looks"]))
        use = self._random.choice(facts["uses"])
        if self._random.random() < 0.5:
            return self._random.choice(_USE_FRAMES).format(noun=noun, use=use)
        bare = use.removesuffix(_INSTRUMENT)
        return self._random.choice(_PURPOSE_FRAMES).format(noun=noun, bare=bare, doing=gerund(bare))
