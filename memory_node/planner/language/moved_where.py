"""Which of several places is the destination of a thing that moves; the others tell where it is, or which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import INTO, NEAR, UNDER, English
from memory_node.planner.language.moved_matter import served_on_strange
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command, Place, placed

_K = GoalKind


def destined(command: Command, goals: Sequence[Place], to_user: bool, handed: bool, english: English) -> Command:
    """Give the command its destination: the last place that its verb moves things to; other places tell where it is.

    goals: where the thing may go. to_user: it goes to whom the robot works for unless a place is named; handed: that
    person is named.
    """
    told = handed or command.verb not in english.serving  # "serve it on a plate" names nobody
    served_on = _served_on(command, goals, to_user and told)
    if served_on is not None:
        return replace(command, kind=_K.PLACE, within=served_on, to_user=True)
    goal = _destination(_moved_to(command, goals, to_user, english), english)
    goal, others = _in_its_room(goal, [place for place in goals if place is not goal], goals)
    within = _carried_in(command, goal, others, english)
    sense = goal.sense if goal is not None else ""
    command = replace(
        command,
        targets=_told_by(command.targets, others if within is None else ()),
        unread=(*command.unread, *served_on_strange(command, others)),
        destination=goal.phrase if goal is not None else None,
        within=within,
        near=sense in (NEAR, UNDER),
        under=sense == UNDER,
        to_user=to_user and goal is None,
    )
    command = replace(command, kind=_kind_of_motion(command))
    if command.verb == "put" and not command.targets and goal is not None and goal.preposition == "on":
        return replace(command, kind=_K.SWITCH_ON, targets=(goal.phrase,), destination=None)  # "put on the lamp"
    return replace(command, destination=None) if command.kind is _K.FILL else command


def _in_its_room(
    goal: Place | None, others: list[Place], goals: Sequence[Place]
) -> tuple[Place | None, Sequence[Place]]:
    """Return a destination told by the room behind it, and the other places: "on the desk in the bedroom"."""
    if goal is None or not others or others[-1] is not goals[-1] or not others[-1].phrase.only_room:
        return goal, others
    return goal._replace(phrase=placed(goal.phrase, INTO, others[-1].phrase)), others[:-1]


def _served_on(command: Command, goals: Sequence[Place], to_user: bool) -> NounPhrase | None:
    """Return what a thing comes on: "bring it to me on a plate". A place cannot tell which "it" is."""
    again = len(command.targets) == 1 and command.targets[0].refers_back
    if not (again and to_user and len(goals) == 1 and goals[0].sense == INTO and goals[0].phrase.called):
        return None
    return goals[0].phrase if not goals[0].phrase.definite else None


def _moved_to(command: Command, goals: Sequence[Place], to_user: bool, english: English) -> list[Place]:
    """Return the places that the verb or their own preposition ("into") moves the thing to."""
    placing = command.kind in (_K.PLACE, _K.DROP, _K.THROW) and (not to_user or command.verb in english.serving)
    moving = [goal for goal in goals if placing or goal.preposition in english.directed]
    if command.kind is _K.THROW:  # "get rid of the foil on the counter", "throw the newspaper on the floor away"
        moving = [goal for goal in moving if not command.away or _disposes(goal, english)]
        moving = [goal for goal in moving if goal.phrase.head not in english.underfoot]
    only_rooms = bool(moving) and all(goal.phrase.only_room for goal in moving)
    return list(goals[goals.index(moving[0]) :]) if only_rooms else moving  # "to the bedroom, on the bed"


def _disposes(goal: Place, english: English) -> bool:
    """Return whether a place is where things are thrown away, or said to be where to."""
    return goal.preposition in english.directed or bool(english.disposing & set(goal.phrase.head.split()))


def _destination(moving: Sequence[Place], english: English) -> Place | None:
    """Return the last place that a thing goes into or onto; without one the last that it goes beside or under."""
    inner = _placed_in(_without_compartment([goal for goal in moving if goal.sense == INTO], english))
    if inner and _is_corner(inner[-1].phrase, english) and any(goal.sense == NEAR for goal in moving):
        inner = []  # "in the corner next to the shelf"
    directed = [goal for goal in inner if goal.preposition in english.directed]  # "into the box on the dresser"
    last = (directed or inner or moving)[-1:]
    return last[0] if last else None


def _placed_in(inner: list[Place]) -> list[Place]:
    """Return the places that are things, known or not, if any are: "to the bedroom, on the bed"."""
    return [goal for goal in inner if goal.phrase.called is not None or goal.phrase.strange] or inner


def _is_corner(phrase: NounPhrase, english: English) -> bool:
    """Return whether a phrase names a part of something that it does not say: "the corner"."""
    return phrase.head in english.plain_nouns and not phrase.named


def _without_compartment(inner: list[Place], english: English) -> list[Place]:
    """Return the places without a last one that only tells of the one before: of shelf and cupboard one is meant."""
    if len(inner) < 2:
        return inner
    before, last = inner[-2], inner[-1]
    if last.phrase.head in english.compartments and last.phrase.attributes:
        return inner[:-1]  # "in the fridge, on the second shelf"
    if before.phrase.head in english.compartments and last.preposition in ("in", "of", "on"):
        return inner[:-1]  # "on a shelf in the cabinet"
    return inner


def _carried_in(command: Command, goal: Place | None, others: Sequence[Place], english: English) -> NounPhrase | None:
    """Return what a thing is put into before that goes to its destination: "an apple in a bowl on the table"."""
    if command.kind is not _K.PLACE or goal is None or goal.preposition in english.directed or len(others) != 1:
        return None
    (other,) = others
    inner = other.sense == INTO and other.preposition not in english.directed and not other.phrase.only_room
    return other.phrase if inner else None


def _told_by(targets: tuple[NounPhrase, ...], places: Sequence[Place]) -> tuple[NounPhrase, ...]:
    """Return the targets, the last of them told by places."""
    for place in places if targets else ():
        targets = (*targets[:-1], placed(targets[-1], place.sense, place.phrase))
    return targets


def arrives(command: Command) -> bool:
    """Return whether the command tells where its thing goes."""
    return command.destination is not None or command.to_user or command.back or command.there


def _kind_of_motion(command: Command) -> GoalKind:
    """Return what a verb comes to: who fetches a thing to somewhere places it, who carries it nowhere fetches it."""
    kind = command.kind
    goes_there = arrives(command)
    discarded = kind is _K.THROW and (command.away or command.destination is not None)
    if discarded or (kind in (_K.DROP, _K.FETCH) and goes_there):
        kind = _K.PLACE
    if kind is _K.PLACE and command.verb in ("carry", "pull") and not goes_there:
        return _K.FETCH
    return kind
