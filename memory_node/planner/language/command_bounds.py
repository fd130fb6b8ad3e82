"""Where a command begins and where it ends: at another command, a remark, or a clause about when or why."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.planner.language.english import ENDS, INTO, NEAR, English, phrase_at
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase_reader import NounPhraseReader
from memory_node.planner.language.spoken_command import Arguments

_JOINTS = frozenset(["and", "then", ",", "-", ":"])


class CommandBounds:
    """Tells the commands of an instruction apart."""

    def __init__(self, lexicon: Lexicon, english: English, phrases: NounPhraseReader) -> None:
        self._lexicon = lexicon
        self._english = english
        self._phrases = phrases
        beginners = english.determiners | english.pronouns | english.every | english.people
        self._beginners = beginners | frozenset(english.numbers)

    def begins(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command of its own begins at a word that follows a comma or "and"."""
        found = self._english.verb_at(words, at)
        if found is None:
            return False
        if words[at] not in self._english.doubtful and self._lexicon.name_at(words, at) is None:
            return True
        behind = at + found[1]
        if behind >= len(words):
            return at == 0
        return words[behind] in self._beginners or self._english.preposition_at(words, behind) is not None

    def stands_alone(self, words: Sequence[str], at: int) -> bool:
        """Return whether "on" or "off" stands at a word and belongs to nothing behind it: "... and off again"."""
        if words[at] not in ("on", "off"):
            return False
        return at + 1 >= len(words) or words[at + 1] in _JOINTS | ENDS | self._english.fillers | self._english.clauses

    def ends(self, words: Sequence[str], at: int, found: Arguments) -> bool:
        """Return whether a command ends before a word. found: what stands between its verb and the word."""
        word = words[at]
        if word in ENDS:
            return True
        if word in self._english.clauses:
            return words[at : at + 2] != ["but", "not"] and self._english.preposition_at(words, at) is None
        if found.targets and (word == "is" or self._runs_on(words, at)):
            return True
        if word not in _JOINTS:
            return False
        after = at + 1
        while after < len(words) and self._joins(words, after):
            after += 1
        return self._begins_part(words, after) or self._is_afterthought(words, after, found, word)

    def _joins(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word only leads over to what follows: "and then, please"; "you are ..." begins a remark."""
        tells = words[at] == "you" and "".join(words[at + 1 : at + 2]) in self._english.auxiliaries
        leads = words[at] == "there" and self.begins(words, at + 1)  # "go to the door and there wait"
        return not tells and (leads or words[at] in self._english.fillers | {"and", "then", ",", "-"})

    def _runs_on(self, words: Sequence[str], at: int) -> bool:
        """Return whether a remark follows without a comma: "wipe the hob it is greasy", "... its greasy"."""
        if words[at] == "its":
            phrase = self._phrases.read(words, at)
            return phrase is not None and not phrase.named and phrase.head not in self._english.its_place
        return words[at] in ("it", "they") and "".join(words[at + 1 : at + 2]) in self._english.auxiliaries

    def _begins_part(self, words: Sequence[str], at: int) -> bool:
        """Return whether another part of the instruction begins at a word, or none."""
        if at >= len(words) or words[at] in self._english.new_parts | self._english.clauses - {"but"}:
            return True
        people = phrase_at(self._english.persons, words, at)
        if people and "".join(words[at + people : at + people + 1]).isalpha() and words[at + people] != "and":
            return True  # "..., somebody left it on"
        deed = self._lexicon.name_at(words, at)
        if deed is not None and "".join(words[at + deed[1] : at + deed[1] + 1]) in ("it", "them", "one"):
            return True  # "[cut the bread] and butter it": no name of a thing
        return self.begins(words, at) or self.stands_alone(words, at) or self._asks(words, at)

    def _asks(self, words: Sequence[str], at: int) -> bool:
        """Return whether a question begins at a word: "[open the fridge] and see if there is any butter"."""
        english = self._english
        behind = at + phrase_at(english.inquiring, words, at)
        asked = phrase_at((*english.whether, *english.where), words, behind)
        return behind > at and bool(asked or words[behind : behind + 1] in (["what"], ["which"]))

    def _is_afterthought(self, words: Sequence[str], at: int, found: Arguments, joint: str) -> bool:
        """Return whether what begins at a word is no further thing of the command. joint: the word that joins it."""
        nearer = self._english.preposition_at(words, at)
        if nearer is not None and nearer[0] == NEAR and found.places:
            return False  # "on the shelf, next to the vase"
        set_off = joint == "," and words[at - 1] == "," and self._phrases.read(words, at) is not None
        placed = any(not place.phrase.person for place in found.places)  # "bring me a fork, two knives and a spoon"
        if set_off and (placed or (found.targets and self._is_address(words, at))):
            return True  # "..., nurse's orders"
        switched = found.particle in ("on", "off") and self._is_switched(words, at)
        return switched or self._is_remark(words, at) or (bool(found.places) and self._is_gapped(words, at))

    def _is_switched(self, words: Sequence[str], at: int) -> bool:
        """Return whether a thing with a switch of its own begins: "turn the lamp off and [the other one on]"."""
        phrase = self._phrases.read(words, at)
        return phrase is not None and phrase.end < len(words) and self.stands_alone(words, phrase.end)

    def _is_address(self, words: Sequence[str], at: int) -> bool:
        """Return whether words behind the last comma name nothing: "grab a cloth, somebody"."""
        phrase = self._phrases.read(words, at)
        if phrase is None or phrase.named or phrase.refers_back or phrase.described:
            return False
        return phrase.end >= len(words) or words[phrase.end] in ENDS

    def _is_remark(self, words: Sequence[str], at: int) -> bool:
        """Return whether "it is hot" begins here."""
        phrase = self._phrases.read(words, at)
        tells = self._english.auxiliaries | self._english.saying | self._english.often | {"ought"}
        if phrase is None or phrase.end >= len(words):
            return False
        does = phrase.peculiar and phrase.definite and words[phrase.end] in self._english.people
        return does or words[phrase.end] in tells  # "the sun blinds me", "the sun is too bright"

    def _is_gapped(self, words: Sequence[str], at: int) -> bool:
        """Return whether a thing with a place of its own begins: "the fork in the bowl and [the bowl in the sink]"."""
        phrase = self._phrases.read(words, at)
        placed = self._english.preposition_at(words, phrase.end) if phrase is not None else None
        if phrase is not None and words[phrase.end : phrase.end + 1] == ["to"] and self.begins(words, phrase.end + 1):
            return False  # "a cushion to put it on"
        return placed is not None and placed[0] in (INTO, NEAR)
