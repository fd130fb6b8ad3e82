"""What the phrases behind a verb mean for it, by the kind of goal that the verb asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import FOR, FROM, INTO, LIT, NEAR, OF, UNDER, WITH, English, VerbSense
from memory_node.planner.language.moving_frame import moved
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Arguments, Command, Place, placed

_K = GoalKind
_STATIONARY = frozenset({_K.SWITCH_ON, _K.SWITCH_OFF, _K.OPEN, _K.CLOSE, _K.FIND, _K.GO, _K.STOP, _K.WAIT, _K.BREAK})
_GOING = frozenset(["stand", "go", "park", "move", "roll", "wait", "stop", "rest", "get", "drive", "walk", "sit"])
_RUNNING = frozenset(["run", "hold", "put", "stick"])
_HOLDING = frozenset(["hold", "put", "bring", "place", "carry"])


def framed(sense: VerbSense, found: Arguments, text: str, english: English) -> Command:
    """Return the command that a verb and what stands behind it make."""
    sense = _with_particle(sense, found, english)
    command, places = _unframed(sense, found, text), found.places
    if command.verb in english.exchanging:
        command = _exchanged(command, places)
    halt = _halt(command, places, english)
    if halt is not None:
        return halt
    if sense.here or _goes(command, places):
        places = [] if _leaves(command, places) else places
        elsewhere = _is_elsewhere(places)
        return _stationary(
            replace(command, kind=_K.GO, to_user=sense.here and not elsewhere, unread=tuple(found.unread)),
            places,
            english,
        )
    if _is_rinsed(command, places, english):
        return moved(replace(command, kind=_K.CLEAN, treatment=""), sense, places, english)
    if command.kind in _STATIONARY:
        return _stationary(command, [] if command.kind is _K.GO and _leaves(command, places) else places, english)
    if command.kind is _K.EXAMINE or _is_held_to_light(command, places, english):
        shone_on = _shone_on(command, places, english) if command.verb in english.shining else None
        return shone_on or _examined(replace(command, kind=_K.EXAMINE), places)
    return moved(command, sense, places, english)


def _with_particle(sense: VerbSense, found: Arguments, english: English) -> VerbSense:
    """Return what the verb means with its particle: "turn the lamp on", "let it out of ..."."""
    if found.particle:
        back = sense.back or found.particle == "back"
        sense = english.with_particle(sense.word, found.particle) or replace(sense, back=back)
    if sense.kind is None and any(place.preposition.split()[0] == "out" for place in found.places):
        return english.with_particle(sense.word, "out") or sense
    if sense.kind is None and any(place.sense in (FOR, INTO) for place in found.places):
        return english.with_particle(sense.word, FOR) or sense  # "look in the fridge [for the butter]"
    return sense


def _unframed(sense: VerbSense, found: Arguments, text: str) -> Command:
    """Return the command before its places are told apart. A verb of no known sense is unread."""
    return Command(
        sense.kind or _K.PLACE,
        sense.word,
        _without_summary(found.targets),
        found.alternatives,
        away=sense.away,
        back=sense.back or found.back,
        there=found.there,
        here=found.here,
        text=text,
        unread=(*found.unread, *([sense.word] if sense.kind is None else [])),
        treatment=sense.treatment,
    )


def _exchanged(command: Command, places: Sequence[Place]) -> Command:
    """Return the command of "heat an apple and replace it": back to where it was. To put another thing in its place
    ("replace it with a pear") is explained by no rule."""
    if any(place.sense == WITH or place.preposition == "by" for place in places):
        return replace(command, unread=(*command.unread, command.verb))
    return replace(command, back=command.back or (command.on_it and not places))


def _without_summary(targets: Sequence[NounPhrase]) -> tuple[NounPhrase, ...]:
    """Return the things of "both lamps, the desk lamp and the floor lamp" that are named one by one."""
    generic, others = (targets[0].called if targets else None), targets[1:]
    if generic is None or not targets[0].plural or len(others) < 2:
        return tuple(targets)
    if any(one.called is None or not set(one.called.own) & set(generic.all) for one in others):
        return tuple(targets)
    return tuple(others)


def _halt(command: Command, places: Sequence[Place], english: English) -> Command | None:
    """Return the command of "stop" and "wait"; to stop a thing is to switch it off. None for other commands."""
    if command.kind is _K.WAIT:  # "wait for me there"
        places = [place for place in places if not (place.sense == FOR and place.phrase.person)]
    if places:
        return None
    if command.verb in english.stopping and not command.targets:
        return replace(command, kind=_K.STOP)
    if _lets_be(command):
        return replace(command, kind=_K.STOP, targets=())
    if command.kind not in (_K.STOP, _K.WAIT):
        return None
    named = tuple(one for one in command.targets if one.named or (one.strange and one.definite))
    return replace(command, kind=_K.SWITCH_OFF if named else command.kind, targets=named)


def _lets_be(command: Command) -> bool:
    """Return whether nothing is to be done with what was spoken of: "forget it, leave it"."""
    placed = command.there or command.here or command.back
    targets = command.targets if command.verb == "leave" and not placed else ()
    return bool(targets) and all(one.refers_back and not one.states for one in targets)


def _goes(command: Command, places: Sequence[Place]) -> bool:
    """Return whether the robot itself is to move: "stand by the window"."""
    return command.verb in _GOING and not command.targets and any(place.sense != WITH for place in places)


def _leaves(command: Command, places: Sequence[Place]) -> bool:
    """Return whether it is only told where the robot is not to be: "get out of the kitchen"."""
    return not command.targets and all(place.sense in (FROM, OF) for place in places)


def _is_elsewhere(places: Sequence[Place]) -> bool:
    """Return whether the robot is called to another place than the person's: "come back to the kitchen"."""
    return any(not place.phrase.person and place.sense in (INTO, NEAR) for place in places)


def _is_rinsed(command: Command, places: Sequence[Place], english: English) -> bool:
    """Return whether a thing is held under running water: "run the cup under the tap"."""
    under = any(place.sense == UNDER and place.phrase.head in english.rinsing for place in places)
    return under and bool(command.targets) and command.verb in _RUNNING


# --- looking at a thing in the light


def _is_light(phrase: NounPhrase, english: English) -> bool:
    return bool(english.lights & set(phrase.head.split()[-1:]))


def _is_held_to_light(command: Command, places: Sequence[Place], english: English) -> bool:
    if any(place.sense == LIT for place in places):  # "hold a pen while turning on the lamp"
        return True
    lights = [place for place in places if _is_light(place.phrase, english)]
    if command.verb == "hold" and lights:
        return True
    return command.verb in _HOLDING and any(place.sense == UNDER for place in lights)


def _shone_on(command: Command, places: Sequence[Place], english: English) -> Command | None:
    """Read "shine the lamp on the keys": the keys are looked at."""
    lit = next((place.phrase for place in places if place.sense in (INTO, NEAR)), None)
    lamp = command.targets[0] if len(command.targets) == 1 and _is_light(command.targets[0], english) else None
    if lit is None or lamp is None or _is_light(lit, english):
        return None
    return replace(command, targets=(lit,), light=lamp)


def _examined(command: Command, places: Sequence[Place]) -> Command:
    light, targets, unread = None, list(command.targets), list(command.unread)
    for sense, preposition, phrase in places:
        if phrase.person:
            unread += [] if sense == FOR else [command.verb, phrase.text]  # "read me the newspaper"
        elif sense in (UNDER, WITH, NEAR, LIT) or command.verb == "hold" or preposition in ("in", "at", "to", "by"):
            light = phrase
        elif light is not None and sense in (INTO, NEAR):
            light = placed(light, sense, phrase)  # "under the lamp on the desk"
        elif sense in (INTO, FROM) and targets:
            targets[-1] = placed(targets[-1], sense, phrase)
        elif sense != FOR:
            unread += [*preposition.split(), phrase.text]
    return replace(command, targets=tuple(targets), light=light, unread=tuple(unread))


# --- things that stay where they are


def _stationary(command: Command, places: Sequence[Place], english: English) -> Command:
    """Return the command on a thing that stays."""
    return (
        _lit_while_carrying(command, places, english)
        or _searched_place(command, places)
        or _told_by_places(command, places)
    )


def _lit_while_carrying(command: Command, places: Sequence[Place], english: English) -> Command | None:
    """Read "turn on the lamp with the pen": the pen is looked at."""
    carried = next((place.phrase for place in places if place.sense == WITH), None)
    if command.kind is not _K.SWITCH_ON or carried is None or not command.targets:
        return None
    if not _is_light(command.targets[0], english):
        return None  # "turn on the TV with the remote"
    return replace(command, kind=_K.EXAMINE, targets=(carried,), light=command.targets[0])


def _searched_place(command: Command, places: Sequence[Place]) -> Command | None:
    """Read "search the bedroom for my card": the card is sought."""
    sought = [place.phrase for place in places if place.sense == FOR and not place.phrase.person]
    inside = [place.phrase for place in places if place.sense in (INTO, NEAR, UNDER)]  # "look in the fridge for butter"
    where = command.targets or inside
    if command.kind is not _K.FIND or not where:
        return None
    if not sought:  # "look in the fridge"
        kind = _K.GO if where[0].room else _K.FIND
        return None if command.targets or command.unread else replace(command, kind=kind, targets=(where[0],))
    return replace(command, targets=(placed(sought[0], INTO, where[0]),))


def _told_by_places(command: Command, places: Sequence[Place]) -> Command:
    """Return the command on a thing that its places tell from others. A thing is broken into its destination."""
    targets, unread, destination = list(command.targets), list(command.unread), None
    for sense, preposition, phrase in places:
        if phrase.person and sense in (FOR, WITH):  # "come with me to the garage"
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
