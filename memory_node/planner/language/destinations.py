"""Where a command's thing goes: a place that it names, the person, the bin, back, or where the last thing went."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Mention
from memory_node.planner.language.asking_back import Question, Slot, UnclearError
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.surroundings import HomeClasses

_K = GoalKind
_MOVES_NOTHING = frozenset({_K.SLICE, _K.FILL, _K.EMPTY, _K.EXAMINE})
# "Put the book away" means out of sight; what other verbs do away with goes into the bin.
_CARRYING = frozenset(["carry", "take", "bring", "move", "lug", "haul"])
_TIDYING = frozenset(["put", "tidy", "clear", "pack", "store", "stow", "stash"])
_RIMS = frozenset(["edge", "rim", "ledge"])


class Destinations:
    """Finds destinations, and the lamps of commands to look at something.

    Raises (all methods that return a mention):
        UnclearError: the words leave open which place is meant.
    """

    def __init__(self, kinds: ObjectCatalogue, meaning: PhraseMeaning, home: HomeClasses, discourse: Discourse) -> None:
        self._kinds = kinds
        self._meaning = meaning
        self._home = home
        self._discourse = discourse

    def of(self, command: Command, target: Mention) -> Mention | None:
        """Return where the target goes; None where the command moves nothing, or does not tell."""
        if command.kind in _MOVES_NOTHING:
            return None
        if command.destination is not None:
            return self.into(command, target)
        if command.kind is _K.BREAK:
            return None
        if command.to_user:
            return self.person("me") if command.kind is _K.PLACE else None
        if command.away and command.kind is _K.PLACE and command.verb not in _TIDYING:
            return Mention("the bin", self._kinds.bins)
        if command.away and command.kind is _K.PLACE and self._meaning.guesses:
            return self._out_of_sight(target)
        if command.back:
            return Mention("where it was", original_place=True)
        return self._there() if command.there and command.kind is _K.PLACE else None

    def into(self, command: Command, target: Mention) -> Mention:
        """Return what the words for the destination mean."""
        phrase = command.destination
        assert phrase is not None
        if phrase.only_room:
            return self._somewhere_in(phrase.room)
        if command.near:
            beside = self._meaning.mention(phrase, Slot.DESTINATION)
            if command.under and self._kinds[beside.object_class].can(Property.BREWS):
                return beside  # a mug stands under the coffee machine when it stands in it
            if command.under and not self._meaning.guesses:
                raise UnclearError(self._instead_of_under(beside))
            return self._beside(beside)
        place = self._meaning.mention(phrase, Slot.DESTINATION, self.holds, partner=target.object_class)
        if self._is_on_rim(phrase, place):
            return self._beside(place)
        if command.verb in _CARRYING and place.candidates and not self.holds(place.object_class):
            return self._beside(place)  # "carry the vase to the lamp"
        return place

    def _instead_of_under(self, place: Mention) -> Question:
        name = self._kinds[place.object_class].best_name
        words = f"I cannot put anything under the {name}. Shall I put it beside the {name}?"
        return Question(words, (name,), slot=Slot.DESTINATION)

    def _beside(self, place: Mention) -> Mention:
        return Mention(f"beside {place}", place.candidates, beside=True, stand_ins=place.stand_ins)

    def _is_on_rim(self, phrase: NounPhrase, place: Mention) -> bool:
        """Return whether "on the edge of the sink" is said: not in it. The edge of a table is on the table."""
        kind = self._kinds[place.object_class]
        part, of, _ = phrase.text.partition(" of ")
        return bool(of) and bool(_RIMS & set(part.split())) and kind.holds == "in" and not kind.pickupable

    def person(self, words: str) -> Mention:
        """Return whom things are brought to, under the words for them."""
        return Mention(words, tuple(filter(None, (self._kinds.recipient,))))

    def light(self, command: Command) -> Mention:
        """Return the lamp to look at something with; by default one that is known before others."""
        lamps = self._kinds.reading_lights
        if command.light is None:
            known = tuple(name for name in lamps if name in self._home.all)
            others = tuple(name for name in lamps if name not in known)
            return Mention("the lamp", known + others, referring=True)
        return self._meaning.mention(command.light, Slot.LIGHT, lambda name: name in lamps)

    def holds(self, name: str) -> bool:
        """Return whether a thing of a class can be put in or on one of this class, or be given to it."""
        return self._kinds[name].is_receptacle or name == self._kinds.recipient

    def _somewhere_in(self, room: str) -> Mention:
        """Leave the place in a room to the robot; where nobody can be asked, the trained readers guess it."""
        if self._meaning.guesses:
            raise UnclearError(Question(f"Where in the {room}?", slot=Slot.DESTINATION))
        if self._home.rooms and room not in self._home.rooms:
            here = tuple(sorted(self._home.rooms))
            raise UnclearError(Question(f"I know no {room} here. Where do you mean?", here, Slot.DESTINATION))
        return Mention(room, room=room)

    def _out_of_sight(self, target: Mention) -> Mention:
        """Return where such a thing is kept, where nobody can say where "away" is: what memory knows before others."""
        order = self._kinds.hiding_places(target.object_class)
        known = [name for name in order if name in self._home.all]
        preferred = self._meaning.preferred(Slot.DESTINATION, known)
        places = dict.fromkeys((*filter(None, [preferred]), *known, *order))
        return Mention("away", tuple(places), guessed=True)

    def _there(self) -> Mention:
        if self._discourse.place is None:
            raise UnclearError(Question("Where do you mean?", slot=Slot.DESTINATION))
        return replace(self._discourse.place, referring=True)
