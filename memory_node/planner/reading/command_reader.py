"""Reads one command: its verb, and what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.command import Command
from memory_node.planner.reading.english import FOR, FROM, INTO, NEAR, PUNCTUATION, UNDER, WITH, English, Verb, past
from memory_node.planner.reading.lexicon import Lexicon
from memory_node.planner.reading.noun_phrase import SOMEBODY, NounPhrase, NounPhraseReader

_K = GoalKind
_CUT_INTO = frozenset({"piece", "slice", "half", "cube", "quarter", "strip", "ring", "bit", "chunk", "wedge", "stick"})
_SLIDING = frozenset({"pull", "slide", "push", "drag"})
_HOLDING = frozenset({_K.FETCH, _K.PLACE})


@dataclass
class Arguments:
    """What stands behind a verb, in order. places: (sense, phrase, preposition). result: the verb of "get it washed".
    state: of "wipe it clean". later: a time that the robot cannot wait for.
    """

    targets: list[NounPhrase] = field(default_factory=list)
    places: list[tuple[str, NounPhrase, str]] = field(default_factory=list)
    alternatives: bool = False
    particle: str = ""
    to_user: bool = False
    for_user: bool = False
    there: bool = False
    back: bool = False
    result: str = ""
    state: str = ""
    later: str = ""
    last: str = ""
    taken: bool = False
    closed: bool = False


class CommandReader:
    """Reads commands made of the words of English and the names of a lexicon."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self.english = english
        self.lexicon = lexicon
        self.phrases = NounPhraseReader(lexicon, english)
        self._time = _time_pattern(english)

    # --- one command

    def read(self, words: Sequence[str], at: int) -> tuple[Command, int, str] | None:
        """Return the command whose verb stands at a word, where it ends, and a time that puts it off; None for none."""
        english = self.english
        if at >= len(words):
            return None
        length = english.come_here.length_at(words, at)
        if length:
            args, end = self.arguments(words, at + length, "go", taken=True)
            if not args.places:
                return Command(_K.GO, "come", to_user=True, text=" ".join(words[at:end])), end, args.later
        going = self._going(words, at) if words[at] in english.motion else None
        if going is not None:
            return going
        whole = english.complex.at(words, at)
        if whole is not None and self._fits_whole(words, at + whole[1]):
            args, end = self.arguments(words, at + whole[1], words[at])
            return self._made(whole[0], " ".join(words[at : at + whole[1]]), args, words[at:end], end)
        given = self._given(words, at) if words[at] in ("give", "have") else None
        if given is not None:
            return given
        if not english.is_verb(words[at]) and words[at] not in ("have", "make"):
            return None
        named = self.lexicon.name_at(words, at)
        if named is not None and named[1] > 1:
            return None  # "scrub brush [in the sink]"
        args, end = self.arguments(words, at + 1, words[at])
        verb = self._meant(words[at], args)
        return self._made(verb, words[at], args, words[at:end], end) if verb is not None else None

    def passive(self, words: Sequence[str], at: int, thing: NounPhrase) -> tuple[Command, int, str] | None:
        """Return the command of "[the mug should be] washed", "... put in the sink"; the participle is at a word."""
        base = self.english.base_form(words[at]) if at < len(words) else ""
        if not base:
            return None
        args, end = self.arguments(words, at + 1, base, taken=True)
        if args.targets:
            return None
        args.targets = [thing]
        verb = self._meant(base, args)
        return self._made(verb, base, args, words[thing.begin : end], end) if verb is not None else None

    def stated(self, words: Sequence[str], at: int, thing: NounPhrase, begin: int) -> tuple[Command, int, str] | None:
        """Return the command of "[the mug goes] in the sink", "[I want the lamp] off", "[the desk] clean"."""
        args, end = self.arguments(words, at, "put", taken=True)
        if args.targets or end == at:
            return None
        args.targets = [thing]
        args.to_user |= args.for_user
        wanted = self.english.wanted.get(args.state or args.particle)
        if wanted is not None and not args.places:
            return self._made(Verb(wanted), str(wanted), args, words[begin:end], end)
        if args.state or args.result or not (args.places or args.to_user or args.back or args.there):
            return None
        only_from = all(sense == FROM for sense, _, _ in args.places) and not (args.to_user or args.back or args.there)
        return self._made(Verb(_K.FETCH if only_from else _K.PLACE), "put", args, words[begin:end], end)

    def _fits_whole(self, words: Sequence[str], at: int) -> bool:
        return self.phrases.read(words, at) is not None or self.english.prepositions.at(words, at) is not None

    def _given(self, words: Sequence[str], at: int) -> tuple[Command, int, str] | None:
        """Take "give the tub a scrub"."""
        thing = self.phrases.read(words, at + 1, places=True)
        if thing is None or thing.person or words[thing.end : thing.end + 1] != ["a"]:
            return None
        start = past(words, thing.end + 1, ("good", "quick", "proper", "thorough", "nice"))
        verb = self.english.verbs.get(words[start]) if start < len(words) else None
        if verb is None or not verb.treatment:
            return None
        args, end = self.arguments(words, start + 1, words[start], taken=True)
        args.targets = [thing]
        return self._made(verb, words[start], args, words[at:end], end)

    def _going(self, words: Sequence[str], at: int) -> tuple[Command, int, str] | None:
        """Take "drive over to the fridge", "go stand by the window"."""
        start = past(words, at + 1, self.english.on_the_way)
        found = self.english.prepositions.at(words, start)
        if found is None or found[0] not in (INTO, NEAR):
            found = self.english.prepositions.at(words, at + 1)
            start = at + 1
        heads = words[at : at + 2] == ["head", "for"]
        if found is None or (found[0] not in (INTO, NEAR) and not heads):
            return None
        phrase = self.phrases.read(words, start + found[1])
        corrected = self.correction_at(words, phrase.end) if phrase is not None else start
        if phrase is not None and corrected > phrase.end:
            instead = self.phrases.place(words, corrected)
            phrase = instead[1] if instead is not None else self.phrases.read(words, corrected) or phrase
        if phrase is None or not (phrase.named or phrase.person or phrase.strange or phrase.pronoun):
            return None
        if phrase.strange and not phrase.definite:
            return None  # "go to sleep"
        command = Command(_K.GO, "go", (phrase,), text=" ".join(words[at : phrase.end]))
        if phrase.person:
            command = replace(command, targets=(), to_user=True)
        rest, end = self.arguments(words, phrase.end, "go", taken=True)
        return None if rest.targets or rest.particle or rest.result else (command, end, rest.later)

    def _meant(self, word: str, args: Arguments) -> Verb | None:
        """Return what a verb means with what stands behind it: "turn ... on", "get ... washed"."""
        english = self.english
        if args.result and word in english.causing | {"make"}:
            args.particle = args.particle or ""
            return self._meant(args.result, replace(args, result=""))
        verb = english.verbs.get(word)
        if args.state:
            turned = word in english.phrasal_verbs | english.causing | {"make", "turn", "pull"}
            turned |= verb is not None and verb.kind in (_K.PLACE, _K.FETCH, _K.CLEAN) and word not in ("keep", "leave")
            turned |= verb is not None and verb.kind is english.wanted.get(args.state)
            return Verb(english.wanted[args.state]) if turned else None
        if args.particle:
            found = english.phrasal.get((word, args.particle))
            if found is not None:
                return found
        for sense, _, preposition in args.places if verb is None else ():
            found = english.phrasal.get((word, preposition.split()[0])) if sense == FROM else None
            if found is not None:
                return found  # "tip the water out of the pot"
        if verb is None or args.result:
            return None
        if verb.kind is _K.STOP:
            return Verb(_K.SWITCH_OFF) if args.targets and not (args.places or args.particle) else None
        if args.particle in ("on", "off") and verb.kind in _HOLDING:
            return (
                Verb(_K.SWITCH_ON if args.particle == "on" else _K.SWITCH_OFF)
                if word in ("put", "get", "set")
                else None
            )
        if args.particle in ("on", "off") or (args.particle == "over" and verb.kind is not _K.PLACE):
            return None
        if args.particle == "in" and verb.kind not in _HOLDING:
            return None  # "heat the potato in": the end is missing
        # Others only colour a verb: "heat up", "take out".
        return verb if args.particle != "away" or verb.kind is _K.THROW else None

    # --- what stands behind the verb

    def arguments(self, words: Sequence[str], at: int, verb: str, taken: bool = False) -> tuple[Arguments, int]:
        """Return what stands behind a verb, and where that ends. taken: its object has been named before."""
        args = Arguments(taken=taken)
        while at < len(words):
            end = self._next(words, at, verb, args, taken)
            if end is None:
                break
            at = end
        return args, at

    def _next(self, words: Sequence[str], at: int, verb: str, args: Arguments, taken: bool) -> int | None:
        """Take the next argument; return where it ends, None where none stands at a word."""
        word = words[at]
        corrected = self._corrected(words, at, args)
        if corrected is not None:
            return corrected
        if word in PUNCTUATION or word in ("and", "or"):
            return self._listed(words, at, args, taken)
        for form in (
            self._back,
            self._courtesy,
            self._later,
            self._for_what,
            self._pointed,
            self._particle,
            self._placed,
            self._filler,
        ):
            end = form(words, at, verb, args)
            if end is not None:
                return end
        return self._thing(words, at, args, taken)

    def _back(self, words: Sequence[str], at: int, _verb: str, args: Arguments) -> int | None:
        """Take "where it was", "to where you found it"."""
        found = self.english.prepositions.at(words, at)
        behind = at + found[1] if found is not None and found[0] == INTO else at
        length = self.english.where_it_was.length_at(words, behind)
        args.back |= bool(length)
        return behind + length if length else None

    def _courtesy(self, words: Sequence[str], at: int, _verb: str, _args: Arguments) -> int | None:
        length = self.english.courtesy.length_at(words, at)
        return at + length if length else None

    def _later(self, words: Sequence[str], at: int, verb: str, args: Arguments) -> int | None:
        length = self.time_at(words, at)
        if not length:
            return None
        meant = self.english.verbs.get(verb)
        if words[at] == "for" and meant is not None and meant.treatment:
            return at + length  # "boil the potato for ten minutes": so long as it takes
        args.later = " ".join(words[at : at + length])
        return at + length

    def _for_what(self, words: Sequence[str], at: int, _verb: str, args: Arguments) -> int | None:
        return self._purpose(words, at) if words[at] == "to" and (args.targets or args.taken) else None

    def _filler(self, words: Sequence[str], at: int, _verb: str, _args: Arguments) -> int | None:
        return at + 1 if words[at] in self.english.fillers or words[at].endswith("ly") else None

    def _purpose(self, words: Sequence[str], at: int) -> int | None:
        """Return where "to read", "to put it on" ends: what something is for."""
        following = words[at + 1] if at + 1 < len(words) else ","
        english = self.english
        if following in english.function_words or (
            self.phrases.read(words, at + 1) is not None and not english.is_verb(following)
        ):
            return None
        end = at + 2
        while end < len(words) and words[end] not in PUNCTUATION and words[end] not in ("and", "then", "but", "so"):
            end += 1
        return end

    def _pointed(self, words: Sequence[str], at: int, _verb: str, args: Arguments) -> int | None:
        """Take "here", "there"."""
        if words[at] not in ("here", "there"):
            return None
        args.to_user |= words[at] == "here"
        args.there |= words[at] == "there"
        args.last = "place"
        return at + 1

    def _particle(self, words: Sequence[str], at: int, verb: str, args: Arguments) -> int | None:
        english, word, taken = self.english, words[at], args.taken
        following = words[at + 1] if at + 1 < len(words) else ","
        if word in ("over", "back", "out", "down", "up", "right") and following in ("here", "there"):
            args.back |= word == "back" and following == "there"
            return at + 1
        if word not in english.particles and (verb, word) not in english.phrasal:
            return None
        before_object = not args.targets and not taken and (verb, word) in english.phrasal
        if before_object and self.phrases.read(words, at + 1) is not None and not self._is_place(words, at, verb):
            args.particle = word
            return at + 1
        splits = args.targets and (verb, word) in english.phrasal and self.phrases.place(words, at + 1) is not None
        if self.phrases.place(words, at) is not None and not splits:
            return None
        if word == "back" and (verb, word) in english.phrasal and not english.phrasal[verb, word].way:
            args.particle = word
        elif word == "back":
            args.back = True
        elif args.particle and args.particle != word:
            return None
        else:
            args.particle = word
            args.closed = bool(args.targets)
        return at + 1

    def _is_place(self, words: Sequence[str], at: int, verb: str) -> bool:
        """Return whether "put on the bed" says where to."""
        phrase = self.phrases.read(words, at + 1)
        holds = phrase is not None and phrase.called is not None and self.lexicon.is_holder(phrase.called)
        return words[at] in ("on", "out") and verb == "put" and holds and not self.lexicon.is_switched(phrase.called)  # type: ignore[union-attr,arg-type]

    def _placed(self, words: Sequence[str], at: int, verb: str, args: Arguments) -> int | None:
        """Take "in the sink", "to me", "for the guests", "with water", "in half"."""
        english = self.english
        found = english.prepositions.at(words, at)
        if found is None:
            return None
        start = at + found[1]
        if start < len(words) and words[start] in ("here", "there"):
            return self._pointed(words, start, verb, args) if found[0] != FROM else None
        manner = self._manner(words, start, found[0], verb)
        if manner is not None:
            return manner
        phrase = self.phrases.read(words, start)
        if phrase is None or (phrase.person and found[0] == NEAR):
            return None
        if found[0] == FOR and phrase.strange and words[phrase.end : phrase.end + 1] == ["and"]:
            return None
        if words[start - 1] == "between" and words[phrase.end : phrase.end + 1] == ["and"]:
            other = self.phrases.read(words, phrase.end + 1)
            phrase = replace(phrase, end=other.end) if other is not None else phrase
        self._take_place(found[0], phrase, " ".join(words[at:start]), verb, args)
        args.last = "place"
        return phrase.end

    def _manner(self, words: Sequence[str], start: int, sense: str, verb: str) -> int | None:
        """Skip "in half", "into thick slices"."""
        following = words[start] if start < len(words) else ","
        if sense != INTO or not self._cuts(verb):
            return None
        if following in self.english.numbers.keys() | {"half"}:
            return start + 1
        phrase = self.phrases.read(words, start)
        return phrase.end if phrase is not None and (phrase.pieces or phrase.head in _CUT_INTO) else None

    def _take_place(self, sense: str, phrase: NounPhrase, preposition: str, verb: str, args: Arguments) -> None:
        if phrase.person and sense == FOR:
            args.for_user = True
        elif phrase.person and sense == INTO:
            args.to_user = True
        elif sense == INTO and phrase.strange and phrase.head in self.english.its_place and not phrase.places:
            args.back = not phrase.other
        elif phrase.strange and phrase.head in self.english.underfoot and (sense == FROM or not self._moves(verb)):
            pass  # where it is lying now tells nothing
        elif sense != FOR or not phrase.strange or phrase.definite:
            args.places.append((sense, phrase, preposition))

    def _cuts(self, verb: str) -> bool:
        meant = self.english.verbs.get(verb)
        return meant is not None and meant.kind is _K.SLICE

    def _moves(self, verb: str) -> bool:
        meant = self.english.verbs.get(verb)
        return meant is not None and meant.kind is _K.PLACE

    def _thing(self, words: Sequence[str], at: int, args: Arguments, taken: bool) -> int | None:
        result = self._resulting(words, at, args, taken)
        if result is not None:
            return result
        phrase = self.phrases.read(words, at) if not (args.targets or taken) else None
        if phrase is None:
            return None
        if phrase.person:
            args.to_user = True
            return phrase.end
        is_somebody = phrase.text in SOMEBODY or self.lexicon.is_person(phrase.text)
        is_somebody |= phrase.strange and phrase.owner == "my"  # "bring my grandpa the egg"
        if is_somebody and self.phrases.read(words, phrase.end) is not None:
            args.places.append((INTO, phrase, "to"))  # "bring her the pepper"
            return phrase.end
        args.targets.append(phrase)
        args.last = "thing"
        return phrase.end

    def _resulting(self, words: Sequence[str], at: int, args: Arguments, taken: bool) -> int | None:
        """Take "[get the mug] washed", "[wipe the table] clean"."""
        if not (args.targets or taken) or args.result or args.state:
            return None
        word = words[at]
        if word in self.english.wanted and word not in self.english.particles:
            args.state = word
            return at + 1
        base = self.english.base_form(word)
        if not taken and base and (word != base or word in ("put", "cut", "shut", "set")):
            args.result = base
            return at + 1
        return None

    # --- lists and corrections

    def _listed(self, words: Sequence[str], at: int, args: Arguments, taken: bool) -> int | None:
        """Take ", a fork and a knife" behind a thing, and "and into the safe" behind a place."""
        start = at + 1
        start += words[at] == "," and words[start : start + 1] in (["and"], ["or"], ["then"])
        start += words[start - 1] == "and" and words[start : start + 1] == ["then"]
        if words[at] not in (",", "and", "or") or start >= len(words):
            return None
        prep = self.english.prepositions.at(words, start)
        if words[start - 1] == "," and prep is not None and prep[0] in (INTO, NEAR, FROM) and (args.targets or taken):
            placed = self.phrases.place(words, start)  # "put the fork, not the knife, in the sink"
            goes_on = placed is not None and (
                self._ends(words, placed[1].end) or words[placed[1].end] in ("and", "please")
            )
            if placed is not None and goes_on and args.places and prep[0] == INTO and args.places[-1][0] == INTO:
                return placed[1].end  # "in the fridge, on the second shelf"
            goes_on &= not args.places or (prep[0] == NEAR and args.places[-1][0] == INTO)
            return start if goes_on else None
        if words[start - 1] == "and" and prep is not None and args.places and prep[0] in (INTO, NEAR):
            is_origin = args.places[-1][0] == FROM
            return start if is_origin and self.phrases.place(words, start) is not None else None
        if taken or args.closed or args.last != "thing" or args.places or self._begins_command(words, start):
            return None
        phrase = self.phrases.read(words, start)
        if (
            phrase is None
            or phrase.person
            or phrase.pronoun in ("it", "them", "this", "that")
            or self._says(words, phrase.end)
        ):
            return None
        is_last = len(args.targets) > 1 and self.phrases.place(words, phrase.end) is not None  # "a, b, c in the sink"
        if words[at] == "," and words[start - 1] == "," and not (is_last or self._closes(words, phrase.end)):
            return None
        if args.back and self.phrases.place(words, phrase.end) is not None:
            return None  # "put the cup back and the apple in the fridge"
        args.alternatives |= words[start - 1] == "or"
        before = args.targets[-1]
        if (
            before.every
            and "all" in before.text.split()
            and phrase.begin == phrase.end - 1
            and phrase.called is not None
        ):
            phrase = replace(phrase, every=True)  # "all the curtains and blinds"
        args.targets.append(phrase)
        return phrase.end

    def _closes(self, words: Sequence[str], at: int) -> bool:
        """Return whether a row of things goes on to its last one: ", a fork and a knife"."""
        if at >= len(words) or words[at] not in (",", "and", "or"):
            return False
        start = at + 1 + (words[at] == "," and words[at + 1 : at + 2] in (["and"], ["or"]))
        phrase = self.phrases.read(words, start) if start < len(words) else None
        return phrase is not None and not self._begins_command(words, start) and not self._says(words, phrase.end)

    def _begins_command(self, words: Sequence[str], at: int) -> bool:
        """Return whether a verb with an object stands here, rather than a noun."""
        if not self.english.is_verb(words[at]):
            return False
        following = words[at + 1 : at + 2]
        return (
            not following
            or following[0] in self.english.function_words | self.english.numbers.keys()
            or (self.lexicon.name_at(words, at) is None)
        )

    def _says(self, words: Sequence[str], at: int) -> bool:
        """Return whether something is said of the phrase before: "[the room] is cold"."""
        following = words[at : at + 1]
        return bool(following) and (
            following[0] in self.english.auxiliaries or following[0] in ("'s", "needs", "wants")
        )

    def _corrected(self, words: Sequence[str], at: int, args: Arguments) -> int | None:
        """Take ", no, the fork" in place of the last thing or place, and ", sorry, off" of the particle."""
        if not args.last and not args.particle:
            return None
        start = self.correction_at(words, at)
        if start == at or start >= len(words):
            return None
        if words[start] == "not":
            excluded = self.phrases.read(words, start + 1)
            start = (
                excluded.end + 1 if excluded is not None and words[excluded.end : excluded.end + 1] == [","] else start
            )
        if start >= len(words) or (self.english.is_verb(words[start]) and not self.lexicon.name_at(words, start)):
            return None
        if words[start] in self.english.particles and self._ends(words, start + 1):
            args.particle = words[start]
            return start + 1
        placed = self.phrases.place(words, start)
        if placed is not None and placed[0] in (INTO, NEAR, FROM):
            kept = [one for one in args.places if (one[0] == FROM) != (placed[0] == FROM)]
            args.places = [*kept, placed]
            args.last = "place"
            return placed[1].end
        phrase = self.phrases.read(words, start)
        if phrase is None or self._says(words, phrase.end):
            return None
        if phrase.person:
            args.to_user, args.places, args.last = True, [], "place"
        elif args.last == "place" and args.places and self._replaces_place(phrase, args.places[-1][1]):
            sense, _, preposition = args.places.pop()
            args.places.append((sense, phrase, preposition))
        elif args.last == "place" and args.places and phrase.called and self.lexicon.is_holder(phrase.called):
            return None  # "put the ladle in the pot, no, the pan": the thing, or the place
        elif args.targets:
            args.targets[-1] = phrase
        else:
            return None
        return phrase.end

    def _replaces_place(self, phrase: NounPhrase, before: NounPhrase) -> bool:
        """Return whether a corrected thing is a place: furniture, or a vessel where a vessel was named."""
        if phrase.only_room or self.lexicon.is_furniture(phrase.called):
            return True
        is_vessel = before.called is not None and self.lexicon.is_carried(before.called)
        return is_vessel and phrase.called is not None and self.lexicon.is_holder(phrase.called)

    def correction_at(self, words: Sequence[str], at: int) -> int:
        """Return where "no, I mean," ends that stands at a word; the word itself where none does."""
        start, found = at, at
        start = past(words, start, (",", ".", ";", "!", "?"))
        while True:
            length = self.english.corrections.length_at(words, start)
            if not length:
                break
            start += length
            start = past(words, start, (",", ".", "!"))
            found = start
        return found

    # --- boundaries and times

    def _ends(self, words: Sequence[str], at: int) -> bool:
        return at >= len(words) or words[at] in PUNCTUATION

    def time_at(self, words: Sequence[str], at: int) -> int:
        """Return how many words tell a time or a duration: "tomorrow", "at eight", "in an hour", "every morning"."""
        word, english = words[at], self.english
        if word in english.later and word not in english.conditions:
            return 1
        if word not in english.time_prepositions and word != "for":
            return 0
        found = self._time.match(" ".join(words[at:]))
        return len(found.group().split()) if found is not None else 0

    # --- from arguments to a command

    def _made(
        self, verb: Verb, said: str, args: Arguments, text: Sequence[str], end: int
    ) -> tuple[Command, int, str] | None:
        command = Command(
            verb.kind, said, tuple(args.targets), args.alternatives, treatment=verb.treatment, text=" ".join(text)
        )
        if args.back and not any(place[0] in (INTO, NEAR) for place in args.places):
            moved = verb.kind in _HOLDING or verb.kind is _K.DROP
            command = replace(command, way="back", kind=_K.PLACE if moved else verb.kind)
        elif verb.way:
            command = replace(command, way=verb.way)
        if verb.kind is _K.EXAMINE and (args.to_user or args.back):
            return None
        command = self._with_places(command, args)
        if said == "check" and command.light is None:
            return None  # "check the stove" asks how it is
        command = self._to_person(command, args, said)
        return replace(command, there=args.there), end, args.later

    def _with_places(self, command: Command, args: Arguments) -> Command:
        directed, before = False, ""
        for sense, phrase, preposition in args.places:
            where = args.taken or (directed and preposition not in self.english.directed)
            directed |= preposition in self.english.directed
            before, beside_origin = sense, before == FROM and sense == NEAR
            if beside_origin:
                continue  # "from the table next to the bed"
            if sense in (INTO, NEAR) or (sense == UNDER and command.kind is not _K.EXAMINE):
                if command.near and preposition in ("in", "into") and command.kind in (_K.PLACE, _K.THROW):
                    command = replace(command, destination=None, near=False)  # "the cup by the sink in the cabinet"
                command = self._at_place(command, args, (sense, phrase, preposition), where)
            else:
                command = self._with_other(command, args, sense, phrase)
        return command

    def _with_other(self, command: Command, args: Arguments, sense: str, phrase: NounPhrase) -> Command:
        """Return a command with what it is taken from, done with, or for."""
        if sense == FROM:
            return replace(command, origin=phrase)
        if sense == WITH and command.kind is _K.PLACE and not args.taken:
            *others, last = command.targets
            if self._holds(last, phrase):  # "put the bowl with the apple on the table"
                return replace(command, targets=(*others, replace(last, contents=phrase)))
            return replace(command, targets=(*command.targets, phrase))  # "bring it with two glasses"
        if command.kind is _K.EXAMINE and sense in (WITH, UNDER):
            return replace(command, light=phrase)
        if sense == FOR:  # "search the kitchen for my keys"
            return replace(command, targets=(phrase,)) if command.kind is _K.FIND else command
        return replace(command, instrument=phrase)

    def _holds(self, vessel: NounPhrase, phrase: NounPhrase) -> bool:
        """Return whether "a vessel with a thing" is one with the thing in it: a bowl with an apple, no two glasses."""
        named, lexicon = (vessel.called, phrase.called), self.lexicon
        if named[0] is None or named[1] is None or vessel.contents is not None:
            return False
        is_tray = lexicon.is_carried(named[0]) and lexicon.is_holder(named[0])
        return is_tray and lexicon.is_carried(named[1]) and not lexicon.is_holder(named[1])

    def _at_place(self, command: Command, args: Arguments, place: tuple[str, NounPhrase, str], where: bool) -> Command:
        """Return a command with a place: where to, or where the thing is."""
        sense, phrase, preposition = place
        is_near = sense == NEAR
        held = command.kind is _K.EXAMINE or (command.kind is _K.FETCH and command.verb == "hold")
        if held and self._is_lit_by(phrase):
            return replace(command, kind=_K.EXAMINE, light=phrase)
        if sense == UNDER and command.destination is not None:
            return self._further(command, NEAR, phrase, where)
        moves = command.kind in (_K.PLACE, _K.THROW, _K.BREAK, _K.SLICE, _K.DROP)
        if sense == UNDER and moves:
            return replace(command, under=True, destination=phrase)
        if sense == UNDER or self._is_where(command, args, phrase, preposition):
            return self._located(command, sense, phrase)
        if command.kind is _K.FETCH:
            return replace(command, kind=_K.PLACE, destination=phrase, near=is_near)
        before = command.destination
        if before is not None and self._is_vessel(before) and preposition not in self.english.directed and moves:
            if before.definite:
                return self._further(command, sense, phrase, True)  # "in the mug on the desk"
            return replace(command, vessel=before, destination=phrase, near=is_near)  # "in a bowl on the table"
        if moves and command.destination is not None:
            return self._further(command, sense, phrase, where)
        if moves and (command.kind is not _K.SLICE or preposition in self.english.directed):
            return replace(command, destination=phrase, near=is_near)
        return self._located(command, sense, phrase)

    def _is_where(self, command: Command, args: Arguments, phrase: NounPhrase, preposition: str) -> bool:
        """Return whether "in the drawer" says where a thing is, not where it goes."""
        if command.way == "bin":
            return True
        if preposition in self.english.directed:
            return command.kind is _K.EMPTY
        if command.kind is _K.FETCH:
            return True
        served = args.to_user
        if served and command.targets and command.targets[-1].pieces and self._is_vessel(phrase):
            return False  # "bring me the slices in the bowl": they were cut elsewhere
        carried = phrase.called is not None and self.lexicon.is_carried(phrase.called) and not phrase.definite
        return command.kind is _K.PLACE and served and not (carried and phrase.called is not None)

    def _is_vessel(self, phrase: NounPhrase) -> bool:
        called = phrase.called
        return called is not None and self.lexicon.is_carried(called) and self.lexicon.is_holder(called)

    def _is_lit_by(self, phrase: NounPhrase) -> bool:
        lit = phrase.called is not None and self.lexicon.is_switched(phrase.called)
        return lit and (phrase.part == "light" or "lamp" in phrase.head)

    def _further(self, command: Command, sense: str, phrase: NounPhrase, taken: bool) -> Command:
        """Return a command with one more place: the last says where to, those before where the thing is; a room, and
        what a place is beside, only tell the place."""
        place = command.destination
        assert place is not None
        taken &= not (command.targets and command.targets[-1].anything)  # "everything else on the desk in the box"
        if taken or phrase.only_room or sense == NEAR or (command.near and sense == INTO):
            return replace(command, destination=replace(place, places=(*place.places, (sense, phrase))))
        if command.targets:
            first = replace(command.targets[0], places=(*command.targets[0].places, (INTO, place)))
            command = replace(command, targets=(first, *command.targets[1:]))
        return replace(command, destination=phrase, near=sense == NEAR)

    def _located(self, command: Command, sense: str, phrase: NounPhrase) -> Command:
        if not command.targets:
            found = command.kind is _K.FIND
            return replace(command, targets=(phrase,)) if found else replace(command, under=sense == UNDER)
        last = replace(command.targets[-1], places=(*command.targets[-1].places, (sense, phrase)))
        return replace(command, targets=(*command.targets[:-1], last))

    def _to_person(self, command: Command, args: Arguments, said: str) -> Command:
        kind = command.kind
        if args.for_user and kind is _K.FETCH and said in ("get", "grab", "fetch", "take", "find"):
            args.to_user = True
        if said in _SLIDING and kind is _K.PLACE and command.origin is not None and command.destination is None:
            return replace(command, kind=_K.FETCH) if not args.to_user else replace(command, to_user=True)
        if args.there and kind is _K.FETCH:
            return replace(command, kind=_K.PLACE)
        if args.particle in ("in", "inside") and kind is _K.PLACE and not args.places and not args.to_user:
            args.there = True
        if kind is _K.THROW and (command.destination is not None):
            return replace(command, kind=_K.PLACE)
        if args.to_user and kind in (_K.FETCH, _K.PLACE, _K.THROW) and command.destination is None:
            return replace(command, kind=_K.PLACE, to_user=True, way="")
        if args.to_user:
            return replace(command, to_user=True)
        served = said in self.english.to_user and kind in (_K.PLACE, _K.FETCH) and command.destination is None
        return replace(command, to_user=True) if served and not (command.way or args.there) else command


def _time_pattern(english: English) -> re.Pattern[str]:
    numbers, day = "|".join(english.numbers), r"(?!birthdays?\b)\w*days?"
    units = "|".join((*english.time_units, *english.day_parts, "o'clock", "am", "pm", day))
    amount = rf"(?:(?:{numbers}|an?|the|half|about|few|early|next) )*"
    span = rf"(?:{'|'.join(english.time_prepositions - {'on'})}) {amount}(?:{units})\b"
    duration = rf"for {amount}(?:{'|'.join(english.time_units)})\b"
    hour = rf"(?:(?:half|quarter|{numbers}) (?:past|to) )?(?:{numbers}|\d\d?(?:[:.]\d\d)?)(?: [ap]m)?"
    clock = rf"(?:at|by|before|after|until|till) {hour}(?=$| [,.;:!?]| and\b| please\b)"
    return re.compile(rf"{span}|{duration}|on {amount}{day}\b|{clock}")
