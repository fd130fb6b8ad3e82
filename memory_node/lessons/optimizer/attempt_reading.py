"""Reads an attempt by rules: the task's object, the sequence that worked and its places, the failures and their
causes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_node.domain.nouns import singular
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.method import GOAL, SEVERAL, Method
from memory_node.lessons.optimizer.attempt import Attempt, Deed, DeedKind
from memory_node.search.state_words import states_in

# Repetitions of one action from which it is a loop.
_LOOP = 3
# Places that the task does not name and that the robot went to with the thing in its hand, from which it searched on.
_SEARCHED = 2
# A search that saw fewer of the kinds of places than this share ended too early.
_FEW_PLACES = 0.6
_SEVERAL = frozenset(("two", "three", "four", "both", "several"))
_WORD = re.compile(r"[a-z]+")

# The skills that bring a thing into another state.
_CHANGING = tuple(name for name, skill in SKILLS.items() if any(fact.state is not None for fact in skill.effects))

# Root causes, in words that fit every task: the kind of error, and how to avoid it.
NOT_FOUND = "the thing was not seen, as kinds of places were never searched; search each kind once before any twice"
LOST_IN_LOOPS = "the same action was made again and again; after one place is searched go to a new one"
OTHER_THING = "a thing was picked up that the task does not name; compare a thing's name with the task first"
NOT_TAKEN = "the thing was seen but not picked up; pick it up when it is seen"
NOT_CHANGED = "the thing was put down without the state that the task asks for; bring that state about first"
NOT_BROUGHT = "the search went on with the thing in the hand; once it is in the hand go to its place"
ONE_OF_SEVERAL = "only one of several things was brought; count what is asked for, and go back to where others were"


def method_of(attempt: Attempt) -> Method:
    """Return what an attempt shows, as a method over kinds."""
    done = [deed for deed in attempt.deeds if deed.worked]
    thing, asked = target_of(attempt), set(words_of(attempt.query))
    handled = {deed.thing for deed in done if deed.kind in (DeedKind.TAKE, DeedKind.PUT, DeedKind.CHANGE)}
    places = tuple(p for p in _found_at(done, thing, asked) if p not in handled)
    looked = dict.fromkeys(_looked_in_vain(done, thing))
    # Where the robot went to take, bring or treat something, it did not look for the thing.
    used = {place for place, deed in _with_places(done) if deed.kind in (DeedKind.TAKE, DeedKind.PUT, DeedKind.CHANGE)}
    vain = tuple(p for p in looked if p not in {*places, *handled, *used} and not is_named(p, asked))
    if not attempt.success:
        return Method((), thing, (), places, vain, tuple(_root_causes(attempt, done, thing)))
    acting = _acting(done, thing)
    verbs = tuple(dict.fromkeys(deed.verb for deed in acting if deed.kind is not DeedKind.TAKE)) or ("find",)
    verbs += (SEVERAL,) if _SEVERAL & set(words_of(attempt.query)) else ()
    # A way made of declared skills alone is what every planner finds by itself.
    is_declared = all(deed.verb in SKILLS for deed in acting)
    way = () if is_declared else tuple(_step(deed, attempt.query) for deed in acting)
    return Method(verbs, thing, way, places, vain)


def target_of(attempt: Attempt) -> str:
    """Return the kind of thing that a task is about: one that it names and that was taken, else one that it names and
    that was seen, else ""."""
    asked = set(words_of(attempt.query))
    taken = [deed.thing for deed in attempt.deeds if deed.worked and deed.kind is DeedKind.TAKE]
    named = [thing for thing in taken if is_named(thing, asked)]
    if named:
        return max(dict.fromkeys(named), key=named.count)
    if attempt.success and taken:
        return taken[-1]
    places = {deed.place for deed in attempt.deeds} | set(attempt.places)
    seen = [kind for deed in attempt.deeds for kind in deed.seen if kind not in places]
    return next((kind for kind in seen if is_named(kind, asked)), "")


def is_named(kind: str, words: set[str]) -> bool:
    """Return whether some words name a kind: "ButterKnife" by "butterknife", or by "butter" and "knife".

    Or a skill: "CoolObject" by "cool".
    """
    parts = {singular(part.lower()) for part in re.findall(r"[A-Z]?[a-z]+", kind)} - {"object"}
    return bool(kind) and (singular(kind.lower()) in words or (bool(parts) and parts <= words))


def words_of(text: str) -> list[str]:
    """Return the words of a text in the singular and in small letters."""
    return [singular(word) for word in _WORD.findall(text.lower())]


def _acting(done: Sequence[Deed], thing: str) -> list[Deed]:
    """Return the actions that led to the goal, without travel, doors and things that were picked up in vain."""
    acting = [deed for deed in done if deed.kind in (DeedKind.TAKE, DeedKind.PUT, DeedKind.CHANGE)]
    kept: list[Deed] = []
    for deed in acting:
        last = kept[-1] if kept else None
        idle = last is not None and last.kind is DeedKind.TAKE and deed.kind is DeedKind.PUT
        if idle and last is not None and last.thing == deed.thing != thing:
            kept.pop()
        elif deed.kind is DeedKind.CHANGE and kept and kept[-1].way == deed.way:
            continue
        else:
            kept.append(deed)
    return kept


def _step(deed: Deed, query: str) -> str:
    """Return a step of a sequence. A place that the task names is written as "the goal", so that the sequence fits
    other places."""
    if deed.kind is DeedKind.TAKE:
        return f"{deed.verb} {deed.thing}"
    if deed.kind is DeedKind.PUT:
        place = GOAL if not deed.place or is_named(deed.place, set(words_of(query))) else deed.place
        return f"{deed.verb} {deed.thing} at {place}"
    return deed.way


def _found_at(done: Sequence[Deed], thing: str, asked: set[str]) -> Iterator[str]:
    """Yield the kinds of places where the thing was, those where it was taken first.

    A thing that already lay at its destination does not show where to look. asked: the words of the task.
    """
    if not thing:
        return
    seen_at: list[str] = []
    taken_at: list[str] = []
    brought: set[str] = set()
    for place, deed in _with_places(done):
        if deed.kind is DeedKind.TAKE and deed.thing == thing and place not in brought:
            taken_at.append(place)
        elif deed.kind is DeedKind.PUT and deed.thing == thing:
            brought.add(place)
        elif thing in deed.seen and place not in brought and not is_named(place, asked):
            seen_at.append(place)
    yield from dict.fromkeys(place for place in (*taken_at, *seen_at) if place)


def _looked_in_vain(done: Sequence[Deed], thing: str) -> Iterator[str]:
    """Yield the kinds of places that were looked at before the thing was taken, and did not show it."""
    for place, deed in _with_places(done) if thing else ():
        if deed.kind is DeedKind.TAKE and deed.thing == thing:
            return
        if deed.kind in (DeedKind.TRAVEL, DeedKind.LOOK, DeedKind.OPEN) and place and thing not in deed.seen:
            yield place


def _with_places(done: Sequence[Deed]) -> Iterator[tuple[str, Deed]]:
    """Yield each deed with the kind of place at which it was."""
    place = ""
    for deed in done:
        if deed.place:
            place = deed.place
        yield place, deed


def _root_causes(attempt: Attempt, done: Sequence[Deed], thing: str) -> Iterator[str]:
    """Yield why an attempt failed, the deepest cause first."""
    taken = [deed.thing for deed in done if deed.kind is DeedKind.TAKE]
    was_taken = thing in taken
    if not was_taken:
        yield from _before_taking(attempt, done, thing, taken)
    if _repeats(done):
        yield LOST_IN_LOOPS
    if was_taken:
        yield from _after_taking(attempt, done, thing)


def _before_taking(attempt: Attempt, done: Sequence[Deed], thing: str, taken: Sequence[str]) -> Iterator[str]:
    """Yield what kept a thing from being taken."""
    seen = bool(thing) and any(thing in deed.seen for deed in done)
    asked = set(words_of(attempt.query))
    if taken and not any(is_named(one, asked) for one in taken):
        yield OTHER_THING
    elif seen and not any(deed.kind is DeedKind.TAKE and deed.thing == thing for deed in attempt.deeds):
        yield NOT_TAKEN
    visited = {place for place, _ in _with_places(done) if place}
    known = set(attempt.places) | visited
    if not seen and len(visited) < _FEW_PLACES * len(known):
        yield NOT_FOUND


def _after_taking(attempt: Attempt, done: Sequence[Deed], thing: str) -> Iterator[str]:
    """Yield what kept a thing that was found from its goal."""
    put = [deed for deed in done if deed.kind is DeedKind.PUT and deed.thing == thing]
    changed = [deed for deed in done if deed.kind is DeedKind.CHANGE]
    asked = set(words_of(attempt.query))
    if _SEVERAL & asked and len(put) == 1:
        yield ONE_OF_SEVERAL
    elif not put and _searched_on(done, thing, asked):
        yield NOT_BROUGHT
    elif put and not changed and _asks_for_a_change(attempt.query, asked):
        yield NOT_CHANGED


def _asks_for_a_change(query: str, asked: set[str]) -> bool:
    """Return whether a task names a state of its thing, or a skill that brings one about."""
    return bool(states_in(query)) or any(is_named(skill, asked) for skill in _CHANGING)


def _searched_on(done: Sequence[Deed], thing: str, asked: set[str]) -> bool:
    """Return whether places were looked at while the thing was in the hand, that the task does not name."""
    taken = next(n for n, deed in enumerate(done) if deed.kind is DeedKind.TAKE and deed.thing == thing)
    after = done[taken + 1 :]
    places = {deed.place for deed in after if deed.kind in (DeedKind.OPEN, DeedKind.TRAVEL) and deed.place}
    left = [place for place in places if not is_named(place, asked)]
    return any(deed.kind is DeedKind.LOOK for deed in after) or len(left) >= _SEARCHED


def _repeats(done: Sequence[Deed]) -> bool:
    ways = [deed.text or deed.way for deed in done]
    return any(ways.count(way) >= _LOOP for way in set(ways))
