"""Reads one plain command word by word: what to do, with what, from where, to where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_bounds import CommandBounds
from memory_node.planner.language.command_frames import framed
from memory_node.planner.language.english import FROM, INTO, NEAR, PUNCTUATION, English
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.noun_phrase_reader import NounPhraseReader
from memory_node.planner.language.spoken_command import LEFT_OPEN, Command, Place, placed
from memory_node.planner.language.verb_particles import SoFar, VerbParticles

# Prepositions that are no particles: a thing or a place follows.
_NEVER_LAST = frozenset({"to", "into", "onto", "from", "with", "at", "of", "for", "next", "beside"})
_ADDING = frozenset({"and", "or", "plus"})
_CARRYING = frozenset(["take", "carry", "move", "send", "get", "fetch", "return"])
_ONWARD = frozenset(["and", "then", ",", "from", "there"])
_NEGATIONS = (["but", "not"], ["instead", "of"])


# Words, the index of one of them, what was read before -> where what begins there ends; None where a rule says nothing.
_Rule = Callable[[Sequence[str], int, SoFar], "int | None"]


class CommandReader:
    """Reads one command at a time."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self.english = english
        self._lexicon = lexicon
        self._phrases = NounPhraseReader(lexicon, english)
        self._bounds = CommandBounds(lexicon, english, self._phrases)
        self._beginners = english.determiners | english.pronouns | english.every | frozenset(english.numbers)
        particles = self._particles = VerbParticles(lexicon, english, self._phrases, self.is_purpose)
        self._rules: tuple[_Rule, ...] = (
            self._skipped,
            self._excluded,
            self._gerund_purpose,
            particles.left_undone,
            self._means,
            self._added,
            particles.particle,
            particles.resulting_state,
            particles.goes_on,
            particles.treated,
            particles.put_in,
            self._there_or_here,
            self._purpose,
            self._place,
        )

    def phrase(self, words: Sequence[str], at: int) -> NounPhrase | None:
        """Return the noun phrase that begins at a word."""
        return self._phrases.read(words, at)

    def begins(self, words: Sequence[str], at: int) -> bool:
        """Return whether a command of its own begins at a word that follows a comma or "and"."""
        return self._bounds.begins(words, at)

    def stands_alone(self, words: Sequence[str], at: int) -> bool:
        """Return whether "on" or "off" stands at a word without anything that it could belong to."""
        return self._bounds.stands_alone(words, at)

    def read(self, words: Sequence[str], at: int, participle: bool = False) -> tuple[Command, int] | None:
        """Return the command whose verb stands at a word, and where it ends; None where no verb stands.

        participle: "washed" and "washing" count as verbs, too.
        """
        found = self.english.verb_at(words, at, participle)
        if found is None or self._is_named_there(words, at, found[1]):
            return None
        reading = SoFar(found[0])
        end = self._arguments(words, at + found[1], reading)
        return framed(reading.sense, reading.found, " ".join(words[at:end]), self.english), end

    def _is_named_there(self, words: Sequence[str], at: int, length: int) -> bool:
        """Return whether a name begins with a verb, of that length, and has its place or state behind it: "hand towel
        in the basket" hands nothing over, "light off" lights nothing."""
        name = self._lexicon.name_at(words, at)
        if name is not None and at + name[1] < len(words) and self.stands_alone(words, at + name[1]):
            return True
        return name is not None and name[1] > length and self.english.preposition_at(words, at + name[1]) is not None

    def _arguments(self, words: Sequence[str], at: int, reading: SoFar) -> int:
        """Take the words behind the verb; return where the command ends."""
        while at < len(words):
            back = self._where_it_was(words, at, reading)
            ends = self._bounds.ends(words, at, reading.found) or self._is_next_stop(words, at, reading)
            if back is None and (ends or self._is_next_deed(words, at, reading)):
                break
            at = back or self._by_rule(words, at, reading)
        return at

    def _is_next_stop(self, words: Sequence[str], at: int, reading: SoFar) -> bool:
        """Return whether the robot is to go on from there: "go to the bathroom [and then to the kitchen]"."""
        if reading.sense.kind is not GoalKind.GO or not (reading.found.targets or reading.found.places):
            return False
        stop = at
        while stop < len(words) and words[stop] in _ONWARD:
            stop += 1
        return stop > at and stop < len(words) and self.english.preposition_at(words, stop) is not None

    def _is_next_deed(self, words: Sequence[str], at: int, reading: SoFar) -> bool:
        """Return whether another thing is opened or closed next: "close the blinds, [open windows]"."""
        if reading.sense.kind not in (GoalKind.OPEN, GoalKind.CLOSE) or words[at] not in (",", "and"):
            return False
        begin = at + 1 + (words[at + 1 : at + 2] in (["and"], ["then"]))
        return bool(reading.found.targets) and words[begin : begin + 1] in (["open"], ["close"])

    def _by_rule(self, words: Sequence[str], at: int, reading: SoFar) -> int:
        """Take what begins at a word by the first rule that knows it; else it is a thing of its own."""
        ends = (rule(words, at, reading) for rule in self._rules)
        end = next((end for end in ends if end is not None), None)
        return self._thing(words, at, reading) if end is None else end

    # --- rules, in the order in which they are tried

    def _where_it_was(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take "where it was", but not "where I can reach it"."""
        english, found = self.english, reading.found
        if not found.targets or words[at] != "where" or not english.where_it_was & set(words[at + 1 : at + 2]):
            return None
        end = at
        while end < len(words) and words[end] in english.where_it_was:
            end += 1
        if "".join(words[end : end + 1]) in english.auxiliaries:
            return None
        found.back = True
        return end

    def _skipped(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Skip a filler, punctuation or an adverb."""
        word = words[at]
        filler = word in self.english.fillers and words[at : at + 2] != ["instead", "of"]
        targets = reading.found.targets
        filler &= not (
            word == "over" and targets and targets[-1].head in self.english.liquids
        )  # "water over the plant"
        draped = word == "over" and bool(targets) and reading.sense.word in self.english.draping
        above = word == "over" and (draped or any(place.sense == FROM for place in reading.found.places))
        filler &= not (above and "".join(words[at + 1 : at + 2]) in self.english.determiners)
        adverb = word.endswith("ly") and self._lexicon.name_at(words, at) is None
        return at + 1 if filler or adverb or word in PUNCTUATION else None

    def _excluded(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take what is not meant: "not the red one", "instead of the cup"."""
        found = reading.found
        if not found.targets or (words[at] != "not" and words[at : at + 2] not in _NEGATIONS):
            return None
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

    def _gerund_purpose(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take what a thing is for: "for boiling water"."""
        following = "".join(words[at + 1 : at + 2])
        if words[at] != "for" or not following.endswith("ing") or self._lexicon.name_at(words, at + 1) is not None:
            return None
        found = reading.found
        if found.targets and found.targets[-1].called is None:  # it tells what the thing is
            found.unread += words[at : at + 2]
        phrase = self._phrases.read(words, at + 2)
        return phrase.end if phrase is not None else at + 2

    def _means(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take "[turn on the light] by flipping the switch": the switch is what is switched."""
        means = words[at] == "by" and "".join(words[at + 1 : at + 2]).endswith("ing")
        if not means or reading.sense.kind not in (GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF):
            return None
        phrase = self._phrases.read(words, at + 2)
        if phrase is None or phrase.called is None:
            return None
        reading.found.targets = [phrase]
        return phrase.end

    def _added(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take "and ..." and "or ...": another place, or another thing."""
        if words[at] not in _ADDING:
            return None
        found = reading.found
        phrase = self._phrases.read(words, at + 1)
        if phrase is None or not (found.targets or found.places):
            placed = self.english.preposition_at(words, at + 1)
            if placed is None:  # "off the burner and onto the counter"
                found.unread.append(words[at])
            return at + 1
        if found.places and not found.places[-1].phrase.person:
            found.places.append(found.places[-1]._replace(phrase=phrase))
        else:
            found.alternatives |= words[at] == "or"
            found.targets.append(self._as_many(found.targets, phrase))
        return phrase.end

    def _as_many(self, before: Sequence[NounPhrase], phrase: NounPhrase) -> NounPhrase:
        """Return the second thing of "all the curtains and blinds": all of them, too."""
        several = phrase.count == 1 and (phrase.plural or self._lexicon.is_plural_name(phrase.text))
        shared = bool(before) and before[-1].every and several and not phrase.definite
        return replace(phrase, every=True) if shared else phrase

    def _there_or_here(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        word = words[at]
        if word not in ("there", "here"):
            return None
        reading.found.there, reading.found.here = word == "there", word == "here"
        return at + 1

    def _purpose(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Skip what a thing is for; it tells one that is not named: "something to drink from"."""
        if not self.is_purpose(words, at) or self._is_recipient(words, at, reading):
            return None
        found, end = reading.found, at
        while end < len(words) and words[end] not in PUNCTUATION | {"and", "then"}:
            end += 1
        if found.targets and found.targets[-1].described:
            text = " ".join((found.targets[-1].text, *words[at:end]))
            found.targets[-1] = replace(found.targets[-1], text=text)
        return end

    def is_purpose(self, words: Sequence[str], at: int) -> bool:
        """Return whether "to" stands before a deed, not before a place or a person."""
        if at + 1 >= len(words) or words[at] != "to" or words[at + 1] in PUNCTUATION:
            return False
        english, word = self.english, words[at + 1]
        if english.is_verb(word) and (english.determiners | {"it", "them"}) & set(words[at + 2 : at + 3]):
            return True  # "to cool it down", "to open the jar with"
        beginners = self._beginners | english.people | english.colours | english.sizes | set(english.states)
        if word in beginners | english.relative or english.preposition_at(words, at + 1):
            return False
        return not (self._lexicon.name_at(words, at + 1) or self._lexicon.room_at(words, at + 1))

    def _is_recipient(self, words: Sequence[str], at: int, reading: SoFar) -> bool:
        """Return whether an unknown word behind "to" is where a thing goes: "bring it to Anna"."""
        carried = reading.sense.to_user or reading.sense.word in _CARRYING
        if not carried or reading.found.places or self.english.base_form(words[at + 1]):
            return False
        return self._particles.is_last(words, at + 2) or self.english.preposition_at(words, at + 2) is not None

    def _place(self, words: Sequence[str], at: int, reading: SoFar) -> int | None:
        """Take a preposition and what stands behind it."""
        found = reading.found
        said = self.english.preposition_at(words, at)
        if said is None and words[at] == "out" and found.targets:
            said = FROM, 1
        if said is None:
            return None
        sense, start = said[0], at + said[1]
        if words[start : start + 1] == ["where"] and found.targets:
            return start  # "back to where it was"
        phrase = self._phrases.read(words, start)
        if phrase is None:
            ends = words[start : start + 1] in ([], ["."]) and words[at] in _NEVER_LAST
            found.unread += [*words[at:start], LEFT_OPEN] if ends else words[at:start]
            return start
        end, preposition = phrase.end, " ".join(words[at:start])
        paired = preposition.endswith("between") and words[end : end + 1] == ["and"]
        other = self._phrases.read(words, end + 1) if paired else None
        if other is not None:  # "between the vase and the statue"
            phrase, end = placed(phrase, NEAR, other), other.end
        found.places.append(Place(sense, preposition, phrase))
        return end

    def _thing(self, words: Sequence[str], at: int, reading: SoFar) -> int:
        """Take a thing or a person; a word that is neither is unread."""
        found = reading.found
        phrase = self._phrases.read(words, at)
        if phrase is None:
            found.unread.append(words[at])
            return at + 1
        if phrase.person:
            found.places.append(Place(INTO, "to", phrase))
        elif phrase.head in self.english.liquids and len(found.targets) == 1 and reading.sense.to_user:
            found.places.append(Place(INTO, "to", found.targets.pop()))  # "give the plant some water"
            found.targets.append(phrase)
        elif found.targets and words[at - 1] == "," and phrase.pronoun == "one" and phrase.definite:
            last = found.targets[-1]  # "my boots, the brown ones by the door"
            last = replace(last, attributes=(*last.attributes, *phrase.attributes))
            states, places = (*last.states, *phrase.states), (*last.places, *phrase.places)
            found.targets[-1] = replace(last, states=states, places=places)
        elif self._is_quantity(words, at, reading, phrase):
            last = found.targets[-1]
            excluded = (*last.excluded, *phrase.excluded)  # "the plates, all but the chipped one"
            found.targets[-1] = replace(last, count=phrase.count, every=phrase.count == 1, excluded=excluded)
        elif found.targets and words[at - 1] not in (",", "and", "or", "then"):
            found.unread += words[phrase.begin : phrase.end]
        else:
            found.targets.append(self._as_many(found.targets, phrase))
        return phrase.end

    def _is_quantity(self, words: Sequence[str], at: int, reading: SoFar, phrase: NounPhrase) -> bool:
        """Return whether words tell how many of the last thing are meant: "cut the potatoes, all three"."""
        told = words[at - 1] == "," and words[at] in ("all", "both") and phrase.pronoun == "them"
        return told and bool(reading.found.targets)
