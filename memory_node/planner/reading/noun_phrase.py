"""Noun phrases: which thing is spoken of, how many, in which state, and what tells it from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.domain.names import singular
from memory_node.domain.states import ObjectState
from memory_node.planner.reading.english import (
    FROM,
    INTO,
    NEAR,
    PUNCTUATION,
    UNDER,
    WITH,
    English,
    is_indefinite,
    past,
)
from memory_node.planner.reading.lexicon import Called, Lexicon

SOMEBODY = frozenset({"him", "her"})  # who is spoken of, and whom nobody knows by these words
_FOND = frozenset({"own", "poor", "nice", "lovely", "stupid"})  # adjectives that tell a thing from no other
_USE = 4  # words of a name by use: "something to write with"
_DEEPEST = 6  # phrases in phrases: "the cup on the shelf that is by the door"


@dataclass(frozen=True)
class NounPhrase:
    """What a phrase says of a thing.

    text: as said; the words [begin, end) of the instruction. head: its noun, singular. called: the classes that the
    noun names; None where it names none. group: the classes of a group word ("fruit"), () of one for anything
    ("thing"). room: the name of a room. pronoun: what refers back ("it", "one", "them"). person: the one who speaks.
    count: how many; every: all of them; uncounted: some, but not how many. definite: one that the speaker takes for
    known. spare: so many of all are left out ("all but one"). states: claimed of it. attributes: other words for it;
    owner: whose it is. other: not the one spoken of before. in_hand: what the robot holds. pieces: slices of it.
    matter: what a vessel has in it ("water"). strange: its noun names nothing. part: "lid". handled: told by what was
    done with it, and by whom ("you"); "again": the one of last time. places: (sense of the preposition, phrase) of
    where it is. excluded: what is ruled out ("not the red one").
    """

    text: str
    begin: int = 0
    end: int = 0
    head: str = ""
    called: Called | None = None
    group: tuple[str, ...] | None = None
    room: str = ""
    pronoun: str = ""
    person: bool = False
    count: int = 1
    every: bool = False
    spare: int = 0
    uncounted: bool = False
    plural: bool = False
    definite: bool = False
    states: tuple[ObjectState, ...] = ()
    attributes: tuple[str, ...] = ()
    owner: str = ""
    other: bool = False
    in_hand: bool = False
    pieces: bool = False
    matter: str = ""
    strange: bool = False
    part: str = ""
    handled: str = ""
    places: tuple[tuple[str, NounPhrase], ...] = ()
    contents: NounPhrase | None = None
    excluded: NounPhrase | None = None

    @property
    def indefinite(self) -> bool:
        """Whether any such thing will do: "a table", "any lamp"."""
        return is_indefinite(self.text) and not self.other

    @property
    def anything(self) -> bool:
        """Whether it means all that lies somewhere: "everything on the desk"."""
        return self.every and self.group == () and self.called is None

    @property
    def described(self) -> bool:
        """Whether an adjective tells the thing from others: "the red mug"."""
        return not _FOND.issuperset(self.attributes)

    @property
    def only_room(self) -> bool:
        """Whether it means a room itself: not "the bedroom windows"."""
        return bool(self.room) and self.called is None and not self.strange

    @property
    def told_room(self) -> str:
        """The room that a thing is in by its name or by where it is; "" for none."""
        inside = (place.room for sense, place in self.places if sense == INTO and place.only_room)
        return next(filter(None, (self.room, *inside)), "")

    @property
    def named(self) -> bool:
        """Whether its noun is a name or a group word of the label space, or the name of a room."""
        return self.called is not None or bool(self.group) or bool(self.room)

    @property
    def refers_back(self) -> bool:
        """Whether it means what was spoken of before: "it", "the other one", "a slice"."""
        return bool(self.pronoun) or (self.pieces and not self.named and not self.strange)


@dataclass
class _Draft:
    fields: dict[str, object] = field(default_factory=dict)
    states: list[ObjectState] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    determined: bool = False


class NounPhraseReader:
    """Reads noun phrases made of a lexicon's names and English's small words."""

    def __init__(self, lexicon: Lexicon, english: English) -> None:
        self._lexicon = lexicon
        self._english = english
        self._depth = 0

    def read(self, words: Sequence[str], at: int, places: bool = False) -> NounPhrase | None:
        """Return the phrase that begins at a word; None where none begins. places: with "in the sink" behind it."""
        phrase = self._plain(words, at)
        if phrase is None or self._depth >= _DEEPEST:
            return None
        self._depth += 1
        try:
            phrase = self._apposed(words, self._excluding(words, self._relative(words, phrase)))
        finally:
            self._depth -= 1
        while places and phrase.end < len(words):
            placed = self.place(words, phrase.end)
            if placed is None or placed[0] not in (INTO, NEAR, FROM, UNDER):
                break
            phrase = replace(phrase, places=(*phrase.places, placed[:2]), end=placed[1].end)
        return phrase

    def place(self, words: Sequence[str], at: int) -> tuple[str, NounPhrase, str] | None:
        """Return the sense of the preposition that stands at a word, the phrase behind it, and the preposition."""
        found = self._english.prepositions.at(words, at)
        if found is None:
            return None
        phrase = self.read(words, at + found[1])
        return None if phrase is None else (found[0], phrase, " ".join(words[at : at + found[1]]))

    # --- the phrase itself

    def _plain(self, words: Sequence[str], at: int) -> NounPhrase | None:
        if at >= len(words):
            return None
        held = self._english.in_hand.length_at(words, at)
        if held:
            return NounPhrase(" ".join(words[at : at + held]), at, at + held, definite=True, in_hand=True)
        if words[at] in self._english.people:
            return NounPhrase(words[at], at, at + 1, words[at], person=True, definite=True)
        is_known = self._lexicon.is_person(words[at]) and words[at + 1 : at + 2] != ["'s"]
        if is_known or (words[at] in SOMEBODY and not self._is_noun(words, at + 1)):
            return NounPhrase(words[at], at, at + 1, definite=True, strange=True)
        draft = _Draft()
        noun = self._before_noun(words, at, draft)
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        try:
            return self._portion(words, at, noun, draft) or self._headed(words, at, noun, draft)
        finally:
            self._depth -= 1

    def _before_noun(self, words: Sequence[str], at: int, draft: _Draft) -> int:
        while at < len(words):
            if self._is_name_here(words, at, draft):
                return at
            taken = self._quantity(words, at, draft) or self._determiner(words, at, draft)
            taken = taken or self._adjective(words, at, draft)
            if not taken:
                return at
            at += taken
        return at

    def _is_name_here(self, words: Sequence[str], at: int, draft: _Draft) -> bool:
        """Return whether a name begins here rather than an adjective: "light switch", not "light box"."""
        if self._lexicon.stranger_at(words, at):
            return True
        named = self._lexicon.name_at(words, at)
        if named is None:
            return False
        word = words[at]
        is_adjective = word in self._english.states or word in self._english.attributes
        return not (named[1] == 1 and is_adjective and self._is_noun(words, at + 1))

    def _quantity(self, words: Sequence[str], at: int, draft: _Draft) -> int:
        word, english = words[at], self._english
        following = words[at + 1 : at + 2]
        if word == "of" and draft.fields.keys() & {"count", "every", "uncounted"}:
            return 1
        if word == "both":
            draft.fields.update(count=2, plural=True)
        elif word in english.every:
            draft.fields["every"] = True
            if list(following) == ["but"] and words[at + 3 : at + 4] == ["of"] and words[at + 2] in english.numbers:
                draft.fields["spare"] = english.numbers[words[at + 2]]
                draft.determined = True
                return 3
        elif word in english.numbers and not (word == "one" and not self._is_noun(words, at + 1)):
            draft.fields.setdefault("count", english.numbers[word])
        elif word == "one" and following == ["of"]:
            draft.fields["count"] = 1
        elif word == "half" and following and following[0] in english.definite:
            return 1
        elif word in ("few", "several", "some") and (word != "some" or following == ["of"]):
            draft.fields["uncounted"] = True
        elif word == "more" and draft.fields.keys() & {"count", "uncounted"}:
            draft.fields["other"] = True
        else:
            return 0
        draft.determined = True
        return 1

    def _determiner(self, words: Sequence[str], at: int, draft: _Draft) -> int:
        word, english = words[at], self._english
        if draft.states or draft.attributes:
            return 0
        said = words[at + 2] if at + 2 < len(words) else ""
        owned = self._lexicon.name_at(words, at + 2) if said else None
        is_said = not (owned or said in english.attributes | english.states.keys() | english.generic | english.attached)
        is_said |= not owned and not self._is_noun(words, at + 3)
        if (
            words[at + 1 : at + 2] == ["'s"]
            and not is_said
            and word not in english.function_words
            and self._is_noun(words, at + 2)
        ):
            draft.fields.update(owner=word, definite=True)
            draft.determined = True
            return 2
        if word not in english.determiners:
            return 0
        if word in english.pronouns and not self._is_noun(words, at + 1):
            return 0
        draft.determined = True
        draft.fields["definite"] = word in english.definite
        if word in ("my", "your", "his", "her", "their", "our"):
            draft.fields["owner"] = word
        if word == "another":
            draft.fields["other"] = True
        if word in ("these", "those"):
            draft.fields["plural"] = True
        return 1

    def _adjective(self, words: Sequence[str], at: int, draft: _Draft) -> int:
        word, english = words[at], self._english
        is_before_noun = self._is_noun(words, at + 1)
        is_known = word in english.attributes and words[at + 1 : at + 2] != ["of"]
        is_formed = word.endswith("est") or (word.endswith(("ed", "ing")) and english.base_form(word))  # "peeled"
        if word == "other":
            draft.fields["other"] = True
        elif word in english.states and (draft.determined or is_before_noun):
            draft.states.append(english.states[word])
        elif (is_known and (draft.determined or is_before_noun)) or (is_formed and draft.determined and is_before_noun):
            draft.attributes.append(word)
        else:
            return 0
        return 1

    def _is_noun(self, words: Sequence[str], at: int) -> bool:
        """Return whether a word can be, or lead to, the noun of a phrase."""
        if at >= len(words) or words[at] in PUNCTUATION:
            return False
        if self._lexicon.name_at(words, at) or self._lexicon.room_at(words, at):
            return True
        word, english = words[at], self._english
        if word in english.every or word in english.numbers or word == "other":
            return True
        return word not in english.function_words and english.prepositions.at(words, at) is None

    def _portion(self, words: Sequence[str], begin: int, at: int, draft: _Draft) -> NounPhrase | None:
        """Return "a slice of bread" as bread in pieces, and "the top of the fridge" as the fridge."""
        word = singular(words[at]) if at < len(words) else ""
        if at + 1 >= len(words) or words[at + 1] != "of":
            return None
        named = self._lexicon.name_at(words, at)
        if named and word not in self._english.attached and (named[1] > 1 or word not in self._english.measures):
            return None
        if word in self._english.measures:
            inner = self._plain(words, at + 2)
            return inner and replace(inner, text=_joined(words[begin : inner.end]), begin=begin, every=False)
        is_piece, is_part = word in self._english.pieces, word in self._english.parts or word in self._english.attached
        if not (is_piece or is_part):
            return None
        inner = self._plain(words, at + 2)
        if inner is None:
            return None
        states, attributes = (*draft.states, *inner.states), (*draft.attributes, *inner.attributes)
        inner = replace(inner, states=states, attributes=attributes)
        text = " ".join(words[begin : inner.end])
        if word == "rest":
            return replace(inner, text=text, begin=begin, every=True, other=True)
        if is_part:
            part = word if word in self._english.attached else ""
            return replace(inner, text=text, begin=begin, part=part, every=inner.every or "every" in draft.fields)
        if word == "half":
            return replace(inner, text=text, begin=begin, uncounted=True)
        counted = {name: draft.fields[name] for name in ("count", "every", "uncounted") if name in draft.fields}
        several = words[at] != word and "count" not in counted
        return replace(inner, text=text, begin=begin, pieces=True, plural=several, every=False, **counted)  # type: ignore[arg-type]

    def _headed(self, words: Sequence[str], begin: int, at: int, draft: _Draft) -> NounPhrase | None:
        """Return the phrase with its noun, or as what refers back."""
        phrase = NounPhrase(
            "",
            begin,
            at,
            states=tuple(draft.states),
            attributes=tuple(draft.attributes),
            **draft.fields,  # type: ignore[arg-type]
        )
        word = words[at] if at < len(words) else ""
        if word in self._english.pronouns and not (word in ("this", "that") and draft.determined):
            return self._pronoun(words, phrase, at)
        if word == "rest" and draft.determined:
            return replace(phrase, text="the rest", end=at + 1, pronoun="them", every=True, other=True)
        if at < len(words):
            found = self._nouns(words, at, phrase, draft)
            if found is not None:
                return replace(found, text=_joined(words[begin : found.end]))
        alone = (
            phrase.every
            or phrase.count > 1
            or phrase.other
            or (draft.determined and (draft.states or draft.attributes))
        )
        if at == begin or not alone:
            return None
        pronoun = "them" if phrase.every or phrase.count > 1 else "one"
        return replace(phrase, text=_joined(words[begin:at]), pronoun=pronoun, definite=True)

    def _pronoun(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        word, end = words[at], at + 1
        plural = phrase.plural or word in self._english.plural
        pronoun = "one" if word in ("one", "ones") else "them" if word == "they" else word
        if words[end : end + 1] in (["both"], ["all"]) and word == "them":
            both = words[end] == "both"
            phrase, end = replace(phrase, count=2 if both else 1, every=not both), end + 1
        if words[phrase.begin : phrase.begin + 2] == ["one", "of"]:
            pronoun, plural = "one", False
        text = _joined(words[phrase.begin : end])
        return replace(phrase, text=text, end=end, pronoun=pronoun, plural=plural)

    def _nouns(self, words: Sequence[str], at: int, phrase: NounPhrase, draft: _Draft) -> NounPhrase | None:
        room = self._lexicon.room_at(words, at)
        named = self._lexicon.name_at(words, at)
        stranger = self._lexicon.stranger_at(words, at)
        if stranger:
            return self._strange(words, phrase, at, at + stranger)
        if room is not None and (named is None or room[1] >= named[1]):
            return self._in_room(words, at, room, phrase, draft)
        word = words[at]
        is_row = singular(word) != word and bool(
            self._lexicon.group(word)
        )  # "the dishes": of more kinds than are called so
        if named is not None and not (is_row and named[1] == 1):
            return self._named(words, at, named, phrase, draft)
        if singular(word) in self._english.pieces and draft.determined:
            return replace(phrase, end=at + 1, pieces=True, plural=singular(word) != word)
        if word in self._english.matter:
            return self._strange(words, phrase, at, at + 1)
        for end in range(min(at + _USE, len(words)), at, -1):  # "something to write with", "fruit"
            group = self._lexicon.group(" ".join(words[at:end]))
            if group is not None and word not in ("one", "ones"):
                plural = singular(word) != word
                every = phrase.every or (plural and phrase.definite and phrase.count == 1 and not phrase.uncounted)
                if _is_one_of(words[phrase.begin : at]):
                    plural = every = False
                return replace(phrase, end=end, head=singular(word), group=group, plural=plural, every=every)
        if word in ("something", "anything") and words[at + 1 : at + 2] == ["to"] and at + 2 < len(words):
            return self._strange(words, phrase, at, at + 3)  # "something to eat"
        if self._is_unknown_noun(words, at, draft.determined):
            end = at + 1
            while self._is_unknown_noun(words, end, False) and not self._english.base_form(words[end]):
                end += 1
            return self._strange(words, phrase, at, end)
        return None

    def _in_room(
        self, words: Sequence[str], at: int, room: tuple[str, int], phrase: NounPhrase, draft: _Draft
    ) -> NounPhrase:
        end = at + room[1]
        behind = self._lexicon.name_at(words, end) if end < len(words) else None
        if behind is not None:
            return self._named(words, end, behind, replace(phrase, room=room[0]), draft)
        if self._is_unknown_noun(words, end, False):
            return self._strange(words, phrase, at, end + 1)
        return replace(phrase, end=end, head=room[0], room=room[0])

    def _named(
        self, words: Sequence[str], at: int, named: tuple[Called, int], phrase: NounPhrase, draft: _Draft
    ) -> NounPhrase:
        called, end = named[0], at + named[1]
        if words[end : end + 1] == ["'s"] and "".join(words[end + 1 : end + 2]) in self._english.attached:
            end += 1  # "the fridge's door"
        cut = self._pieces_behind(words, end)
        if cut:
            found = self._with_noun(words, at, end, called, phrase, cut)
            return replace(found, pieces=True, plural=found.plural or singular(words[cut - 1]) != words[cut - 1])
        behind = self._lexicon.name_at(words, end) if end < len(words) else None
        word = "".join(words[end : end + 1])
        if word in self._english.attached and (behind is None or word in ("door", "lid")):
            return self._with_noun(words, at, end, called, replace(phrase, part=word), end + 1)
        if behind is not None and not self._english.is_verb(word) and self._lexicon.is_furniture(called):
            return self._with_noun(words, end, end + behind[1], behind[0], phrase, end + behind[1])
        if self._is_unknown_noun(words, end, False) and not self._english.base_form(word):
            return self._strange(words, phrase, at, end + 1)
        if word == "of":
            return self._of(words, at, end, called, phrase)
        return self._with_noun(words, at, end, called, phrase, end)

    def _pieces_behind(self, words: Sequence[str], end: int) -> int:
        """Return where "[the bread] slices", "[the lettuce] 's slices" ends; 0 where no pieces are named."""
        at = end + (words[end : end + 1] == ["'s"])
        word = "".join(words[at : at + 1])
        if not word or singular(word) not in self._english.pieces:
            return 0
        following = "".join(words[at + 1 : at + 2])
        is_order = at == end and word == singular(word)  # "[wash the apple] slice it"
        is_order &= following in self._english.pronouns | self._english.determiners
        return 0 if is_order else at + 1

    def _of(self, words: Sequence[str], at: int, end: int, called: Called, phrase: NounPhrase) -> NounPhrase:
        """Return "a glass of water" with what is in it; "a box of matches" is no box that anybody knows."""
        after = past(words, end + 1, self._english.determiners | self._english.attributes)
        after += after < len(words) and words[after] in self._english.states
        if after < len(words) and words[after] in self._english.matter:
            found = self._with_noun(words, at, end, called, phrase, after + 1)
            return replace(found, matter=words[after])
        inner = self._plain(words, end + 1)
        if inner is not None and self._lexicon.is_furniture(inner.called):  # "the drawer of the desk"
            found = self._with_noun(words, at, end, called, phrase, inner.end)
            return replace(found, places=(*found.places, (INTO, inner)))
        return self._strange(words, phrase, at, inner.end if inner is not None else end + 1)

    def _with_noun(
        self, words: Sequence[str], at: int, end: int, called: Called, phrase: NounPhrase, behind: int
    ) -> NounPhrase:
        noun = " ".join(words[at:end])
        if self._lexicon.is_pair(noun) and phrase.count == 1 and not phrase.every:
            return self._strange(words, phrase, at, end)  # "my glasses" are no two cups
        if phrase.count == 2 and "both" in words[phrase.begin : at] and singular(words[end - 1]) == words[end - 1]:
            phrase = replace(phrase, count=1, plural=False)  # "both the apple and the tomato"
        is_plural = singular(words[end - 1]) != words[end - 1] and not self._lexicon.is_plural_name(noun)
        head = " ".join(map(singular, words[at:end]))
        plural = phrase.plural or is_plural
        every = phrase.every or (is_plural and phrase.count == 1 and not phrase.uncounted)
        if phrase.count == 1 and _is_one_of(words[phrase.begin : at]):
            plural = every = False
        return replace(phrase, end=behind, head=head, called=called, plural=plural, every=every)

    def _strange(self, words: Sequence[str], phrase: NounPhrase, at: int, end: int) -> NounPhrase:
        head = singular(words[end - 1])
        return replace(phrase, end=end, head=head, strange=True, text=_joined(words[phrase.begin : end]))

    def _is_unknown_noun(self, words: Sequence[str], at: int, determined: bool) -> bool:
        """Return whether a word is a noun that nobody knows. Behind a determiner it may look like a verb."""
        if at >= len(words):
            return False
        word, english = words[at], self._english
        if word in english.function_words or not word[0].isalnum() or word in english.numbers:
            return False
        if word in english.states or word in english.attributes or word in english.later or word.endswith("ly"):
            return False
        if english.prepositions.at(words, at) is not None and not determined:
            return False
        if word in english.generic or word in english.relative or word in english.parts:
            return determined or word in english.parts
        return determined or not english.is_verb(word)

    # --- what stands behind the noun

    def _relative(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Take "that is on the desk", "that is not dirty", "lying in the sink", "you washed", "with a spoon in it"."""
        at, english = phrase.end, self._english
        if words[at : at + 2] == ["over", "there"]:
            return replace(phrase, end=at + 2)
        if phrase.person or phrase.pronoun in ("it", "them", "this", "these"):
            return phrase
        begun = at < len(words) and words[at] in english.relative
        start = at + begun
        being = start + (begun and start < len(words) and words[start] in ("is", "are", "was", "were", "'s"))
        if being > start or (being < len(words) and words[being] in english.posed):
            denied = being > start and words[being : being + 1] == ["not"]
            being += denied
            being += being < len(words) and words[being] in english.posed | {"still", "already", "just"}
            placed = self.place(words, being)
            said, end = phrase if not denied else NounPhrase("one", pronoun="one"), 0
            if placed is not None and placed[0] in (INTO, NEAR, UNDER, FROM):
                said, end = replace(said, places=(*said.places, placed[:2])), placed[1].end
            elif being > start and being < len(words) and words[being] in english.states:
                said, end = replace(said, states=(*said.states, english.states[words[being]])), being + 1
            if not end:
                return phrase
            return replace(phrase, excluded=said, end=end) if denied else replace(said, end=end)
        handled = self._handled(words, phrase, start)
        if handled is phrase and phrase.definite and words[at : at + 1] == ["again"]:
            handled = replace(phrase, text=_joined(words[phrase.begin : at + 1]), handled="again", end=at + 1)
        return self._with_contents(words, handled)

    def _handled(self, words: Sequence[str], phrase: NounPhrase, at: int) -> NounPhrase:
        """Take "[the mug] you washed", "I left on the sofa", "you took out of the drawer"."""
        english, who = self._english, words[at] if at < len(words) else ""
        if who not in ("i", "you", "we", "he", "she", "they"):
            return phrase
        at += 1
        at = past(words, at, english.before_deed)
        verb = words[at] if at < len(words) else ","
        if not (
            english.base_form(verb)
            or english.is_verb(verb)
            or verb.endswith(("ing", "ed"))
            or verb in ("saw", "used", "bought", "left", "need")
        ):
            return phrase
        state = english.states.get(words[at])
        end = at + 1
        end += words[at] == "left" and end < len(words) and words[end] in english.wanted
        placed = self.place(words, end)
        if who == "you":  # where it went is no more than what tells it apart: another place, or none, is where it goes
            behind = self._past_time(words, placed[1].end) if placed is not None else end
            timed = placed is not None and behind > placed[1].end
            is_told = placed is not None and (timed or placed[0] == FROM or self.place(words, behind) is not None)
            end = behind if is_told else self._past_time(words, end)
            text = _joined(words[phrase.begin : end])
            return replace(phrase, text=text, handled=who, definite=True, states=_with(phrase, state), end=end)
        placed = None if placed is None or words[at] not in english.lying or placed[2] in english.directed else placed
        places = phrase.places if placed is None else (*phrase.places, placed[:2])
        end = self._past_time(words, end if placed is None else placed[1].end)
        return replace(phrase, handled=who, definite=True, states=_with(phrase, state), places=places, end=end)

    def _past_time(self, words: Sequence[str], at: int) -> int:
        """Return where "[you washed] this morning", "[you took] it from" ends."""
        while at < len(words):
            if words[at] in ("this", "last") and words[at + 1 : at + 2] and words[at + 1] in self._english.day_parts:
                at += 2
            elif words[at] in self._english.behind_deed:
                at += 1
            else:
                break
        return at

    def _with_contents(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        found = self._english.prepositions.at(words, phrase.end)
        if found is None or found[0] != WITH or words[phrase.end] != "with":
            return phrase
        inner = self.read(words, phrase.end + 1)
        if inner is None or words[inner.end : inner.end + 2] not in (["in", "it"], ["on", "it"], ["in", "them"]):
            return phrase
        return replace(phrase, contents=inner, end=inner.end + 2)

    def _excluding(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Take "not the red one", "except the glass", "but one" behind a phrase as what is ruled out."""
        at = past(words, phrase.end, (",",))
        at += words[at : at + 1] in (["but"], ["and"]) and words[at + 1 : at + 2] in (["not"], ["except"])
        length = next((len(one) for one in _RULING_OUT if list(words[at : at + len(one)]) == one), 0)
        if not length or (words[at] == "but" and not phrase.every):
            return phrase
        excluded = self.read(words, at + length)
        if excluded is None:
            return phrase
        placed = self.place(words, excluded.end)
        if placed is not None and excluded.text == "the one":  # "not the one on the desk"
            excluded = replace(excluded, places=(placed[:2],), end=placed[1].end)
        closing = words[phrase.end : phrase.end + 1] == [","] == words[excluded.end : excluded.end + 1]
        if closing and words[excluded.end + 1 : excluded.end + 2] not in (["and"], ["or"]):
            excluded = replace(excluded, end=excluded.end + 1)
        bare = excluded.pronoun and excluded.text in self._english.numbers
        if phrase.every and bare and not excluded.places:
            return replace(phrase, spare=self._english.numbers[excluded.text], end=excluded.end)
        return replace(phrase, excluded=excluded, end=excluded.end)

    def _apposed(self, words: Sequence[str], phrase: NounPhrase) -> NounPhrase:
        """Take ", the one on the desk", ", a gift from Ana," and ", Karl," behind a phrase as said of the same thing,
        or as the name of the same person; not where a row of things goes on."""
        inner = self.read(words, phrase.end + 1, places=True) if words[phrase.end : phrase.end + 1] == [","] else None
        if inner is None:
            return phrase
        closed = words[inner.end : inner.end + 1] == [","]
        if words[inner.end : inner.end + 1] not in ([], [","], ["."]) or (
            closed and words[inner.end + 1 : inner.end + 2] in (["and"], ["or"])
        ):
            return phrase
        end = inner.end + closed
        if phrase.strange and phrase.owner and self._lexicon.is_person(inner.text):
            return replace(inner, begin=phrase.begin, end=end)
        if phrase.called is None or not inner.text.split()[1:]:
            return phrase
        if inner.pronoun == "one" and not (inner.other or (inner.attributes and phrase.attributes)):
            return replace(told_apart(phrase, inner), end=end)
        is_remark = inner.strange and inner.indefinite and phrase.definite and (closed or inner.places)
        return replace(phrase, end=end) if is_remark else phrase


def again(targets: Sequence[NounPhrase]) -> tuple[NounPhrase, ...]:
    """Return the pronoun for things that were just named."""
    several = len(targets) > 1 or targets[0].plural or targets[0].count > 1
    word = "them" if several else "it"
    return (NounPhrase(word, pronoun=word, plural=several),)


def told_apart(phrase: NounPhrase, one: NounPhrase) -> NounPhrase:
    """Return a phrase with what "the red one" tells of its thing."""
    return replace(
        phrase,
        attributes=(*phrase.attributes, *one.attributes),
        states=one.states or phrase.states,
        other=phrase.other or one.other,
        places=(*phrase.places, *one.places),
        excluded=one.excluded or phrase.excluded,
    )


# What is said before what a phrase does not mean; "but" only behind all of something.
_RULING_OUT = (["instead", "of"], ["rather", "than"], ["except", "for"], ["apart", "from"], ["other", "than"], ["not"],
               ["except"], ["but"])  # fmt: skip


def _is_one_of(words: Sequence[str]) -> bool:
    """Return whether the words before a noun take one of several: "one of the"."""
    return "one" in words and "of" in words


def _with(phrase: NounPhrase, state: ObjectState | None) -> tuple[ObjectState, ...]:
    return (*phrase.states, state) if state is not None else phrase.states


def _joined(words: Sequence[str]) -> str:
    return " ".join(words).replace(" 's", "'s")
