"""What the phrases behind a verb mean for it: thing, destination, origin, tool or light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import FOR, FROM, INTO, LIT, NEAR, OF, UNDER, WITH, English, VerbSense
from memory_node.planner.language.noun_phrase import NounPhrase

_K = GoalKind
_POURING = frozenset({_K.FILL, _K.EMPTY})
_STATIONARY = frozenset({_K.SWITCH_ON, _K.SWITCH_OFF, _K.OPEN, _K.CLOSE, _K.FIND, _K.GO, _K.STOP, _K.WAIT, _K.BREAK})
Place = tuple[str, str, NounPhrase]


@dataclass
class Arguments:
    """What stands behind a verb. places: (sense of the preposition, its words, phrase); unread: words of no rule."""

    targets: list[NounPhrase] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    alternatives: bool = False
    particle: str = ""
    there: bool = False
    here: bool = False
    back: bool = False
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Command:
    """One command as phrases.

    verb: its word; for TELL what is asked. targets: what it is done with, one after the other; `alternatives`: either
    of them. contents: what the target has in it. within: what it is put into before that goes to the destination ("an
    apple in a bowl on the table"). destination: where that goes, `near`: beside or `under` it. origin: where it is
    taken from. instrument: what is used. light: to look at it with. back: to where it was; away: out of sight. there:
    where the last thing went; here: to the person. unread: words that no rule explains. treatment: the catalogue's that
    the verb names.
    """

    kind: GoalKind
    verb: str
    targets: tuple[NounPhrase, ...] = ()
    alternatives: bool = False
    destination: NounPhrase | None = None
    near: bool = False
    under: bool = False
    origin: NounPhrase | None = None
    instrument: NounPhrase | None = None
    light: NounPhrase | None = None
    contents: NounPhrase | None = None
    within: NounPhrase | None = None
    to_user: bool = False
    away: bool = False
    back: bool = False
    there: bool = False
    here: bool = False
    text: str = ""
    unread: tuple[str, ...] = ()
    treatment: str = ""

    @property
    def phrases(self) -> tuple[NounPhrase, ...]:
        """Every phrase of the command."""
        others = (self.destination, self.origin, self.instrument, self.light, self.contents, self.within)
        return (*self.targets, *(phrase for phrase in others if phrase is not None))


def framed(sense: VerbSense, found: Arguments, text: str, english: English) -> Command:
    """Return the command that a verb and what stands behind it make."""
    unread = list(found.unread)
    if found.particle:
        sense = english.with_particle(sense.word, found.particle) or replace(
            sense, back=sense.back or found.particle == "back"
        )
    if sense.kind is None and any(words.split()[0] == "out" for _, words, _ in found.places):  # "let it out of ..."
        sense = english.with_particle(sense.word, "out") or sense
    if sense.kind is None:
        unread.append(sense.word)
    command = Command(
        sense.kind or _K.PLACE,
        sense.word,
        tuple(found.targets),
        found.alternatives,
        away=sense.away,
        back=sense.back or found.back,
        there=found.there,
        here=found.here,
        text=text,
        unread=tuple(unread),
        treatment=sense.treatment,
    )
    if sense.word in english.stopping and not command.targets and not found.places:
        return replace(command, kind=_K.STOP)
    if command.kind in (_K.STOP, _K.WAIT) and not found.places:
        named = tuple(one for one in command.targets if one.named)
        return replace(command, kind=_K.SWITCH_OFF if named else command.kind, targets=named)
    if sense.here or _goes(command, found.places):
        return _stationary(replace(command, kind=_K.GO, to_user=sense.here, unread=tuple(found.unread)), found.places)
    if command.kind in _STATIONARY:
        return _stationary(command, found.places)
    if command.kind is _K.EXAMINE or _is_held_to_light(command, found.places, english):
        return _examined(replace(command, kind=_K.EXAMINE), found.places)
    return _moved(command, sense, found.places, english)


def _goes(command: Command, places: Sequence[Place]) -> bool:
    """Return whether the robot itself is to move: "stand by the window"."""
    return (
        command.verb in ("stand", "go", "park", "move", "roll", "wait", "stop", "rest", "get", "drive", "walk")
        and not command.targets
        and bool(places)
    )


def _is_light(phrase: NounPhrase, english: English) -> bool:
    return bool(english.lights & set(phrase.head.split()[-1:]))


def _is_held_to_light(command: Command, places: Sequence[Place], english: English) -> bool:
    lamps = [phrase for _, _, phrase in places if _is_light(phrase, english)]
    if command.verb == "hold" and lamps:
        return True
    if any(sense == LIT for sense, _, _ in places):  # "hold a pen while turning on the lamp"
        return True
    lights = [phrase for sense, _, phrase in places if sense == UNDER and _is_light(phrase, english)]
    return command.verb in ("hold", "put", "bring", "place", "carry") and bool(lights)


def _stationary(command: Command, places: Sequence[Place]) -> Command:
    """Return the command on a thing that stays: places tell it from others."""
    carried = next((phrase for sense, _, phrase in places if sense == WITH), None)
    if command.kind is _K.SWITCH_ON and carried is not None and command.targets:
        return replace(command, kind=_K.EXAMINE, targets=(carried,), light=command.targets[0])
    sought = [phrase for sense, _, phrase in places if sense == FOR and not phrase.person]
    if command.kind is _K.FIND and sought and command.targets:  # "search the bedroom for my card"
        return replace(command, targets=(placed(sought[0], INTO, command.targets[0]),))
    targets, unread, destination = list(command.targets), list(command.unread), None
    for sense, preposition, phrase in places:
        if phrase.person and sense == FOR:
            continue
        if command.kind is _K.BREAK and preposition in ("into", "in") and targets:
            destination = phrase
        elif not targets and (command.kind is _K.GO or (sense == FOR and command.kind is _K.FIND)):
            targets.append(phrase)
        elif targets and sense not in (FOR, OF):
            targets[-1] = placed(targets[-1], sense, phrase)
        elif sense != FOR:
            unread += [*preposition.split(), phrase.text]
    return replace(command, targets=tuple(targets), destination=destination, unread=tuple(unread))


def _examined(command: Command, places: Sequence[Place]) -> Command:
    light, targets, unread = None, list(command.targets), list(command.unread)
    for sense, preposition, phrase in places:
        if sense in (UNDER, WITH, NEAR, LIT) or command.verb == "hold" or preposition in ("in", "at", "to", "by"):
            light = phrase
        elif sense in (INTO, FROM) and targets:
            targets[-1] = placed(targets[-1], sense, phrase)
        elif sense != FOR:
            unread += [*preposition.split(), phrase.text]
    return replace(command, targets=tuple(targets), light=light, unread=tuple(unread))


@dataclass
class _Around:
    """What the places behind a moving verb say of the thing; see Command. goals: where it may go."""

    command: Command
    targets: list[NounPhrase]
    unread: list[str]
    goals: list[Place] = field(default_factory=list)
    origin: NounPhrase | None = None
    instrument: NounPhrase | None = None
    contents: NounPhrase | None = None
    to_user: bool = False
    back: bool = False

    def take(self, place: Place, english: English) -> None:
        """Take the next place."""
        sense, preposition, phrase = place
        if phrase.person and sense in (INTO, FOR, NEAR):
            self.to_user |= sense != FOR or self.command.verb in ("get", "fetch", "bring", "grab")
        elif phrase.head in english.its_place and not phrase.named:
            self.back = True
        elif sense == FROM:
            self.origin = phrase
        elif sense == WITH:
            self._take_company(preposition, phrase)
        elif sense == UNDER and self.command.kind is _K.CLEAN:  # "under the tap"
            self.instrument = phrase
        elif sense in (INTO, UNDER) and phrase.pronoun == "it" and self.contents is not None:
            return  # "a mug with a spoon in it"
        elif sense == UNDER and self.goals:
            self.goals[-1] = (*self.goals[-1][:2], placed(self.goals[-1][2], sense, phrase))
        elif sense == OF and not self.targets:
            self.targets.append(phrase)
        elif sense in (INTO, NEAR, UNDER) and not _is_manner(self.command, phrase):
            self.goals.append(place)
        elif sense not in (FOR, INTO):
            self.unread += [*preposition.split(), phrase.text]

    def _take_company(self, preposition: str, phrase: NounPhrase) -> None:
        """Take what stands behind "with": a feature of the last place, contents, or what is used."""
        if self.goals and not phrase.refers_back:
            last = self.goals[-1]
            self.goals[-1] = (*last[:2], replace(last[2], attributes=(*last[2].attributes, phrase.text)))
        elif self.command.kind in (_K.PLACE, _K.FETCH) and not preposition.startswith("us"):
            self.contents = phrase
        else:
            self.instrument = phrase


def _moved(command: Command, sense: VerbSense, places: Sequence[Place], english: English) -> Command:
    """Return the command on a thing that moves: destination, origin, tool, and where it is are told apart."""
    around = _Around(command, list(command.targets), list(command.unread))
    around.to_user = (sense.to_user and not command.back) or command.here
    around.back = command.back
    for place in places:
        around.take(place, english)
    targets, origin = around.targets, around.origin
    if command.kind is _K.EMPTY and origin is not None:  # "pour the coffee out of the mug"
        targets, origin = [origin], None
    if command.kind is _K.SLICE and origin is not None and targets and targets[0].refers_back:  # "a slice off the loaf"
        targets, origin = [replace(origin, pieces=True)], None
    command = replace(
        command,
        targets=tuple(targets),
        origin=origin,
        instrument=around.instrument,
        contents=around.contents,
        back=around.back,
        unread=tuple(around.unread),
    )
    command = _with_vessel(command, around.goals, english)
    if command.verb in ("toss", "lob", "chuck") and around.to_user and not around.goals:
        command = replace(command, kind=_K.PLACE)
    return _destined(command, around.goals, around.to_user, english)


def _with_vessel(command: Command, goals: list[Place], english: English) -> Command:
    """Return the command on the vessel of a liquid: "put water in the kettle" fills it."""
    if len(command.targets) != 1 or command.targets[0].named or command.targets[0].head not in english.liquids:
        return command
    if command.origin is not None and (command.kind is _K.EMPTY or command.verb in english.letting):
        return replace(command, kind=_K.EMPTY, targets=(command.origin,), origin=None)
    if not goals or not goals[-1][2].named:
        return command
    kind = _K.FILL if command.kind in (_K.PLACE, _K.EMPTY) else command.kind
    return replace(command, kind=kind, targets=(goals.pop()[2],))


def _is_manner(command: Command, phrase: NounPhrase) -> bool:
    """Return whether a place says how it is cut: "in half", "into pieces"."""
    return command.kind is _K.SLICE and not phrase.named and not phrase.person


def _destined(command: Command, goals: Sequence[Place], to_user: bool, english: English) -> Command:
    """Give the command its destination: the last place that its verb moves things to; other places tell where it is."""
    kind = command.kind
    placing = kind in (_K.PLACE, _K.DROP, _K.THROW) and (not to_user or command.verb in english.serving)
    moving = [goal for goal in goals if goal[1] in english.directed or placing]
    inner = [goal for goal in moving if goal[0] == INTO]
    if len(inner) > 1 and inner[-1][2].head in english.compartments and inner[-1][2].attributes:
        inner = inner[:-1]  # "in the fridge, on the second shelf"
    elif len(inner) > 1 and inner[-2][2].head in english.compartments and inner[-1][1] in ("in", "of", "on"):
        inner = inner[:-1]  # "on a shelf in the cabinet"
    beside = [goal for goal in moving if goal[0] == NEAR]
    if beside and inner and inner[-1][2].head in english.parts and not inner[-1][2].named:
        inner = []  # "in the corner next to the shelf"
    told = [goal for goal in inner if goal[1] in english.directed]
    if told and inner[-1] not in told:  # "into the box on the dresser"
        inner = told
    last = inner[-1] if inner else moving[-1] if moving else None
    targets = command.targets
    others = [goal for goal in goals if goal is not last]
    stacked = kind is _K.PLACE and last is not None and last[1] not in english.directed and len(others) == 1
    within = others.pop()[2] if stacked and others[0][0] == INTO and others[0][1] not in english.directed else None
    for goal in others:
        if targets:
            targets = (*targets[:-1], placed(targets[-1], goal[0], goal[2]))
    destination = last[2] if last is not None else None
    to_user = to_user and destination is None
    moves = destination is not None or to_user or command.back or command.there
    if (kind in (_K.DROP, _K.FETCH) and moves) or (kind is _K.THROW and (command.away or destination is not None)):
        kind = _K.PLACE
    sense = last[0] if last is not None else ""
    if kind is _K.PLACE and command.verb in ("carry", "pull") and not moves:
        kind = _K.FETCH
    if command.verb == "put" and not targets and last is not None and last[1] == "on":  # "put on the lamp"
        kind, targets, destination = _K.SWITCH_ON, (last[2],), None
    if kind in _POURING:
        destination = None  # where it is poured to
    return replace(
        command,
        kind=kind,
        targets=targets,
        destination=destination,
        within=within,
        near=sense in (NEAR, UNDER),
        under=sense == UNDER,
        to_user=to_user,
    )


def placed(phrase: NounPhrase, sense: str, place: NounPhrase) -> NounPhrase:
    """Return the phrase of a thing that is at a place."""
    return replace(phrase, places=(*phrase.places, (sense, place)))
