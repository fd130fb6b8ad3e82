"""Reads what stands behind a noun: "of the fridge", "not the red one", "that is on the table", "you washed"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_node.planner.language.english import INTO, English, phrase_at
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase

_OF_CLAUSES = frozenset(["what", "whatever", "whichever"])  # their clause follows at once
# Words, the index of one of them -> the noun phrase that begins there.
_Read = Callable[[Sequence[str], int], "NounPhrase | None"]


class PhraseTail:
    """Completes noun phrases. read: reads the phrases that stand behind them."""

    def __init__(self, english: English, lexicon: Lexicon, read: _Read) -> None:
        self._english = english
        self._lexicon = lexicon
        self._read = read

    def behind(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Return the phrase with "of ...", "not ..." or the clause behind it that tells the thing from others."""
        at = phrase.end
        if at < len(words) and words[at] == "of" and (phrase.head or phrase.pieces):
            inner = self._read(words, at + 1)
            if inner is not None:
                return self._claused(words, self._of(phrase, inner))
        told = self._claused(words, phrase)
        return self._without(words, told) or told

    def _without(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase | None:
        """Take "not the red one", "except the plate"; behind "all" and "any" "but the plate", too."""
        at = phrase.end
        length = phrase_at(self._english.excluding, words, at)
        if not length and words[at : at + 1] == ["but"] and (phrase.every or phrase.text.startswith("any")):
            following = "".join(words[at + 1 : at + 2])
            length = int(following in self._english.determiners or following in self._english.numbers)
        inner = self._read(words, at + length) if length else None
        if inner is None:
            return None
        return replace(phrase, text=f"{phrase.text} not {inner.text}", excluded=(inner,), end=inner.end)

    def _of(self, phrase: NounPhrase, inner: NounPhrase) -> NounPhrase:
        """Return what "a slice of bread", "the top of the fridge" or "a cup of coffee" means."""
        text, english = f"{phrase.text} of {inner.text}", self._english
        if phrase.called is None and phrase.pieces:
            return self._pieces_of(phrase, inner, text)
        if phrase.head in english.measures and inner.named and (phrase.called is None or not phrase.called.own):
            states, count = (*phrase.states, *inner.states), max(phrase.count, inner.count)
            return replace(
                inner,
                text=text,
                begin=phrase.begin,
                states=states,
                count=count,
                plural=phrase.plural,
                every=phrase.every,
            )
        if phrase.head in english.parts | english.attached and (phrase.called is None or inner.called is not None):
            part = phrase.head if phrase.head in english.attached else ""
            each = phrase.every or inner.every  # "at each end of the sofa"
            return replace(inner, text=text, begin=phrase.begin, definite=True, part=part, every=each)
        return self._compounded(replace(phrase, text=text, end=inner.end), inner)

    def _pieces_of(self, phrase: NounPhrase, inner: NounPhrase, text: str) -> NounPhrase:
        """Return what "a slice of bread", "a piece of fruit" or "half of the eggs" means."""
        inner = replace(inner, text=text, begin=phrase.begin)
        if inner.group and "piece" in phrase.text:
            return inner
        if phrase.text.endswith("half") and inner.plural:
            return replace(inner, uncounted=True)
        count, states = max(phrase.count, inner.count), (*phrase.states, *inner.states)
        return replace(inner, pieces=True, count=count, plural=phrase.plural, states=states)

    def _compounded(self, phrase: NounPhrase, inner: NounPhrase) -> NounPhrase:
        """Return the phrase told by the noun behind "of", or named by both: "bottle of glass" is a glass bottle."""
        generic = phrase.called is not None and not phrase.called.own
        if phrase.head in self._english.lights and self._lexicon.is_furniture(inner.called):
            return self._light_of(phrase, inner)
        found = self._lexicon.name_at([inner.head, phrase.head], 0) if generic and inner.head else None
        if found is not None and found[1] > 1:
            return replace(phrase, called=found[0])
        drink = inner.head in self._english.liquids and not inner.named
        holds = phrase.called is not None and self._lexicon.is_vessel(phrase.called)
        unlike = inner.strange or (drink and not holds)  # a "carton of milk" is no box
        return replace(phrase, attributes=(*phrase.attributes, inner.head or inner.text), compounded=unlike)

    def _light_of(self, phrase: NounPhrase, furniture: NounPhrase) -> NounPhrase:
        """Return the lamp of "the light of the desk": a desk lamp, where there is such a name, and it is there."""
        pairs = (self._lexicon.name_at([furniture.head, light], 0) for light in sorted(self._english.lights))
        own = next((found[0] for found in pairs if found is not None and found[1] > 1), phrase.called)
        return replace(phrase, called=own, places=(*phrase.places, (INTO, furniture)))

    def _claused(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Take "that is on the table", "lying on the bed", "you washed", "I used before"."""
        english, at = self._english, phrase.end
        marked = at < len(words) and words[at] in english.relative
        start, relative = at + marked, marked or self._is_told_by_clause(words, phrase)
        if start >= len(words):
            return phrase
        if (relative and words[start] in english.being) or words[start] in english.posed:
            return self._told_by_place_or_state(words, phrase, start + 1)
        if marked and words[start] in english.happened:
            return self._told_by_what_happened(words, phrase, start + 1)
        if relative and words[start] in ("has", "have"):
            return self._told_by_feature(words, phrase, start + 1)
        if words[start] in english.subjects and start + 1 < len(words):
            return self._told_by_deed(words, phrase, start + 1)
        return (self._told_by_others(words, phrase, start) if marked else None) or phrase

    def _told_by_what_happened(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        """Take "[the fork that fell] off the table"."""
        end = at + (words[at : at + 1] in (["over"], ["down"], ["off"]))
        return self._told_by_place_or_state(words, replace(phrase, end=end, definite=True), end)

    def _told_by_others(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase | None:
        """Take "[the pillow that] the cat was sleeping on", "[the pen that] my son dropped"."""
        who = self._read(words, at)
        behind = who.end if who is not None and not who.named else len(words)
        if behind >= len(words):
            return None
        if words[behind] in self._english.being:
            told = self._told_by_what_goes_on(words, phrase, behind + 1)
            return told if told.end > phrase.end else None
        told = self._told_by_deed(words, phrase, behind)
        return told if told.end > phrase.end else None

    def _is_told_by_clause(self, words: Sequence[str], phrase: NounPhrase) -> bool:
        """Return whether "what" stands for a thing, as behind "bring me"; elsewhere it asks."""
        before = words[phrase.begin - 1] if phrase.begin else ""
        ordered = before in self._english.people | self._english.particles or self._english.is_verb(before)
        return phrase.head in _OF_CLAUSES and ordered

    def _told_by_place_or_state(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        english = self._english
        while at < len(words) and words[at] in english.fillers | english.posed | {"currently"}:
            at += 1
        if at < len(words) and words[at] in english.states:
            return replace(phrase, states=(*phrase.states, english.states[words[at]]), end=at + 1)
        found = english.preposition_at(words, at)
        inner = self._read(words, at + found[1]) if found is not None else None
        if found is None or inner is None:
            return phrase
        return replace(phrase, places=(*phrase.places, (found[0], inner)), end=inner.end)

    def _told_by_feature(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        """Take "that has got a chip in it"."""
        at += words[at : at + 1] == ["got"]
        feature = self._read(words, at)
        if feature is None:
            return phrase
        found = self._english.preposition_at(words, feature.end)
        own = self._read(words, feature.end + found[1]) if found is not None else None
        end = own.end if own is not None and own.pronoun in ("it", "them") else feature.end
        return replace(phrase, attributes=(*phrase.attributes, feature.text), end=end)

    def _told_by_what_goes_on(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        """Take "[the book that I was] reading yesterday"."""
        if not "".join(words[at : at + 1]).endswith("ing"):
            return phrase
        at += 1
        while at < len(words) and (words[at] in self._english.after_deed or self._is_left_over(words, at)):
            at += 1
        return replace(phrase, handled=True, end=at, definite=True)

    def _is_left_over(self, words: Sequence[str], at: int) -> bool:
        """Return whether a preposition stands alone: "the cup I was drinking from"."""
        found = self._english.preposition_at(words, at)
        return found is not None and self._read(words, at + found[1]) is None

    def _told_by_deed(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        english = self._english
        while at < len(words) and words[at] in english.before_deed:
            at += 1
        if words[at : at + 1] and words[at] in english.being:
            return self._told_by_what_goes_on(words, phrase, at + 1)
        verb, following = (words[at] if at < len(words) else ""), "".join(words[at + 1 : at + 2])
        if verb == "left" and following in english.states:
            return replace(phrase, states=(*phrase.states, english.states[following]), end=at + 2)
        if verb in ("find", "see"):
            return self._told_by_place_or_state(words, replace(phrase, end=at + 1), at + 1)
        if verb not in english.deeds and verb not in english.handled:
            return phrase
        states = (*phrase.states, english.deeds[verb]) if verb in english.deeds else phrase.states
        at += 1
        while at < len(words) and words[at] in english.after_deed | english.people:
            at += 1
        told = replace(phrase, states=states, handled=True, end=at, definite=True)
        return self._told_by_place_or_state(words, told, at) if verb in english.lying else told
