"""Reads noun phrases, from their first determiner to the clause that tells the thing from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.nouns import singular
from memory_node.planner.language.english import English, phrase_at
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_draft import Draft, Noun
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_tail import PhraseTail

_INDEFINITE = frozenset(["what", "whatever", "whichever", "something", "anything"])
_BEFORE_OF = frozenset(["all", "both", "one", "some", "any", "couple", "pair", "each", "few", "lot"])


class NounPhraseReader:
    """Reads noun phrases made of a lexicon's names and English's small words."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self._lexicon = lexicon
        self._english = english
        self._tail = PhraseTail(english, lexicon, self.read)
        self._beginners = english.pronouns | english.people | english.subjects | english.fillers | english.determiners
        self._beginners -= {"one", "ones"}
        never = english.auxiliaries | english.relative | english.posed | english.negative | english.joining
        self._never_nouns = never | english.clauses | english.particles | {"'s", "please", "here", "there"}
        self._plain_nouns = english.plain_nouns
        self._complete = english.pronouns - {"one", "ones"} | _INDEFINITE - {"whichever"}

    def read(self, words: Sequence[str], at: int) -> NounPhrase | None:
        """Return the phrase that begins at a word, with its relative clause; None where none begins."""
        held = phrase_at(self._english.in_hand, words, at)
        if held:
            return NounPhrase(" ".join(words[at : at + held]), at, at + held, definite=True, in_hand=True)
        draft, begin = Draft(), at
        at = self._before_noun(words, at, draft)
        if at < len(words) and words[at] in self._english.people:
            return NounPhrase(words[at], begin, at + 1, words[at], person=True, definite=True)
        at = self._nouns(words, at, draft)
        phrase = self._phrase(words, begin, at, draft) if at > begin else None
        if phrase is None:
            return None
        if phrase.pronoun == "them" and words[at : at + 1] in (["both"], ["all"]):  # "put them both away"
            count = 2 if words[at] == "both" else 1
            return replace(phrase, plural=True, count=count, every=count == 1, end=at + 1)
        if phrase.described and words[at : at + 1] and words[at] in self._english.states and phrase.end == at:
            phrase = self._with_state(words, phrase)
        return self._one_of_both(words, self._tail.behind(words, phrase))

    def _one_of_both(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Return the first thing of "both the apple and the tomato" as one thing."""
        last, following = words[phrase.end - 1], words[phrase.end : phrase.end + 1]
        paired = words[phrase.begin] == "both" and following == ["and"] and singular(last) == last
        return replace(phrase, count=1, plural=False) if paired else phrase

    def _with_state(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Return "something" of "something cold to drink" with its state."""
        word = words[phrase.end]
        text, states = f"{phrase.text} {word}", (*phrase.states, self._english.states[word])
        return replace(phrase, text=text, states=states, end=phrase.end + 1)

    # --- before the noun

    def _before_noun(self, words: Sequence[str], at: int, draft: Draft) -> int:
        """Take quantities, determiners, states and adjectives; return where the nouns begin."""
        while at < len(words):
            if self._lexicon.stranger_at(words, at):
                return at  # a "hot plate" is no plate that is hot
            if (
                self._lexicon.name_at(words, at)
                and words[at] not in self._english.states
                and "'s" not in words[at + 1 : at + 2]
            ):
                return at
            taken = (
                self._quantity(words, at, draft)
                or self._determiner(words, at, draft)
                or self._adjective(words, at, draft)
            )
            if not taken:
                return at
            at += taken
        return at

    def _quantity(self, words: Sequence[str], at: int, draft: Draft) -> int:
        word, numbers = words[at], self._english.numbers
        if word == "both":
            draft.fields.update(count=2, plural=True)
        elif word in self._english.every and word != "everything":
            draft.fields["every"] = True
        elif word == "of" and at and words[at - 1] in _BEFORE_OF | set(numbers):
            return 1
        elif word == "one" and words[at + 1 : at + 2] == ["of"]:
            draft.fields.update(single=True, count=1)
        elif word in numbers and (word != "one" or self._noun_follows(words, at + 1)):
            draft.fields.setdefault("count", numbers[word])  # "three of the four spoons" are three
        else:
            return 0
        return 1

    def _determiner(self, words: Sequence[str], at: int, draft: Draft) -> int:
        word, english = words[at], self._english
        if draft.states or draft.attributes:
            return 0  # "open the fridge" is no phrase
        if word in english.determiners and (word not in english.pronouns or self._noun_follows(words, at + 1)):
            draft.fields["definite"] = word in english.definite
            if word in english.definite - english.pronouns - {"the"}:
                draft.fields["owner"] = word
            if word == "another":
                draft.fields["other"] = True
            if word in english.plural_pronouns:
                draft.fields["plural"] = True
            return 1
        if words[at + 1 : at + 2] == ["'s"] and word not in english.pronouns and self._is_owned(words, at):
            draft.fields.update(owner=word, definite=True)
            return 2
        return 0

    def _is_owned(self, words: Sequence[str], at: int) -> bool:
        """Return whether "'s" is a genitive: "the plant's pot"; "the plant's thirsty" says how the plant is."""
        if not self._noun_follows(words, at + 2):
            return False
        word, english = words[at + 2], self._english
        belonging = word in english.parts | english.attached | english.generic | english.its_place
        return belonging or not (self._lexicon.name_at(words, at) and self._lexicon.name_at(words, at + 2) is None)

    def _adjective(self, words: Sequence[str], at: int, draft: Draft) -> int:
        word, english = words[at], self._english
        telling = english.colours | english.sizes | english.ordinals | english.materials
        if word == "other":
            draft.fields["other"] = True
        elif word in english.states:
            draft.states.append(english.states[word])
            return 1 + (words[at + 1 : at + 2] == ["up"])
        elif word in telling or self._tells_side(words, at, draft):
            draft.attributes.append(word)
        else:
            return 0
        return 1

    def _tells_side(self, words: Sequence[str], at: int, draft: Draft) -> bool:
        """Return whether a word tells which: "the left burner" (but "the pan left on the stove"), "the top one", "the
        back burner"."""
        english, following = self._english, words[at + 1 : at + 2]
        if not (words[at] in english.parts and draft.fields.get("definite") and self._noun_follows(words, at + 1)):
            return False
        told = words[at] in english.posed or following in (["one"], ["ones"])
        return told or (words[at] in english.particles and self._lexicon.name_at(words, at + 1) is not None)

    def _noun_follows(self, words: Sequence[str], at: int) -> bool:
        english = self._english
        return (
            at < len(words)
            and words[at][0].isalnum()
            and words[at] not in ("'s", "there", "here")
            and words[at] not in english.joining | english.auxiliaries | english.particles | english.fillers
            and english.preposition_at(words, at) is None
        )

    # --- the nouns

    def _nouns(self, words: Sequence[str], at: int, draft: Draft) -> int:
        """Take nouns, and adjectives that nobody knows, up to what cannot belong to the phrase."""
        while at < len(words):
            if draft.nouns and draft.nouns[-1].called and words[at] in self._english.people:
                break  # "the sun blinds me"
            strange = self._lexicon.stranger_at(words, at)
            if strange:
                draft.nouns.append(Noun(" ".join(words[at : at + strange])))
                at += strange
                continue
            named = self._lexicon.name_at(words, at)
            room = None if named else self._lexicon.room_at(words, at)
            if named is not None:
                draft.nouns.append(Noun(" ".join(words[at : at + named[1]]), named[0]))
            elif room is not None:
                draft.nouns.append(Noun(room[0], room=room[0]))
            elif self._ends_before(words, at, draft) or (draft.nouns and words[at].endswith("ly")):
                break
            else:
                draft.nouns.append(Noun(words[at]))
            at += named[1] if named is not None else room[1] if room is not None else 1
            at = self._past_genitive(words, at, draft, bool(named))
            if draft.nouns[-1].words in self._complete:
                break
        return at

    def _past_genitive(self, words: Sequence[str], at: int, draft: Draft, named: bool) -> int:
        """Skip "'s" of a plural ("two phone's in the safe") and before pieces ("the lettuce's slices")."""
        if words[at : at + 1] == ["'s"] and draft.fields.get("count", 1) > 1:
            draft.fields["plural"], at = True, at + 1
        return at + (named and self._are_pieces_of(words, at))

    def _are_pieces_of(self, words: Sequence[str], at: int) -> bool:
        """Return whether "'s" and several pieces follow a name; "the glass's half full" has one."""
        following = words[at + 1 : at + 2]
        return words[at : at + 1] == ["'s"] and any(
            singular(word) != word and singular(word) in self._english.pieces for word in following
        )

    def _ends_before(self, words: Sequence[str], at: int, draft: Draft) -> bool:
        """Return whether a word that is no name cannot belong to the phrase."""
        word, english = words[at], self._english
        if word in english.parts and not draft.nouns and words[at + 1 : at + 2] == ["of"]:
            return False  # "the back of the shelf"
        if word in _INDEFINITE or (draft.nouns and phrase_at(english.excluding, words, at)):
            return bool(draft.nouns)
        if not word[0].isalnum() or word in self._never_nouns:
            return word not in english.pronouns or bool(draft.nouns)
        if english.preposition_at(words, at) is not None or word in english.subjects | english.fillers:
            return True
        return bool(draft.nouns) and self._ends_behind(draft.nouns[-1], word)

    def _ends_behind(self, noun: Noun, word: str) -> bool:
        """Return whether a word that could begin a phrase, or belong to its noun, ends it behind another noun."""
        english = self._english
        if word in english.numbers and word.isalpha() and word != "one":
            return True  # "[bring] Anna three forks"
        saying = english.saying if word.endswith("s") else frozenset()
        if noun.called and word in english.happened | saying | {"nice"}:
            return True  # "the plant looks thirsty", "my phone fell behind the bed"
        if noun.called and (word.endswith("ing") or word != english.base_form(word, participle=True) != ""):
            return True  # "get the potatoes boiling", "I want the desk wiped"
        if word in english.every | self._beginners:
            return True
        return word in english.states and bool(noun.called or noun.room or noun.words in english.attached)

    def _phrase(self, words: Sequence[str], begin: int, end: int, draft: Draft) -> NounPhrase | None:
        text = " ".join(words[begin:end]).replace(" 's", "'s")
        single = draft.fields.pop("single", False)
        phrase = NounPhrase(
            text, begin, end, states=tuple(draft.states), attributes=tuple(draft.attributes), **draft.fields
        )
        if draft.nouns:
            headed = self._headed(phrase, draft.nouns)
            return replace(headed, plural=False, every=False) if single else headed
        alone = words[end - 1] in self._english.pronouns | {"other", "another", "some"}
        if not (alone or phrase.every or phrase.count > 1 or draft.states or draft.attributes):
            return None
        # "the clean", "the red", "both", "all": its noun has been spoken of
        return replace(phrase, pronoun="them" if phrase.every or phrase.count > 1 else "one")

    def _headed(self, phrase: NounPhrase, nouns: Sequence[Noun]) -> NounPhrase:
        """Return the phrase with its head: the last noun, but for parts and generic words behind a name."""
        english, last = self._english, nouns[-1]
        if last.bare and len(nouns) == 1 and last.words in english.pronouns:
            return self._pronoun(phrase, last.words)
        if last.bare and singular(last.words) in english.pieces:
            phrase = replace(phrase, pieces=True, plural=phrase.plural or singular(last.words) != last.words)
            nouns = nouns[:-1]
            if all(not noun.called and noun.words in english.parts for noun in nouns):
                return phrase  # "the slice", "an end slice"
        elif len(nouns) > 1 and self._adds_nothing(last, nouns[-2]):
            part = {last.words} & self._english.attached
            phrase, nouns = replace(phrase, part="".join(part)), nouns[:-1]
        if len(nouns) > 1 and singular(nouns[0].words) in english.pieces and nouns[-1].called is not None:
            phrase = replace(phrase, pieces=True)  # "the slice tomato"
        return self._with_head(phrase, nouns)

    def _pronoun(self, phrase: NounPhrase, word: str) -> NounPhrase:
        plural = phrase.plural or word in self._english.plural_pronouns
        return replace(phrase, pronoun=word.removesuffix("s") if "one" in word else word, plural=plural)

    def _adds_nothing(self, last: Noun, before: Noun) -> bool:
        """Return whether the last noun means what the one before does, as in "fridge door", not "bathroom door"."""
        generic = singular(last.words)
        if last.bare and generic in self._english.generic:
            return True
        return generic in self._english.attached and bool(last.bare or before.called)

    def _with_head(self, phrase: NounPhrase, nouns: Sequence[Noun]) -> NounPhrase:
        """Return the phrase with its last noun as its head, told by the nouns before it."""
        last, before = nouns[-1], nouns[:-1]
        if phrase.owner in ("my", "your", "his", "her") and self._lexicon.is_pair(last.words):
            last = Noun(last.words)  # "my glasses"
        head = " ".join(map(singular, last.words.split()))
        return replace(
            phrase,
            head=head,
            called=last.called,
            group=self._lexicon.group(head) if last.called is None else None,
            room=next((noun.room for noun in reversed(nouns) if noun.room), ""),
            plural=self._is_plural(phrase, last.words, head),
            attributes=(*phrase.attributes, *(noun.words for noun in before)),
            peculiar=any(noun.bare for noun in before),
            compounded=any(self._tells_kind(noun) for noun in before),
            of_other=any(noun.called and self._lexicon.is_carried(noun.called) for noun in before),
            described=head in self._english.unnamed,
            strange=not (
                last.called or last.room or self._lexicon.group(head) is not None or head in self._plain_nouns
            ),
        )

    def _tells_kind(self, noun: Noun) -> bool:
        """Return whether a noun before another one tells what that is: "key card", not "sofa cushion", "left knob"."""
        return not (noun.room or noun.words in self._english.parts or self._lexicon.is_furniture(noun.called))

    def _is_plural(self, phrase: NounPhrase, words: str, head: str) -> bool:
        if head in self._english.collective:
            return True
        return (phrase.plural or words != head) and not self._lexicon.is_plural_name(words)
