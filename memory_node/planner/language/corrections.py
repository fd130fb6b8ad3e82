"""Leaves out what a speaker takes back in the middle: "the mug, no, the cup", "in the sink, I mean on the shelf"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.planner.language.asides import sentence_end
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import ENDS, PUNCTUATION, phrase_at
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase

_HESITATION = PUNCTUATION | {"oh", "hm", "hmm", "er", "erm", "um", "uh", "well", "wait", "no"}
_STATED = frozenset(["goes", "go", "belongs", "belong"])
_WAITING = (("hold", "on"), ("hang", "on"), ("but",))


class Corrections:
    """Replaces what was said wrongly by the like that follows the correction."""

    def __init__(self, commands: CommandReader, lexicon: Lexicon) -> None:
        self._commands = commands
        self._lexicon = lexicon
        self._english = commands.english

    def applied(self, words: Sequence[str]) -> tuple[list[str], bool]:
        """Return the words with what was taken back left out, and whether anything is taken back, understood or not."""
        if self._is_called_off(words):
            return ["stop"], True
        left, taken_back = self._without_denied(words), False
        at = 1
        while at < len(left):
            end = self._marker_end(left, at)
            mended = self._mended(left, at, end) if end else None
            if mended is not None:
                left, at = mended
                taken_back = True
            else:
                taken_back |= 0 < end < len(left)
                at += 1
        return left, taken_back

    def _is_called_off(self, words: Sequence[str]) -> bool:
        """Return whether the last words, or all, take it back: "turn on the TV. Oh wait, don't", "never mind"."""
        end = len(words)
        while end and words[end - 1] in PUNCTUATION | self._english.fillers - {"mind"}:
            end -= 1
        if end and phrase_at(self._english.calling_off, words, 0) == end:
            return True
        for at in range(1, end):
            if words[at - 1] not in PUNCTUATION | {"or"}:
                continue
            begin = self._past_hesitation(words, at, end)
            if begin < end and begin + phrase_at(self._english.calling_off, words, begin) == end:
                return words[begin:end] != ["stop"] or begin > at or words[at - 1] in ENDS
        return False

    def _past_hesitation(self, words: Sequence[str], at: int, end: int) -> int:
        """Return where the words behind "oh wait, actually" begin."""
        while at < end:
            marked = words[at] in _HESITATION | self._english.fillers - {"mind"}
            skipped = phrase_at(self._english.corrections, words, at) or phrase_at(_WAITING, words, at) or int(marked)
            if not skipped:
                break
            at += skipped
        return at

    def _without_denied(self, words: Sequence[str]) -> list[str]:
        """Return "the pan goes ..." for "not the plate but the pan goes ...", "the red mug" for "not the blue mug, the
        red one"."""
        left = list(words)
        for at in range(len(left) - 1, -1, -1):
            denied = self._commands.phrase(left, at + 1) if left[at] == "not" else None
            if denied is None or not denied.named:
                continue
            if self._is_refused_again(left, at, denied):
                left = [*left[:at], *left[denied.end + 1 :]]
                continue
            opens = self._opens(left, at)
            left = self._without_wrong(left, at, denied) if opens else self._with_meant(left, at, denied)
        return left

    def _is_refused_again(self, words: Sequence[str], at: int, denied: NounPhrase) -> bool:
        """Return whether a correction only names what it corrects: "bring the apple, no, [not the apple,] the pear"."""
        said = [index for index in range(at) if words[index] not in PUNCTUATION]
        corrects = len(said) > 1 and words[said[-1]] == "no"
        meant = self._commands.phrase(words, denied.end + 1) if corrects and denied.end + 1 < len(words) else None
        return words[denied.end : denied.end + 1] == [","] and meant is not None and meant.named

    def _without_wrong(self, words: list[str], at: int, denied: NounPhrase) -> list[str]:
        """Return "put the plate ..." for "not the bowl, put the plate ..."; see _without_denied."""
        joint, meant = "".join(words[denied.end : denied.end + 1]), self._commands.phrase(words, denied.end + 1)
        if joint == "," and self._commands.begins(words, denied.end + 1):
            return [*words[:at], *words[denied.end + 1 :]]
        if meant is None:
            return words
        if (joint == "but" and (meant.named or meant.pronoun == "one")) or self._is_stated(words, joint, meant):
            return [*words[:at], *words[meant.begin :]]
        if joint == "," and meant.named and words[meant.end : meant.end + 1] == ["."]:  # "..., the glass. Put it ..."
            return [*words[:at], *words[meant.begin : meant.end], ",", *words[meant.end + 1 :]]
        if joint == "," and meant.pronoun == "one" and words[meant.end - 1] == "one" and meant.attributes:
            return [*words[:at], *words[meant.begin : meant.end - 1], denied.head, *words[meant.end :]]
        return words

    def _is_stated(self, words: Sequence[str], joint: str, meant: NounPhrase) -> bool:
        """Return whether it is said what is to be with the right thing: "not the fork, the spoon goes ..."."""
        following = frozenset(words[meant.end : meant.end + 1])
        return joint == "," and meant.named and bool(following & (_STATED | self._english.auxiliaries))

    def _with_meant(self, words: list[str], at: int, denied: NounPhrase) -> list[str]:
        """Return "turn off the floor lamp" for "turn off the lamp, not the desk lamp, the floor lamp"."""
        wrong = self._last_phrase(words, at - 1) if words[at - 1] == "," else None
        meant = self._commands.phrase(words, denied.end + 1) if words[denied.end : denied.end + 1] == [","] else None
        ends = meant is not None and (meant.end >= len(words) or words[meant.end] in ENDS)
        if wrong is None or meant is None or not (ends and meant.named):
            return words
        return [*words[: wrong[0]], *words[meant.begin :]]

    def _opens(self, words: Sequence[str], at: int) -> bool:
        """Return whether a sentence begins at a word."""
        return all(word in PUNCTUATION | self._english.fillers for word in words[_sentence_begin(words, at) : at])

    def _marker_end(self, words: Sequence[str], at: int) -> int:
        """Return where the marker ends that begins at a word; 0 where none does. Behind a word without a punctuation
        mark only a marker counts that can mean nothing else: people who dictate give no marks."""
        if words[at] in PUNCTUATION:
            return 0
        marked = words[at - 1] in PUNCTUATION
        said = [index for index in range(at, len(words)) if words[index] not in PUNCTUATION]
        for marker in self._english.corrections:
            stands = tuple(words[index] for index in said[: len(marker)]) == marker and len(said) >= len(marker)
            if stands and (marked or self._is_clear(marker, words, said[len(marker) - 1] + 1)):
                return said[len(marker) - 1] + 1
        return 0

    def _is_clear(self, marker: Sequence[str], words: Sequence[str], end: int) -> bool:
        """Return whether a marker can mean nothing else: "no wait"; "a bowl no two bowls", but not "no bowls"."""
        following = words[end] if end < len(words) else "."
        if len(marker) > 1:
            return marker[0] != "make" and following not in PUNCTUATION
        again = following in self._english.definite or (following in self._english.numbers and following != "one")
        return tuple(marker) == ("no",) and again

    def _mended(self, words: list[str], begin: int, end: int) -> tuple[list[str], int] | None:
        """Return the words with what stands behind the marker in place of the like before it; None without a like."""
        while begin > 0 and words[begin - 1] in _HESITATION:
            begin -= 1
        while end < len(words) and words[end] in _HESITATION | self._english.fillers:
            end += 1
        if begin == 0 or end >= len(words):
            return None
        if words[end] in self._english.numbers and words[end + 1 : end + 2] in ([], ["."]):
            return self._with_number(words, begin, end)
        if self._english.preposition_at(words, end) is not None:
            wrong = self._last_place(words, begin)
            return None if wrong is None else (words[:wrong] + words[end:], wrong + 1)
        if self._commands.begins(words, end) or words[end] in ("do", "just", "can", "could"):
            return self._without_left(words, begin, end) or self._with_command(words, begin, end)
        return self._with_thing(words, begin, end)

    def _with_command(self, words: list[str], begin: int, end: int) -> tuple[list[str], int]:
        """Return the words with the command behind the marker in place of the one before it."""
        wrong, end = _sentence_begin(words, begin), self._past_letting_be(words, end)
        topic = self._last_phrase(words, begin)  # "heat the bread, or rather, put it in the fridge"
        if topic is not None and topic[0] == wrong:
            topic = None  # "open, no, close the dishwasher"
        if {"it", "them"} & set(words[end : end + 3]):
            topic = self._last_carried(words, topic, wrong) or topic
        kept = [*words[topic[0] : topic[1]], ","] if topic is not None else []
        return words[:wrong] + kept + words[end:], wrong + len(kept) + 1

    def _past_letting_be(self, words: Sequence[str], at: int) -> int:
        """Return where the next command begins behind "leave that on, ..."; the word itself where none does."""
        clause = next((n for n in range(at, len(words)) if words[n] in PUNCTUATION), len(words))
        left = words[at] == "leave" and words[clause - 1] in ("on", "off", "open", "closed", "alone")
        return clause + 1 if left and clause + 1 < len(words) and self._commands.begins(words, clause + 1) else at

    def _with_thing(self, words: list[str], begin: int, end: int) -> tuple[list[str], int] | None:
        """Return the words with the thing behind the marker in place of the last one, or of its like."""
        right = self._commands.phrase(words, end)
        if right is None or right.person:
            return None
        alone = bool(ENDS & set(words[begin:end]))
        said = self._without_person(words, begin)
        like = self._last_like(words, said, right)
        wrong = self._commands.phrase(words, like[0]) if like is not None else None
        meant = alone or not self._holds(right) or self._holds(wrong)  # "put the cup in the sink, no, the mug"
        place = (like if meant else None) or self._last_phrase(words, said)
        if place is None:
            return None
        first, last = place
        return words[:first] + words[right.begin : right.end] + words[last:begin] + words[right.end :], first + 1

    def _without_person(self, words: Sequence[str], before: int) -> int:
        """Return where "to me" begins if it stands right before a word, else the place of that word."""
        last = self._commands.phrase(words[:before], before - 1)
        placed = self._english.preposition_at(words, before - 2) if before > 1 else None
        return before - 2 if last is not None and last.person and placed is not None else before

    def _with_number(self, words: list[str], begin: int, end: int) -> tuple[list[str], int] | None:
        """Return "put five plates in the sink" for "put three plates in the sink, no, make that five"."""
        counted = [at for at in range(begin) if words[at] in self._english.numbers]
        if len(counted) != 1:
            return None
        (at,) = counted
        return [*words[:at], words[end], *words[at + 1 : begin], *words[end + 1 :]], at + 1

    def _without_left(self, words: list[str], begin: int, end: int) -> tuple[list[str], int] | None:
        """Return "turn off the TV" for "turn off the TV and the lamp, no, leave the lamp on"."""
        last = self._last_phrase(words, begin) if words[end] == "leave" else None
        if last is None or words[last[0] - 1] != "and":
            return None
        said, left = (self._commands.phrase(words, at) for at in (last[0], end + 1))
        if not self._classes(said) & self._classes(left):
            return None
        return words[: last[0] - 1] + words[sentence_end(words, end) :], last[0] - 1

    def _classes(self, phrase: NounPhrase | None) -> frozenset[str]:
        return frozenset(phrase.called.all) if phrase is not None and phrase.called is not None else frozenset()

    def _last_carried(self, words: Sequence[str], last: tuple[int, int] | None, begin: int) -> tuple[int, int] | None:
        """Return the last thing from a word on that can be carried, where what stands last cannot: it is what "it"
        means in "put the egg in the fridge, no, boil it"."""
        if last is None or self._is_carried(self._commands.phrase(words, last[0])):
            return None
        phrases = (self._commands.phrase(words, at) for at in range(last[0] - 1, begin, -1))
        carried = (one for one in phrases if one is not None and self._is_carried(one) and one.definite)
        return next(((one.begin, one.end) for one in carried), None)

    def _last_like(self, words: Sequence[str], before: int, right: NounPhrase) -> tuple[int, int] | None:
        """Return the thing that a correction in a sentence of its own means, if it can be carried and what stands last
        cannot: "put the cup in the fridge. I meant the bowl"."""
        last = self._last_phrase(words, before)
        if last is None or not self._is_carried(right) or self._is_carried(self._commands.phrase(words, last[0])):
            return None
        for at in range(last[0] - 1, _sentence_begin(words, before) - 1, -1):
            phrase = self._commands.phrase(words, at)
            determined = words[at] in self._english.determiners
            if phrase is not None and determined and self._is_carried(phrase) and phrase.end <= last[0]:
                return phrase.begin, phrase.end
        return None

    def _holds(self, phrase: NounPhrase | None) -> bool:
        """Return whether things may be put into what a phrase means."""
        return phrase is not None and (phrase.called is None or self._lexicon.is_holder(phrase.called))

    def _is_carried(self, phrase: NounPhrase | None) -> bool:
        return phrase is not None and phrase.called is not None and self._lexicon.is_carried(phrase.called)

    def _last_place(self, words: Sequence[str], before: int) -> int | None:
        """Return where the last place before a word begins."""
        for at in range(before - 1, 0, -1):
            if words[at] != "of" and self._english.preposition_at(words, at) is not None:
                longer = self._english.preposition_at(words, at - 1)
                return at - 1 if longer is not None and longer[1] > 1 else at
        return None

    def _last_phrase(self, words: Sequence[str], before: int) -> tuple[int, int] | None:
        """Return [begin, end) of the noun phrase that ends right before a word."""
        best: tuple[int, int] | None = None
        for at in range(before - 1, -1, -1):
            phrase = self._commands.phrase(words[:before], at)
            if phrase is None or phrase.person or phrase.end != before:
                if best is not None:
                    break
            elif (phrase.named or phrase.refers_back or phrase.head) and not self._commands.begins(words, at):
                best = (phrase.begin, phrase.end)
        return best


def _sentence_begin(words: Sequence[str], before: int) -> int:
    for at in range(before - 1, 0, -1):
        if words[at - 1] in ENDS or words[at - 1] == "then":
            return at
    return 0
