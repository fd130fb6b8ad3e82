"""Reads one plain command word by word: what to do, with what, from where, to where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.planner.language.command_frames import Arguments, Command, framed
from memory_node.planner.language.english import ENDS, FROM, INTO, NEAR, PUNCTUATION, English, VerbSense
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.noun_phrase_reader import NounPhraseReader

_ADDING = frozenset({"and", "or", "plus"})


@dataclass
class _Reading:
    """The words behind a verb as they are read; see Arguments."""

    sense: VerbSense
    found: Arguments = field(default_factory=Arguments)


class CommandReader:
    """Reads one command at a time."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self.english = english
        self._lexicon = lexicon
        self._phrases = NounPhraseReader(lexicon, english)
        self._beginners = english.determiners | english.pronouns | english.every | frozenset(english.numbers)

    def phrase(self, words: Sequence[str], at: int) -> NounPhrase | None:
        """Return the noun phrase that begins at a word."""
        return self._phrases.read(words, at)

    def begins(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command of its own begins at a word that follows a comma or "and"."""
        found = self.english.verb_at(words, at)
        if found is None:
            return False
        if words[at] not in self.english.doubtful and self._lexicon.name_at(words, at) is None:
            return True
        behind = at + found[1]
        if behind >= len(words):
            return at == 0
        beginners = self._beginners | self.english.people
        return words[behind] in beginners or self.english.preposition_at(words, behind) is not None

    def read(self, words: Sequence[str], at: int, participle: bool = False) -> tuple[Command, int] | None:
        """Return the command whose verb stands at a word, and where it ends; None where no verb stands.

        participle: "washed" and "washing" count as verbs, too.
        """
        found = self.english.verb_at(words, at, participle)
        if found is None:
            return None
        reading = _Reading(found[0])
        end = self._arguments(words, at + found[1], reading)
        return framed(reading.sense, reading.found, " ".join(words[at:end]), self.english), end

    def _arguments(self, words: Sequence[str], at: int, reading: _Reading) -> int:
        """Take the words behind the verb; return where the command ends."""
        found = reading.found
        while at < len(words):
            word = words[at]
            if (
                found.targets
                and word == "where"
                and words[at + 1 : at + 2]
                and words[at + 1] in self.english.where_it_was
            ):
                at = _past(words, at, self.english.where_it_was)
                found.back = True
            elif word in ENDS or self._ends_here(words, at, found):
                break
            elif self._is_skipped(words, at):
                at += 1
            elif found.targets and (word == "not" or words[at : at + 2] in (["but", "not"], ["instead", "of"])):
                at = self._excluded(words, at, found)
            elif self._is_gerund_purpose(words, at):
                at = self._past_purpose(words, at, found)
            elif word in _ADDING:
                at = self._added(words, at, found)
            elif word in self.english.particles - {"in"} and self._is_particle(words, at, reading):
                found.particle, at = word, at + 1
            elif found.targets and word in self.english.states and self.english.with_particle(reading.sense.word, word):
                found.particle, at = word, at + 1  # "pull the curtains shut"
            elif found.targets and word in ("on", "in") and self._treated(words, at) is not None:
                reading.sense, at = self._treated(words, at) or reading.sense, at + 3  # "put the potato on to boil"
            elif word == "in" and found.targets and self._is_last(words, at + 1):
                found.there, at = True, at + 1  # "open the drawer, put the spoon in"
            elif word in ("there", "here"):
                found.there, found.here, at = word == "there", word == "here", at + 1
            elif self._is_purpose(words, at):
                at = self._for_a_purpose(words, at, found)
            else:
                at = self._phrase_or_place(words, at, found)
        return at

    def _is_skipped(self, words: Sequence[str], at: int) -> bool:
        filler = words[at] in self.english.fillers and words[at : at + 2] != ["instead", "of"]
        return filler or words[at] in PUNCTUATION or self._is_adverb(words, at)

    def _is_adverb(self, words: Sequence[str], at: int) -> bool:
        return words[at].endswith("ly") and self._lexicon.name_at(words, at) is None

    def _ends_here(self, words: Sequence[str], at: int, found: Arguments) -> bool:
        """Return whether another command, a remark, or a clause about when or why begins here."""
        word = words[at]
        if word in self.english.clauses:
            return words[at : at + 2] != ["but", "not"] and self.english.preposition_at(words, at) is None
        if word == "is" and bool(found.targets):
            return True
        if word not in ("and", "then", ",", "-", ":"):
            return False
        after = _past(words, at + 1, self.english.fillers | {"and", "then", ",", "-"})
        if (
            after >= len(words)
            or words[after] in self.english.new_parts | self.english.clauses - {"but"}
            or self.begins(words, after)
        ):
            return True
        if (
            word == ","
            and (found.places or (found.targets and self._is_address(words, after)))
            and self._phrases.read(words, after) is not None
            and words[after - 1] == ","
        ):
            return True  # "..., nurse's orders"
        return self._is_remark(words, after) or (bool(found.places) and self._is_gapped(words, after))

    def _is_address(self, words: Sequence[str], at: int) -> bool:
        """Return whether words behind the last comma name nothing: "grab a cloth, somebody"."""
        phrase = self._phrases.read(words, at)
        if phrase is None or phrase.named or phrase.refers_back or phrase.described:
            return False
        return phrase.end >= len(words) or words[phrase.end] in ENDS

    def _is_remark(self, words: Sequence[str], at: int) -> bool:
        """Return whether "it is hot" begins here."""
        phrase = self._phrases.read(words, at)
        return phrase is not None and phrase.end < len(words) and words[phrase.end] in self.english.auxiliaries

    def _is_gapped(self, words: Sequence[str], at: int) -> bool:
        """Return whether a thing with a place of its own begins: "the fork in the bowl and [the bowl in the sink]"."""
        phrase = self._phrases.read(words, at)
        placed = self.english.preposition_at(words, phrase.end) if phrase is not None else None
        return placed is not None and placed[0] in (INTO, NEAR)

    def _excluded(self, words: Sequence[str], at: int, found: Arguments) -> int:
        start = at + (1 if words[at] == "not" else 2)
        placed = self.english.preposition_at(words, start)
        phrase = self._phrases.read(words, start + (placed[1] if placed is not None else 0))
        if placed is not None and phrase is not None:  # "not on the counter"
            return phrase.end
        if phrase is None:
            found.unread.append(words[at])
            return start
        found.targets[-1] = replace(found.targets[-1], excluded=(*found.targets[-1].excluded, phrase))
        return phrase.end

    def _added(self, words: Sequence[str], at: int, found: Arguments) -> int:
        phrase = self._phrases.read(words, at + 1)
        if phrase is None or not (found.targets or found.places):
            placed = self.english.preposition_at(words, at + 1)
            if placed is None:  # "off the burner and onto the counter"
                found.unread.append(words[at])
            return at + 1
        if found.places and not found.places[-1][2].person:
            sense, preposition, _ = found.places[-1]
            found.places.append((sense, preposition, phrase))
        else:
            found.alternatives |= words[at] == "or"
            found.targets.append(phrase)
        return phrase.end

    def _is_particle(self, words: Sequence[str], at: int, reading: _Reading) -> bool:
        """Return whether a word belongs to the verb: "turn the lamp on", "pick it up off the floor"."""
        found = reading.found
        for_somebody = words[at] == "up" and bool(found.places) and found.places[-1][2].person  # "warm me up an apple"
        if not (found.targets or for_somebody) or found.particle:
            return False
        if words[at] == "out" and words[at + 1 : at + 2] and words[at + 1] in self.english.determiners:
            return False  # "out the microwave"
        placed = self.english.preposition_at(words, at)
        if placed is not None and words[at] == "back":
            return False
        length = placed[1] if placed is not None else 0
        begins_place = length > 0 and self._phrases.read(words, at + length) is not None
        if begins_place and (words[at] not in ("up", "down", "out", "away") or length > 1):
            return False
        return self.english.with_particle(reading.sense.word, words[at]) is not None or words[at] not in ("on", "off")

    def _treated(self, words: Sequence[str], at: int) -> VerbSense | None:
        """Return what is to be done with a thing that is put "on to boil" or "in to warm"."""
        found = self.english.verb_at(words, at + 2) if words[at + 1 : at + 2] == ["to"] else None
        return found[0] if found is not None and found[1] == 1 and self._is_last(words, at + 3) else None

    def _is_last(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command ends before a word."""
        return at >= len(words) or words[at] in PUNCTUATION | {"and", "then"} | self.english.fillers

    def _is_gerund_purpose(self, words: Sequence[str], at: int) -> bool:
        """Return whether words say what a thing is for: "for boiling water"."""
        following = "".join(words[at + 1 : at + 2])
        return words[at] == "for" and following.endswith("ing") and self._lexicon.name_at(words, at + 1) is None

    def _past_purpose(self, words: Sequence[str], at: int, found: Arguments) -> int:
        if found.targets and found.targets[-1].called is None:  # it tells what the thing is
            found.unread += words[at : at + 2]
        phrase = self._phrases.read(words, at + 2)
        return phrase.end if phrase is not None else at + 2

    def _is_purpose(self, words: Sequence[str], at: int) -> bool:
        """Return whether words say what it is for: "to write this down", "for cooking", "so we can see it"."""
        if words[at] != "to" or at + 1 >= len(words):
            return False
        word = words[at + 1]
        known = word in self._beginners | self.english.people | self.english.colours | self.english.sizes | set(
            self.english.states
        ) or self.english.preposition_at(words, at + 1)
        named = self._lexicon.name_at(words, at + 1) or self._lexicon.room_at(words, at + 1)
        return not known and not named

    def _for_a_purpose(self, words: Sequence[str], at: int, found: Arguments) -> int:
        """Skip what a thing is for; it tells one that is not named: "something to drink from"."""
        end = _past_clause(words, at)
        if found.targets and found.targets[-1].described:
            text = " ".join((found.targets[-1].text, *words[at:end]))
            found.targets[-1] = replace(found.targets[-1], text=text)
        return end

    def _phrase_or_place(self, words: Sequence[str], at: int, found: Arguments) -> int:
        placed = self.english.preposition_at(words, at)
        if placed is not None and words[at + placed[1] : at + placed[1] + 1] == ["where"] and found.targets:
            return at + placed[1]  # "back to where it was"
        if placed is None and words[at] == "out" and found.targets:
            placed = FROM, 1
        if placed is not None:
            phrase = self._phrases.read(words, at + placed[1])
            if phrase is None:
                found.unread += words[at : at + placed[1]]
                return at + placed[1]
            found.places.append((placed[0], " ".join(words[at : at + placed[1]]), phrase))
            return phrase.end
        phrase = self._phrases.read(words, at)
        if phrase is None:
            found.unread.append(words[at])
            return at + 1
        if phrase.person:
            found.places.append((INTO, "to", phrase))
        elif found.targets and words[at - 1] not in (",", "and", "or"):
            found.unread += words[phrase.begin : phrase.end]
        else:
            found.targets.append(phrase)
        return phrase.end


def _past(words: Sequence[str], at: int, skipped: frozenset[str] | set[str]) -> int:
    while at < len(words) and words[at] in skipped:
        at += 1
    return at


def _past_clause(words: Sequence[str], at: int) -> int:
    while at < len(words) and words[at] not in PUNCTUATION | {"and", "then"}:
        at += 1
    return at
