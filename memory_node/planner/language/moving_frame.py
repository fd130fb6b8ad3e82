"""What the phrases behind a verb mean that moves a thing: destination, origin, tool, or where the thing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import FOR, FROM, INTO, NEAR, OF, UNDER, WITH, English, VerbSense
from memory_node.planner.language.moved_matter import served, with_vessel, without_dirt
from memory_node.planner.language.moved_where import arrives, destined
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command, Place, placed

_K = GoalKind
_FETCHING = frozenset(["get", "fetch", "bring", "grab"])
_PUTTING = frozenset(["put", "place", "set", "leave", "keep", "store", "lay"])
_THROWN_TO = frozenset(["toss", "lob", "chuck"])


def moved(command: Command, sense: VerbSense, places: Sequence[Place], english: English) -> Command:
    """Return the command on a thing that moves: destination, origin, tool, and where it is are told apart."""
    around = _Around(command, english, list(command.targets), list(command.unread))
    here = command.here and command.kind is not _K.DROP  # "drop the ball here" is dropped
    around.to_user = (sense.to_user and not command.back) or here
    around.back = command.back
    for place in places:
        around.take(place)
    around.settle_company()
    if around.handed_back and not around.own_place:
        around.back = False  # "give me my watch back"
    around.to_user &= here or not around.back  # "bring the can back to its spot"
    command = served(without_dirt(around.command_so_far(), english), english)
    command = with_vessel(command, around.goals, english)
    if command.verb in _THROWN_TO and around.to_user and not around.goals:
        command = replace(command, kind=_K.PLACE)
    command = destined(command, around.goals, around.to_user, around.handed_back, english)
    if around.removed and command.kind is _K.PLACE and not (arrives(command) or command.away):
        return replace(command, kind=_K.FETCH)  # "slide the pot off the hob"
    return command


@dataclass
class _Around:
    """What the places behind a moving verb say of the thing; see Command.

    goals: where it may go. removed: it is taken off or out of its place. own_place: where it belongs is named.
    handed_back: the one who speaks is to have it.
    """

    command: Command
    english: English
    targets: list[NounPhrase]
    unread: list[str]
    goals: list[Place] = field(default_factory=list)
    origin: NounPhrase | None = None
    removed: bool = False
    instrument: NounPhrase | None = None
    contents: NounPhrase | None = None
    to_user: bool = False
    back: bool = False
    own_place: bool = False
    handed_back: bool = False

    def take(self, place: Place) -> None:
        """Take the next place by the first rule that knows it."""
        rules = (self._person, self._own_place, self._origin, self._company, self._tap, self._told, self._goal)
        if not any(rule(place) for rule in rules) and place.sense not in (FOR, INTO):
            self.unread += [*place.preposition.split(), place.phrase.text]

    def settle_company(self) -> None:
        """Put a thing beside what it is put with: "put the pen with the pencil"."""
        alone = self.command.kind is _K.PLACE and self.command.verb in _PUTTING and not (self.goals or self.back)
        if alone and self.contents is not None and self.contents.definite and self.contents.named:
            self.goals.append(Place(NEAR, "beside", self.contents))
            self.contents = None

    def command_so_far(self) -> Command:
        """Return the command with all but its destination."""
        targets, origin = self.targets, self.origin
        if self.command.kind is _K.EMPTY and origin is not None:  # "pour the coffee out of the mug"
            targets, origin = [origin], None
        if self.command.kind is _K.SLICE and origin is not None and targets and targets[0].refers_back:
            targets, origin = [replace(origin, pieces=True)], None  # "a slice off the loaf"
        return replace(
            self.command,
            targets=tuple(targets),
            origin=origin,
            instrument=self.instrument,
            contents=self.contents,
            back=self.back,
            unread=tuple(self.unread),
        )

    # Each rule takes a place, or returns False.

    def _person(self, place: Place) -> bool:
        """Take "to me", "for me"."""
        if not place.phrase.person or place.sense not in (INTO, FOR, NEAR):
            return False
        self.to_user |= place.sense != FOR or (self.command.verb in _FETCHING and not self.command.away)
        self.handed_back |= place.sense == INTO and place.phrase.head == "me"
        return True

    def _own_place(self, place: Place) -> bool:
        """Take "in its place"."""
        own = place.phrase.head in self.english.its_place and not place.phrase.named
        self.back |= own
        self.own_place |= own
        return own

    def _origin(self, place: Place) -> bool:
        """Take "from the desk"."""
        if place.sense != FROM:
            return False
        self.origin = place.phrase
        self.removed = place.preposition.startswith(("off", "out"))
        return True

    def _company(self, place: Place) -> bool:
        """Take what stands behind "with": a feature of the last place, contents, or what is used."""
        if place.sense != WITH:
            return False
        if self.command.verb == "load" and len(self.targets) == 1:  # "load the dishwasher with the plates"
            self.goals.append(Place(INTO, "into", self.targets.pop()))
            self.targets.append(place.phrase)
        elif self.goals and not place.phrase.refers_back:
            last = self.goals[-1]
            told = replace(last.phrase, attributes=(*last.phrase.attributes, place.phrase.text))
            self.goals[-1] = last._replace(phrase=told)
        elif self.targets and self.targets[-1].described:  # "the thing with the bristles"
            text = f"{self.targets[-1].text} {place.preposition} {place.phrase.text}"
            self.targets[-1] = replace(self.targets[-1], text=text)
        elif self.command.kind in (_K.PLACE, _K.FETCH) and not place.preposition.startswith("us"):
            self._feature_or_contents(place.phrase)
        else:
            self.instrument = place.phrase
        return True

    def _feature_or_contents(self, phrase: NounPhrase) -> None:
        """Take "[the cup] with the broken handle", "[the mug] with a spoon in it"."""
        part = phrase.head in self.english.attached | self.english.parts
        if part and self.targets and not phrase.named:
            self.targets[-1] = replace(self.targets[-1], attributes=(*self.targets[-1].attributes, phrase.text))
        else:
            self.contents = phrase

    def _tap(self, place: Place) -> bool:
        """Take "under the tap" behind "wash"."""
        if place.sense != UNDER or self.command.kind is not _K.CLEAN:
            return False
        self.instrument = place.phrase
        return True

    def _told(self, place: Place) -> bool:
        """Take what tells of a phrase before: "a mug with a spoon in it", "the shelf under the window"."""
        sense, phrase = place.sense, place.phrase
        if sense in (INTO, UNDER) and phrase.pronoun == "it" and self.contents is not None:
            return True
        if sense == UNDER and self.goals:
            last = self.goals[-1]
            self.goals[-1] = last._replace(phrase=placed(last.phrase, sense, phrase))
            return True
        if self._tells_origin(place):
            assert self.origin is not None
            self.origin = placed(self.origin, sense, phrase)
            return True
        if sense == OF and not self.targets:
            self.targets.append(phrase)
            return True
        return False

    def _tells_origin(self, place: Place) -> bool:
        """Return whether a place tells where the thing is taken from: "the pot from the cabinet over the sink"."""
        carried_to = self.to_user or self.command.kind is _K.FETCH
        return place.sense in (NEAR, UNDER) and self.origin is not None and not self.goals and carried_to

    def _goal(self, place: Place) -> bool:
        """Take where the thing may go; "in half" and "into pieces" say how it is cut."""
        phrase = place.phrase
        manner = self.command.kind is _K.SLICE and not (phrase.named or phrase.person or phrase.strange)
        if place.sense not in (INTO, NEAR, UNDER) or manner:
            return False
        if place.preposition == "over" and self.command.verb in self.english.draping:
            place = place._replace(sense=INTO)  # "hang the towel over the chair"
        if self._tells_lamp(place):
            last = self.goals[-1]
            self.goals[-1] = last._replace(phrase=placed(last.phrase, place.sense, place.phrase))
        else:
            self.goals.append(place)
        return True

    def _tells_lamp(self, place: Place) -> bool:
        """Return whether a place tells which lamp is meant: "next to the lamp on the desk"."""
        if place.sense != INTO or place.preposition in self.english.directed or not self.goals:
            return False
        last = self.goals[-1]
        return last.sense == NEAR and last.phrase.head in self.english.lights
