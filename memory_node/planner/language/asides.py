"""Reads what is no command: what is not to be done, why something is, and how things are."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import ENDS, OF, WITH, phrase_at
from memory_node.planner.language.introductions import asks_for_deed
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_instruction import Heard, Remark

_TELLING = frozenset(["are", "were", "have", "had", "did"])
_SEEKING = frozenset([GoalKind.FIND, GoalKind.FETCH, GoalKind.TELL])
_VAGUELY = frozenset(["somewhere", "still", "probably", "lying"])
_SUPPOSING = frozenset(["should", "must", "might", "may", "could", "ought"])
_ALONE = frozenset(["alone", "where", "whole"])
_AS_IT_IS = frozenset(["on", "off", "out", "open", "closed", "shut"])
_MOODS = (("i", "fancy"), ("i", "feel", "like"))  # behind a command they say why: "boil the water, I fancy a tea"
_WONDERING = frozenset(["who", "why", "how", "when", "whose"])


class Asides:
    """Tells asides and remarks from commands. Its rules return where the aside ends, None where none begins."""

    def __init__(self, commands: CommandReader, lexicon: Lexicon) -> None:
        self._commands = commands
        self._english = commands.english
        self._lexicon = lexicon

    def begins(self, words: Sequence[str], at: int) -> bool:
        """Return whether an aside is marked at a word: "do not ...", "because ..."; "so I would like ..." asks."""
        asked = words[at] == "so" and phrase_at(self._english.openings + self._english.wishes, words, at + 1)
        asked = asked or phrase_at(self._english.openings, words, at) > 2  # "do not forget to ..."
        asked = asked or self._stands_still(words, at)
        return bool(phrase_at(self._english.asides, words, at)) and not asked

    def _stands_still(self, words: Sequence[str], at: int) -> bool:
        """Return whether a whole sentence denies and commands: "do not move", but not "do not move to the bed"."""
        sense = self._english.phrasal.get(tuple(words[at : sentence_end(words, at)]))
        return sense is not None and sense.kind is GoalKind.STOP

    def aside(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Skip what is not to be done, and why something is. "Do not heat the apple, wash it": it is the apple."""
        alone = words[at] in ("leave", "keep") and self._leaves_as_it_is(words, at)
        reason = heard.commands and words[at - 1] == "," and phrase_at(_MOODS, words, at)
        if not (alone or reason or self.begins(words, at)):
            return None
        end = self._past_instead(words, at) or self._end(words, at + 1)
        heard.aside += words[at:end]
        heard.parts.append(Remark(tuple(self.named_between(words, at + 1, end))))
        self._deny_rest(words, at, end, heard)
        return end

    def _leaves_as_it_is(self, words: Sequence[str], at: int) -> bool:
        """Return whether something is left alone: "leave the tomato whole", "..., but leave the lamp off"."""
        said = words[at : sentence_end(words, at)]
        if _ALONE & set(said):
            return True
        thing = self._commands.phrase(words, at + 1) if words[at - 1 : at] == ["but"] else None
        return thing is not None and (said[-1] in _AS_IT_IS or thing.end == at + len(said))  # "but leave the glasses"

    def _deny_rest(self, words: Sequence[str], at: int, end: int, heard: Heard) -> None:
        """Note that nobody knows how far "not" reaches: "do not peel the potato and slice it"."""
        if self._goes_on(words, end) and {"not", "never", "no"} & set(words[at:end]):
            heard.unread.append("not")

    def _past_instead(self, words: Sequence[str], at: int) -> int:
        """Return where the command begins of "instead of the fork bring me a spoon"; 0 for other asides."""
        instead = words[at : at + 2] in (["instead", "of"], ["rather", "than"])
        phrase = self._commands.phrase(words, at + 2) if instead else None
        begins = phrase is not None and phrase.end < len(words) and self._commands.begins(words, phrase.end)
        return phrase.end if phrase is not None and begins else 0

    def _goes_on(self, words: Sequence[str], at: int) -> bool:
        """Return whether what is not to be done may go on: "... and slice it", "..., then slice it"."""
        at += words[at : at + 1] == [","] and words[at + 1 : at + 2] == ["then"]
        return words[at : at + 1] in (["and"], ["then"])

    def haste(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Skip the reason for haste behind a command: "before somebody trips over it"."""
        if words[at] != "before" or not heard.parts:
            return None
        end = self._past_haste(words, at + 1)
        somebody = "".join(words[at + 1 : at + 2]) in self._english.subjects - {"you", "it"}
        somebody |= phrase_at(self._english.persons, words, at + 1) > 0
        somebody |= words[at + 1 : at + 2] == ["it"] and "".join(words[at + 2 : at + 3]) in self._english.going_wrong
        if not somebody and any(self._says_something(words, index) for index in range(at + 1, end)):
            return None
        heard.aside += words[at:end]
        return end

    def remark(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take a sentence that only says how things are; what it speaks of may be "it" afterwards."""
        english = self._english
        at = self._past_fronted_place(words, at)
        there = words[at] == "there" and "".join(words[at + 1 : at + 2]) in english.auxiliaries
        topic = self._topic(words, at + 2 + (words[at + 2 : at + 3] == ["be"]) if there else at, at)
        verb = at + 1 if topic is None or there else self._past_places(words, topic.end)
        verb += "".join(words[verb : verb + 1]) in english.often
        if topic is not None and topic.named and "".join(words[verb : verb + 1]) in (",", ":", "-"):
            heard.parts.append(Remark((topic,), stands_first=True))  # "the pot, put it on the stove"
            return verb
        if words[at] in english.condition_marks:
            return None  # what holds only then must not be done now
        if self._tells_of_people(words, at):
            return self._sentence(words, at, verb, heard, None)
        telling = english.auxiliaries | english.saying | english.happened
        telling |= english.people if topic is not None and topic.peculiar else frozenset()  # "the sun blinds me"
        second, behind = self._second_topic(words, verb)
        if there or "".join(words[behind : behind + 1]) in telling:
            return self._sentence(words, at, behind, heard, topic, second)
        return None

    def _second_topic(self, words: Sequence[str], at: int) -> tuple[NounPhrase | None, int]:
        """Return the second thing of "the bread and the butter are on the table", and where its verb stands."""
        second = self._commands.phrase(words, at + 1) if words[at : at + 1] == ["and"] else None
        if second is None or not second.named:
            return None, at
        return second, self._past_places(words, second.end)

    def whereabouts(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Skip where a thing may be that is to be found: "bring me my phone, it should be in the kitchen"."""
        last = heard.commands[-1] if heard.commands else None
        supposed = words[at] in ("it", "they") and "".join(words[at + 1 : at + 2]) in _SUPPOSING
        sought = last is not None and (last.kind in _SEEKING or last.to_user)
        place = at + 2 + (words[at + 2 : at + 3] == ["to"])  # "it ought to be"
        if not (sought and supposed and words[place : place + 1] == ["be"]):
            return None
        place += 1
        while "".join(words[place : place + 1]) in _VAGUELY:
            place += 1
        told = self._english.preposition_at(words, place) is not None
        return self._sentence(words, at, at + 1, heard, None) if told else None

    def _past_fronted_place(self, words: Sequence[str], at: int) -> int:
        """Return where "there is a cup" begins of "in the drawer there is a cup"; the word itself for others."""
        found = self._english.preposition_at(words, at)
        place = self._commands.phrase(words, at + found[1]) if found is not None else None
        return place.end if place is not None and words[place.end : place.end + 1] == ["there"] else at

    def named_between(self, words: Sequence[str], at: int, end: int) -> list[NounPhrase]:
        """Return the things that words [at, end) name, other than as places."""
        found: list[NounPhrase] = []
        while at < end:
            phrase = self._commands.phrase(words, at)
            named = phrase is not None and phrase.named
            before = self._english.preposition_at(words, at - 1) if at else None
            if phrase is not None and named and (before is None or before[0] in (WITH, OF)):
                found.append(phrase)
            at = phrase.end if phrase is not None and named else at + 1
        return found

    def _strange_between(self, words: Sequence[str], at: int, end: int) -> list[NounPhrase]:
        """Return the first thing of an unknown name in words [at, end): "I spilt some milk"."""
        for begin in range(at, end):
            determined = words[begin] in self._english.determiners
            phrase = self._commands.phrase(words, begin) if determined else None
            if phrase is not None and phrase.strange and not self._english.preposition_at(words, begin - 1):
                return [phrase]
        return []

    def _place_between(self, words: Sequence[str], at: int, end: int) -> list[NounPhrase]:
        """Return the only place in words [at, end) that name nothing else: "somebody is at the door"."""
        found = [self._english.preposition_at(words, begin) for begin in range(at, end)]
        places = [self._commands.phrase(words, at + n + one[1]) for n, one in enumerate(found) if one is not None]
        named = [place for place in places if place is not None and place.called is not None]
        return named if len(named) == 1 else []

    def _shown_between(self, words: Sequence[str], at: int, end: int) -> list[NounPhrase]:
        """Return all things that words [at, end) point at, unknown ones, too: "see the melon and the egg?"."""
        found: list[NounPhrase] = []
        while at < end:
            phrase = self._commands.phrase(words, at)
            strange = phrase is not None and phrase.strange and words[at] in self._english.determiners
            if phrase is not None and (phrase.named or strange):
                found.append(phrase)
                at = self._past_places(words, phrase.end)
            else:
                at += 1
        return found

    # --- sentences

    def _topic(self, words: Sequence[str], start: int, at: int) -> NounPhrase | None:
        """Return the thing that a sentence begins with; a person ("I", "they") is none."""
        nobody = words[at] in self._english.subjects or words[start : start + 1] == ["nothing"]
        return None if nobody else self._commands.phrase(words, start)

    def _tells_of_people(self, words: Sequence[str], at: int) -> bool:
        """Return whether a sentence tells what people do or wonder about, or points: "see the cup? Wash it"."""
        if words[at] == "see":
            return words[sentence_end(words, at) :][:1] == ["?"]
        if words[at] == "you":  # "you are wasting water", but "you are to ..." asks
            return "".join(words[at + 1 : at + 2]) in _TELLING and words[at + 2 : at + 3] != ["to"]
        people = phrase_at(self._english.persons, words, at)
        told_of = people > 0 and words[at + people : at + people + 1] != ["'s"]  # not "somebody's cup goes ..."
        return told_of or words[at] in self._english.subjects or words[at] in _WONDERING

    def _sentence(
        self,
        words: Sequence[str],
        at: int,
        verb: int,
        heard: Heard,
        topic: NounPhrase | None,
        second: NounPhrase | None = None,
    ) -> int:
        """Note a sentence that asks for nothing, and what it speaks of."""
        end = self._end(words, verb)
        if asks_for_deed(words[at:end], self._commands) and not {"not", "never", "no"} & set(words[at:end]):
            heard.unread += words[at:end]
            return end
        spoken_of = [one for one in (topic, second) if one is not None and not one.refers_back]
        if words[at] == "see":
            spoken_of += self._shown_between(words, verb, end)
        elif topic is None or not topic.named:
            spoken_of = self.named_between(words, verb, end) or spoken_of + self._strange_between(words, verb, end)
            spoken_of = spoken_of or self._place_between(words, verb, end)
        heard.parts.append(Remark(tuple(spoken_of)))
        heard.aside += words[at:end]
        if any(self._deed_follows(words, p) for p in range(at, end - 1)):
            self._deny_rest(words, at, end, heard)  # "you should not warm the egg and put it on the plate"
        return end

    def _deed_follows(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word leads to a deed, also one whose thing comes later: "you to open [and wash the mug]"."""
        asked = words[max(0, at - 1) : at + 1] == ["you", "to"] and bool(self._english.base_form(words[at + 1]))
        return asked or (words[at] in ("to", "not") and self._commands.begins(words, at + 1))

    def _past_places(self, words: Sequence[str], at: int) -> int:
        while (found := self._english.preposition_at(words, at)) is not None:
            place = self._commands.phrase(words, at + found[1])
            if place is None:
                break
            at = place.end
        return at

    def _end(self, words: Sequence[str], at: int) -> int:
        """Return where an aside ends: at punctuation, or at a command."""
        while at < len(words) and (
            words[at] not in ENDS | {",", "-", ":"} | self._english.enough or self._has_just(words, at)
        ):
            if words[at] == "and" and at + 1 < len(words) and self._asks_next(words, at + 1):
                break
            at += 1
        return at

    def _asks_next(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command or a wish begins: "I am late and [I need my keys]"."""
        return self._commands.begins(words, at) or bool(phrase_at(self._english.wishes, words, at))

    def _has_just(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word belongs to what has been done: "I have just had a shower"."""
        return words[at] == "just" and words[at - 1] in self._english.auxiliaries

    # --- reasons for haste

    def _says_something(self, words: Sequence[str], at: int) -> bool:
        """Return whether a thing, or a deed that is asked for, stands at a word."""
        named = self._lexicon.name_at(words, at) is not None
        return named or bool(self._english.base_form(words[at], participle=True))

    def _past_haste(self, words: Sequence[str], at: int) -> int:
        """Return where the reason for haste ends: "before one of us trips over it and breaks a leg"."""
        end = self._end(words, at)
        person = phrase_at(self._english.persons, words, at)
        while person and words[end : end + 1] == ["and"] and self._is_deed_of_a_person(words, end + 1):
            end = self._end(words, end + 1)
        return end

    def _is_deed_of_a_person(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word says what somebody does: "breaks", not "break"."""
        word = "".join(words[at : at + 1])
        return word.endswith("s") and bool(self._english.base_form(word.removesuffix("s")))


def sentence_end(words: Sequence[str], at: int) -> int:
    """Return where the sentence, or its part before a comma, ends that a word belongs to."""
    end = at + 1
    while end < len(words) and words[end] not in ENDS | {","}:
        end += 1
    return end
