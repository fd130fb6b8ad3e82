"""Reads what is wished of a thing: "I'd like the apple washed", "the lamp should be off", "the mug goes there"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.english import FOR, FROM, INTO, NEAR, PUNCTUATION, phrase_at
from memory_node.planner.language.lexicon import Lexicon
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command

_K = GoalKind
Read = tuple[Command, int]

STATES = {
    "clean": _K.CLEAN,
    "wet": _K.CLEAN,
    "hot": _K.HEAT,
    "warm": _K.HEAT,
    "cold": _K.COOL,
    "cool": _K.COOL,
    "empty": _K.EMPTY,
    "full": _K.FILL,
    "open": _K.OPEN,
    "opened": _K.OPEN,
    "closed": _K.CLOSE,
    "shut": _K.CLOSE,
    "on": _K.SWITCH_ON,
    "off": _K.SWITCH_OFF,
    "out": _K.SWITCH_OFF,
    "going": _K.SWITCH_ON,
    "running": _K.SWITCH_ON,
}
_BECOMING = frozenset(["get", "be", "become", "nice", "and"])
_REQUESTING = frozenset(["can", "could", "would", "will", "may", "might"])
_SHUT = (["open"], ["closed"], ["shut"])
_OF_STATE = {
    ObjectState.CLEANED: _K.CLEAN,
    ObjectState.HEATED: _K.HEAT,
    ObjectState.COLD: _K.COOL,
    ObjectState.SLICED: _K.SLICE,
}


class WantedStates:
    """Reads wishes as the commands that fulfil them."""

    def __init__(self, commands: CommandReader, lexicon: Lexicon) -> None:
        self._commands = commands
        self._lexicon = lexicon
        self._english = commands.english

    def wish(self, words: Sequence[str], at: int) -> Read | None:
        """Read "I would like the apple in the fridge", "can I have a fork"."""
        start = at + phrase_at(self._english.wishes, words, at)
        if start > at and words[start : start + 1] == ["you"]:
            return self._called(words, start)
        phrase = self._wished(words, start) if start > at else None
        if phrase is None:
            return None
        if phrase.described and self._commands.is_purpose(words, phrase.end):
            return self.as_command(words, "bring", phrase, phrase.end)  # "something to cut the apple with"
        if self._is_told_apart(words, phrase):
            return self._brought(words, phrase)
        wished = words[at + 1] in ("want", "would")
        if wished and phrase.places and not self._english.relative & set(words[phrase.begin : phrase.end]):
            return self._standing(words, at, phrase)
        return self._wanted(words, phrase, phrase.end) or self._made(words, phrase) or self._brought(words, phrase)

    def _wished(self, words: Sequence[str], at: int) -> NounPhrase | None:
        """Return the thing that is wished for; a deed ("to wash") and a statement ("that you wash") are none."""
        phrase = self._commands.phrase(words, at)
        stated = words[at : at + 1] == ["to"] or "".join(words[at + 1 : at + 2]) in self._english.subjects
        return None if phrase is None or phrase.person or stated else phrase

    def _is_told_apart(self, words: Sequence[str], phrase: NounPhrase) -> bool:
        """Return whether the places behind a thing only say which it is: "[can I have] a spoon from the drawer by the
        stove", "[I want] the book on the shelf, not the one on the desk"."""
        others = phrase.definite and any(words[at : at + 3] == ["not", "the", "one"] for at in range(len(words)))
        return others or words[phrase.end : phrase.end + 1] == ["from"]

    def _made(self, words: Sequence[str], phrase: NounPhrase) -> Read | None:
        """Read "[I fancy] a slice of toast": it has to be made first."""
        made = self._english.made.get(phrase.head, "")  # not for "a bath towel"
        found = self._commands.read(made.split(), 0) if made and not phrase.definite else None
        text = " ".join(words[phrase.begin : phrase.end])
        return (replace(found[0], to_user=True, text=text), phrase.end) if found is not None else None

    def _called(self, words: Sequence[str], at: int) -> Read | None:
        """Read "[I would like] you in the kitchen"."""
        placed = self._english.preposition_at(words, at + 1)
        if words[at + 1 : at + 2] == ["to"] and self._commands.begins(words, at + 2):
            return None  # "I want you to open the garage door"
        place = self._commands.phrase(words, at + 1 + placed[1]) if placed is not None else None
        if placed is None or placed[0] not in (INTO, NEAR) or place is None or not (place.room or place.person):
            return None
        return Command(_K.GO, "go", (place,), text=" ".join(words[at : place.end])), place.end

    def _standing(self, words: Sequence[str], at: int, phrase: NounPhrase) -> Read:
        """Read "[I want] a candle standing on the table"."""
        sense, place = phrase.places[-1]
        target, text = replace(phrase, places=phrase.places[:-1]), " ".join(words[at : phrase.end])
        return Command(_K.PLACE, "put", (target,), destination=place, near=sense == NEAR, text=text), phrase.end

    def gratefully(self, words: Sequence[str], at: int) -> Read | None:
        """Read "I would be grateful if you opened the window", "... if the window were open"."""
        start = at + phrase_at(self._english.past_openings, words, at)
        if start > at:
            return self._commands.read(words, start, participle=True) if start < len(words) else None
        start += phrase_at(self._english.wished_if, words, at)
        phrase = self._commands.phrase(words, start) if start > at else None
        found = None if phrase is None or phrase.person else self._wanted(words, phrase, phrase.end)
        if found is None or words[found[1] : found[1] + 1] != ["when"]:
            return found
        end = found[1]
        while end < len(words) and words[end] not in PUNCTUATION:  # "... when my guests come": it is due then
            end += 1
        return found[0], end

    def assured(self, words: Sequence[str], at: int) -> Read | None:
        """Read "make sure the lamp is off", "leave the door open"."""
        start = at + phrase_at(self._english.assurances, words, at)
        if start == at:
            return self._caused(words, at) if words[at] in self._english.causing else None
        start += words[start : start + 1] == ["that"]
        phrase = self._commands.phrase(words, start)
        return None if phrase is None or phrase.person else self._wanted(words, phrase, phrase.end)

    def _caused(self, words: Sequence[str], at: int) -> Read | None:
        """Read "leave the door open", "get the potatoes nice and hot", "get the water boiling"."""
        phrase = self._commands.phrase(words, at + 1)
        if phrase is None or phrase.person:
            return None
        turned = self._turned(words, phrase)
        if turned is not None:
            return turned
        end = phrase.end
        while end < len(words) and (words[end] in _BECOMING or words[end].endswith("ly")):
            end += 1
        if self.is_state(words, end):
            particle = self._english.with_particle(words[at], words[end]) is not None
            return None if particle else self.state(words, phrase, end)  # "turn the lamp off" is a plain command
        going_on = "".join(words[end : end + 1])
        base = self._english.base_form(going_on) if going_on.endswith("ing") else ""
        return self.as_command(words, base, phrase, end + 1) if base else None

    def _turned(self, words: Sequence[str], phrase: NounPhrase) -> Read | None:
        """Read "[get] the lamp on the desk turned on"."""
        told = self.told_by_places(words, phrase)
        if told.end + 1 >= len(words):
            return None
        base = self._english.base_form(words[told.end], participle=True)
        done = base != words[told.end] and self._english.with_particle(base, words[told.end + 1]) is not None
        return self.as_command(words, base, told, told.end + 1) if done else None

    def passive(self, words: Sequence[str], at: int) -> Read | None:
        """Read "the apple should be washed", "the mug goes in the sink"."""
        phrase = self._commands.phrase(words, at)
        phrase = self.told_by_places(words, phrase) if phrase is not None else None
        if phrase is None or phrase.end >= len(words) or phrase_at(self._english.persons, words, at):
            return None
        verb, start = words[phrase.end], phrase.end + 1
        if verb == "and" and phrase.named:  # "the salt and the pepper belong on the table"
            found = self.passive(words, start)
            together = found is not None and words[start] in self._english.determiners
            return (replace(found[0], targets=(phrase, *found[0].targets)), found[1]) if found and together else None
        welcome = self._welcome(words, phrase.end)
        if welcome:
            any_one = not (phrase.definite or phrase.pronoun)  # not "that would be lovely"
            return (self._brought(words, phrase)[0], welcome) if any_one else None
        if verb in self._english.belonging:
            return self.as_command(words, "put", phrase, start)
        return self._due(words, at, phrase) if self._is_obliged(words, phrase.end) else None

    def _welcome(self, words: Sequence[str], at: int) -> int:
        """Return where "would be lovely" or "will do" ends that stands at a word, 0 where neither does."""
        if list(words[at : at + 2]) == ["will", "do"]:
            return at + 2
        would = list(words[at : at + 2]) == ["would", "be"] and "".join(words[at + 2 : at + 3]) in self._english.welcome
        return at + 3 if would else 0

    def requested(self, words: Sequence[str], at: int) -> Read | None:
        """Read "could the pillows be moved to the armchair"."""
        phrase = self._commands.phrase(words, at + 1) if words[at] in _REQUESTING else None
        if phrase is None or not phrase.named:
            return None
        if words[phrase.end : phrase.end + 1] == ["go"]:
            return self.as_command(words, "put", phrase, phrase.end + 1)
        if words[phrase.end : phrase.end + 1] != ["be"]:
            return None
        return self._wanted(words, phrase, phrase.end)

    def _is_obliged(self, words: Sequence[str], at: int) -> bool:
        """Return whether "should", "needs" or "is to" stands at a word, without "not"."""
        following = words[at + 1 : at + 2]
        obliged = words[at] in self._english.obliging or (words[at] in ("is", "are") and following == ["to"])
        return obliged and following not in (["not"], ["been"])

    def _due(self, words: Sequence[str], at: int, phrase: NounPhrase) -> Read | None:
        """Read what stands behind "the apple should": "be washed", "get a wash", "be in the fridge"."""
        skipped, start = self._english.becoming | self._english.fillers | self._english.kept, phrase.end + 1
        while start < len(words) and words[start] in skipped:
            start += 1
        watered = start + (words[start : start + 1] in (["some"], ["more"], ["fresh"]))
        if words[watered : watered + 1] == ["water"]:  # "the vase needs fresh water"
            return Command(_K.FILL, "fill", (phrase,), text=" ".join(words[at : watered + 1])), watered + 1
        found = self._english.verb_at(words, start)
        if found is not None and found[0].kind is _K.CLEAN:  # "the mug needs a wash"
            return Command(_K.CLEAN, words[start], (phrase,), text=" ".join(words[at : start + 1])), start + 1
        return self._wanted(words, phrase, start)

    def stated(self, words: Sequence[str], at: int) -> Read | None:
        """Read "microwave door open": a name that looks like a verb, and a state."""
        phrase = self._commands.phrase(words, at) if self._english.is_verb(words[at]) else None
        if phrase is None or phrase.called is None or words[phrase.end : phrase.end + 1] not in _SHUT:
            return None
        ends = phrase.end + 1 >= len(words) or words[phrase.end + 1] in PUNCTUATION | self._english.fillers
        return self.state(words, phrase, phrase.end) if ends and self.is_state(words, phrase.end) else None

    def told_by_places(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Return the phrase with the places behind it: "the lamp on the desk [should be off]"."""
        while (found := self._english.preposition_at(words, phrase.end)) is not None:
            place = self._commands.phrase(words, phrase.end + found[1])
            if place is None:
                break
            phrase = replace(phrase, places=(*phrase.places, (found[0], place)), end=place.end)
        return phrase

    # --- what a thing is to become

    def _wanted(self, words: Sequence[str], phrase: NounPhrase, at: int) -> Read | None:
        """Read what is wanted of a thing: "... to be washed", "... in the sink", "... off"; None where nothing is."""
        while at < len(words) and words[at] in self._english.becoming | self._english.fillers:
            at += 1
        if at >= len(words):
            return None
        if self.is_state(words, at):
            return self.state(words, phrase, at)
        placed = self._english.preposition_at(words, at)
        moved = self._rolled(words, phrase, at) or self._moved(words, phrase, at, placed)
        if moved is not None:
            return moved
        base = self._english.base_form(words[at], participle=True)
        if base and (words[at] != base or base in ("put", "cut", "set", "shut")):
            return self.as_command(words, base, phrase, at + 1)
        return None

    def _rolled(self, words: Sequence[str], phrase: NounPhrase, at: int) -> Read | None:
        """Read which way a thing is wanted: "[the blinds] down"."""
        stays = phrase.called is not None and not self._lexicon.is_carried(phrase.called)
        moved = stays and words[at] in ("up", "down")
        found = self._commands.read(["pull", *words[phrase.begin : phrase.end], words[at]], 0) if moved else None
        if found is None or found[0].kind not in (_K.OPEN, _K.CLOSE):
            return None
        return replace(found[0], text=" ".join(words[phrase.begin : at + 1])), at + 1

    def _moved(self, words: Sequence[str], phrase: NounPhrase, at: int, placed: tuple[str, int] | None) -> Read | None:
        """Read where a thing is wanted: "in the sink", "off the table"; or how it is to be cut: "in slices"."""
        if placed is None:
            return None
        inner = self._commands.phrase(words, at + placed[1])
        if inner is not None and inner.pieces and not inner.named:
            return Command(_K.SLICE, "slice", (phrase,), text=" ".join(words[phrase.begin : inner.end])), inner.end
        if placed[0] not in (INTO, NEAR, FROM):
            return None
        put = self.as_command(words, "put", phrase, at)
        taken = placed[0] == FROM and put is not None and put[0].destination is None
        return self.as_command(words, "take", phrase, at) if taken else put

    def is_state(self, words: Sequence[str], at: int) -> bool:
        """Return whether a state stands at a word: "off", but not the "on" of "on the desk"."""
        if at >= len(words) or (words[at] not in STATES and self._english.states.get(words[at]) not in _OF_STATE):
            return False
        placed = self._english.preposition_at(words, at)
        return placed is None or self._commands.phrase(words, at + placed[1]) is None

    def state(self, words: Sequence[str], phrase: NounPhrase, at: int) -> Read:
        """Return the command that brings about the state at a word."""
        kind = STATES.get(words[at]) or _OF_STATE[self._english.states[words[at]]]
        return Command(kind, words[at], (phrase,), text=" ".join(words[phrase.begin : at + 1])), at + 1

    def _brought(self, words: Sequence[str], phrase: NounPhrase) -> Read:
        """Read a wish for a thing itself: it is to be brought."""
        end = phrase.end
        places: list[tuple[str, NounPhrase]] = []
        while end < len(words) and (placed := self._english.preposition_at(words, end)) is not None:
            place = self._commands.phrase(words, end + placed[1])
            if place is None or not (place.named or place.definite):
                break
            places += [] if placed[0] == FOR else [(placed[0], place)]
            end = place.end
        others, end = self._others(words, end)
        told = end
        if end < len(words) and words[end] == "to":  # what it is needed for
            while end < len(words) and words[end] not in PUNCTUATION | {"and"}:
                end += 1
        wanted = words[told:end] if words[told + 1 : told + 2] == ["be"] else ()  # "to be varnished": not to be brought
        text = " ".join(words[phrase.begin : end])
        target = phrase if not places else _with_places(phrase, places)
        targets = (target, *others)
        return Command(_K.PLACE, "bring", targets, to_user=True, text=text, unread=tuple(wanted)), end

    def _others(self, words: Sequence[str], at: int) -> tuple[list[NounPhrase], int]:
        """Return what is wished besides, and where it ends: "[a fork], a knife and two spoons"."""
        found: list[NounPhrase] = []
        while words[at : at + 1] in ([","], ["and"]):
            begin = at + 1 + (words[at : at + 2] == [",", "and"])
            phrase = self._commands.phrase(words, begin)
            following = "".join(words[phrase.end : phrase.end + 1]) if phrase is not None else ""
            if phrase is None or not phrase.named or following not in PUNCTUATION | self._english.fillers | {"", "and"}:
                break
            if following == "," and self._commands.begins(words, phrase.end + 1):
                break  # "I want a fork, the spoon, put it back"
            found.append(phrase)
            at = phrase.end
        return found, at

    def as_command(self, words: Sequence[str], verb: str, phrase: NounPhrase, rest: int) -> Read | None:
        """Read verb, phrase and rest as if they stood in a command's order."""
        ordered = [verb, *words[phrase.begin : phrase.end], *words[rest:]]
        found = self._commands.read(ordered, 0)
        if found is None:
            return None
        command, end = found
        return command, rest + end - 1 - (phrase.end - phrase.begin)


def _with_places(phrase: NounPhrase, places: list[tuple[str, NounPhrase]]) -> NounPhrase:
    return replace(phrase, places=(*phrase.places, *places))
