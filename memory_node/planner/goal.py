"""What an instruction asks for, in the planner's own terms, and whether it is met: each goal in its order, and the last
wish about each thing at the end.

"Fill the mug, then empty it" is not met by an empty mug that was never full, and is met by one that was. "Lettuce into
the sink, then onto a plate" does not want it in both places at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.names import may_be_meant, singular
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.world.state import Thing, WorldState


@dataclass(frozen=True)
class Mention:
    """A thing as an instruction speaks of it.

    text: the words. candidates: classes that they may mean, likeliest first; () when nothing fits. states: what the
    words say of it already ("the clean ..."). another: explicitly not the one just handled; of a place: not where the
    target is now. referring: it was spoken of before. original_place: it stands for where the target was at first
    ("back where it belongs"). beside: not in or on it, but where it stands itself. guessed: nothing is called so; what
    is most like the words was taken. stand_ins: classes that may take its part where none of the candidates is found.
    room: that it is in, and of a place that the words leave to the robot, which has no candidates. on: classes of what
    it is on or in, () for anything; no other thing is meant; off: of what it is neither on nor in; unlike: states that
    it is not in. thing_id: memory's id of the one thing that is meant, "" for any that fits. looks: stems of what else
    was said of it, of which its description has some; empty: nothing.
    """

    text: str
    candidates: tuple[str, ...] = ()
    states: tuple[ObjectState, ...] = ()
    another: bool = False
    referring: bool = False
    original_place: bool = False
    beside: bool = False
    guessed: bool = False
    stand_ins: tuple[str, ...] = ()
    room: str = ""
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    unlike: tuple[ObjectState, ...] = ()
    thing_id: str = ""
    looks: frozenset[str] = frozenset()

    @property
    def object_class(self) -> str:
        """The likeliest class, or "" when nothing fits."""
        return self.candidates[0] if self.candidates else ""

    def __str__(self) -> str:
        return self.object_class or self.text


@dataclass(frozen=True)
class Condition:
    """What a goal waits for: asked, a TELL goal of a state, is answered with yes, or where not `holds` with no."""

    asked: Goal
    holds: bool


@dataclass(frozen=True)
class Goal:
    """One thing to be achieved; see GoalKind.

    text: the words that ask for it. count: how many targets; every: all that there are. sliced: pieces of it.
    treatment: the catalogue's that the words name, "" for the usual one of the kind. asked: what TELL is to answer:
    "place", "contents", "count", "exists" or a state's word; FIND looks into a thing and tells its "contents".
    place: where TELL asks whether a thing is. spared: classes that are not told of, or not handled. condition: it is
    pursued only if that is so.
    """

    kind: GoalKind
    target: Mention
    destination: Mention | None = None
    container: Mention | None = None
    light: Mention | None = None
    sliced: bool = False
    count: int = 1
    every: bool = False
    asked: str = ""
    text: str = ""
    treatment: str = ""
    place: Mention | None = None
    spared: tuple[str, ...] = ()
    condition: Condition | None = None

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Everything that it speaks of."""
        parts = (self.target, self.destination, self.container, self.light)
        return tuple(one for one in parts if one is not None)

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidValueError(f"Goal.count: expected at least 1, got {self.count}")

    def with_mentions(self, meant: Callable[[Mention], Mention]) -> Goal:
        """Return it with what its target and destination mean."""
        destination = self.destination and meant(self.destination)
        return replace(self, target=meant(self.target), destination=destination)

    def changed(self, **changes: Any) -> Goal:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)

    def __str__(self) -> str:
        quantity = "" if self.asked else "all" if self.every else f"{self.count} x" if self.count > 1 else ""
        words = [str(self.kind), quantity, "sliced" if self.sliced else "", str(self.target), self.asked]
        words += [f"in {self.container}"] if self.container else []
        words += [f"to {self.destination}"] if self.destination else []
        words += [f"with {self.light}"] if self.light else []
        return " ".join(word for word in words if word)


_S = ObjectState
# Kinds that cannot be checked: where somebody stood, what was said.
UNTOLD = frozenset(kind for kind, goal in GOALS.items() if not goal.checked)


@dataclass(frozen=True)
class Judgement:
    """What a check says of all goals. reasons: for each goal what of it is not so, "" for one that is met."""

    reasons: tuple[str, ...]

    @property
    def unmet(self) -> tuple[str, ...]:
        """What is not so, in words; empty where nothing is amiss."""
        return tuple(filter(None, self.reasons))

    @property
    def goal_index(self) -> int:
        """The place of the first goal that is not met, their number where all are."""
        return next((index for index, reason in enumerate(self.reasons) if reason), len(self.reasons))


def _most_together(placed: Sequence[Thing]) -> list[Thing]:
    """Return those in the one place that has most of them."""
    places = Counter(thing.container for thing in placed)
    fullest = max(places, key=lambda place: places[place], default="")
    return [thing for thing in placed if thing.container == fullest]


class GoalCheck:
    """The home as it is believed to be."""

    def __init__(self, state: WorldState) -> None:
        self._state = state
        self._kinds = state.kinds
        held = state.things.get(state.held or "")
        self._held = held.object_class if held is not None else ""

    def unmet(self, goal: Goal) -> str:
        """Return what of a goal is not so, in words for planner and people; "" when nothing is amiss.

        What nobody can tell of a home (where somebody stood, "back where it belongs") is taken for done.
        """
        if GOALS[goal.kind].in_hand:
            return self._unmet_in_hand(goal)
        if goal.kind is GoalKind.THROW:
            return f"the hand still holds {self._held}" if self._is(self._held, self._wanted_classes(goal)) else ""
        if goal.kind in UNTOLD:
            return ""
        if goal.kind is GoalKind.DROP:
            return f"the hand still holds {self._held}" if self._held else ""
        if goal.kind is GoalKind.BREAK and not self._state.of_class(*self._wanted_classes(goal)):
            return ""
        there = self._in_wanted_state(goal)
        if goal.kind is GoalKind.SLICE:
            return "" if there else f"no {goal.target} is cut"
        return self._unmet_state(goal, there) or self._unmet_place(goal, there)

    def _unmet_in_hand(self, goal: Goal) -> str:
        people = frozenset(self._people_meant(goal))
        if any(found.container in people for found in self._state.of_class(*self._wanted_classes(goal))):
            return ""
        if not self._is(self._held, self._wanted_classes(goal)):
            return f"the hand holds {self._held or 'nothing'}, not {goal.target}"
        if goal.kind is GoalKind.EXAMINE and goal.light is not None:
            lights = self._state.of_class(*goal.light.candidates)
            if not any(_S.ON in light.states for light in lights):
                return f"{goal.light} is not on"
        if people and goal.destination is not None and self._state.at not in people:
            return f"the robot holds {self._held}, but does not stand at {min(people)}"
        return ""

    def _people_meant(self, goal: Goal) -> list[str]:
        """Return the keys of the persons to whom a thing is to be fetched; of all who are known where none is named."""
        if goal.kind is not GoalKind.FETCH:
            return []
        people, place = self._state.of_class(self._kinds.recipient), goal.destination
        if place is not None and self._kinds.recipient not in place.candidates:
            return []
        meant = [one.id for one in people if place is not None and place.thing_id and one.memory_id == place.thing_id]
        return meant or [one.id for one in people]

    def _unmet_state(self, goal: Goal, there: Sequence[Thing]) -> str:
        """Return what is amiss with the state of one, or of all that are meant. there: those that are as wanted."""
        states = GOALS[goal.kind].wants
        if not states:
            return ""
        wanted = " or ".join(sorted(map(str, states)))
        if not there:
            return f"no {goal.target} is {wanted}"
        left = [found for found in self._all_meant(goal) if not states & found.states] if goal.every else ()
        return f"{len(left)} {goal.target} not {wanted}" if left else ""

    def _all_meant(self, goal: Goal) -> Sequence[Thing]:
        """Return what a goal is about, in the room and the states that it speaks of ("all the open windows")."""
        there, said = self._in_room(goal, self._state.of_class(*self._wanted_classes(goal))), set(goal.target.states)
        return [found for found in there if said & found.states] if said else there

    def _unmet_place(self, goal: Goal, targets: Sequence[Thing]) -> str:
        place = goal.destination
        if place is None:
            return ""
        if self._is(self._held, self._wanted_classes(goal)) and goal.count == 1 and len(targets) <= 1:
            return f"the hand still holds {self._held}"
        if place.beside or place.original_place or not place.candidates:
            return ""
        if goal.container is not None:
            return self._unmet_stack(goal, goal.container, place, targets)
        placed = self._placed(goal, targets, place)
        if goal.every:
            return self._left_over(goal, targets, {found.id for found in placed})
        if len(placed) >= goal.count:
            return ""
        return f"{len(placed) or 'no'} {goal.target} of {goal.count} in or on {place}"

    def _left_over(self, goal: Goal, targets: Sequence[Thing], placed: Collection[str]) -> str:
        """Return what is amiss where all things are to go to a place. placed: keys of those that are there."""
        left = [found for found in self._in_room(goal, targets) if found.id not in placed]
        if goal.target.room and not (left or placed):
            return f"no {goal.target} is known in the {goal.target.room}"
        return f"{len(left)} {goal.target} not in or on {goal.destination}" if left else ""

    def _in_room(self, goal: Goal, targets: Sequence[Thing]) -> Sequence[Thing]:
        """Return those in the room that a goal speaks of, all where it speaks of none."""
        wanted, rooms = goal.target.room, {found.room for found in self._state}
        return [found for found in targets if may_be_meant(found.room, wanted, rooms)] if wanted else targets

    def _unmet_stack(self, goal: Goal, container: Mention, place: Mention, targets: Sequence[Thing]) -> str:
        """Return what is amiss with a thing in a container at a place."""
        vessels = self._ids_at(self._state.of_class(*container.candidates), place)
        if not vessels:
            return f"no {container} is in or on {place}"
        inside = any(found.container in vessels for found in targets)
        return "" if inside else f"no {goal.target} is in or on {container}"

    def _placed(self, goal: Goal, targets: Iterable[Thing], place: Mention) -> list[Thing]:
        """Return what lies where a goal wants it; several things that are to go to one place lie in the same one."""
        placed = self._resting_on(targets, place)
        *_, noun = place.text.lower().split() or [""]
        several_places = singular(noun) != noun
        return placed if goal.count == 1 or goal.every or several_places else _most_together(placed)

    def _ids_at(self, things: Iterable[Thing], place: Mention) -> frozenset[str]:
        return frozenset(found.id for found in self._resting_on(things, place))

    def _resting_on(self, targets: Iterable[Thing], place: Mention) -> list[Thing]:
        """Return those that are in or on a thing that the words may mean; where none is known, on what can stand in for
        it."""
        classes, of_class = self._kinds.with_wholes(place.candidates), self._state.of_class
        supports = {one.id for one in of_class(*classes) or of_class(*self._kinds.alike(classes))}
        return [target for target in targets if target.container in supports]

    def _in_wanted_state(self, goal: Goal) -> list[Thing]:
        """Return what a goal may be about, as it wants that to be: clean, warm, on, ..."""
        there, states = self._state.of_class(*self._wanted_classes(goal)), GOALS[goal.kind].wants
        return there if not states else [found for found in there if states & found.states]

    def _wanted_classes(self, goal: Goal) -> tuple[str, ...]:
        names = goal.target.candidates
        pieces = tuple(filter(None, (self._kinds[name].slices for name in names)))
        if goal.sliced or goal.kind is GoalKind.SLICE:
            # A goal may name the pieces themselves.
            return pieces or tuple(name for name in names if self._kinds.whole(name) != name)
        # What was cut is in its pieces: a goal about the apple is about them where no whole one is left.
        is_whole_left = self._state.of_class(*names) or self._is(self._held, names)
        return names if is_whole_left or not pieces else (*names, *pieces)

    def _is(self, name: str, classes: Iterable[str]) -> bool:
        return bool(name) and folded(name) in map(folded, classes)


_PLACE = "place"


class GoalHistory:
    """What became of goals so far. `watch` after each step, `judge` at any time.

    earlier: of the goals that these ones replace; one that is asked for again is as met as it was.
    """

    def __init__(self, goals: Sequence[Goal], kinds: ObjectCatalogue, earlier: GoalHistory | None = None) -> None:
        self._goals, self._kinds = tuple(goals), kinds
        self._wishes = [frozenset(_wishes(goal, kinds)) for goal in goals]
        met = [goal.changed(text="") for goal, is_met in earlier._pairs if is_met] if earlier is not None else []
        self._met = [goal.changed(text="") in met for goal in goals]

    @property
    def _pairs(self) -> Iterable[tuple[Goal, bool]]:
        return zip(self._goals, self._met)

    def watch(self, check: GoalCheck) -> None:
        """Note which goals are met now, after those before them about the same place or state of a thing."""
        for index, goal in enumerate(self._goals):
            if not self._met[index] and all(self._met[earlier] for earlier in self._before(index)):
                self._met[index] = not check.unmet(goal)

    def judge(self, check: GoalCheck) -> Judgement:
        """Return what of the goals is not so: one that was not met in its order, or a last wish that does not hold."""
        self.watch(check)
        return Judgement(tuple(self._reason(index, check) for index in range(len(self._goals))))

    def taken_back(self, check: GoalCheck) -> tuple[int, ...]:
        """Return the places of goals that were met and are no longer, although no later one asks for that. What was to
        be in the hand is left out: a later goal needs the hand."""
        undone = (index for index in range(len(self._goals)) if self._met[index] and self._reason(index, check))
        return tuple(index for index in undone if not GOALS[self._goals[index].kind].in_hand)

    def _reason(self, index: int, check: GoalCheck) -> str:
        goal, left = self._goals[index], self._last(index)
        if not self._met[index]:
            return check.unmet(goal) or f"{goal}: not done after what comes before it"
        if goal.kind in UNTOLD or not self._wishes[index]:
            return check.unmet(goal)
        if left == self._wishes[index]:
            return check.unmet(goal)
        if goal.container is not None:
            parts = (part for part in _parts(goal) if left.issuperset(_wishes(part, self._kinds)))
            return next(filter(None, map(check.unmet, parts)), "")
        still = _only(goal, {aspect for _, aspect in left})
        return check.unmet(still) if still is not None else ""

    @property
    def lasting(self) -> list[Goal]:
        """The goals that nothing later takes back."""
        return [goal for index, goal in enumerate(self._goals) if self._last(index) == self._wishes[index]]

    def _before(self, index: int) -> Iterable[int]:
        """Return the goals before one that are about the same."""
        return (earlier for earlier in range(index) if self._wishes[earlier] & self._wishes[index])

    def _last(self, index: int) -> frozenset[tuple[str, str]]:
        """Return the wishes of a goal that no later one takes back."""
        later = (self._wishes[one] for one in range(index + 1, len(self._goals)))
        return self._wishes[index].difference(*later)


def _wishes(goal: Goal, kinds: ObjectCatalogue) -> Iterable[tuple[str, str]]:
    """Yield what a goal wants, as (class of the whole thing, its place or a kind of state). "Another" thing is not the
    one of the goals before."""
    names = {kinds.whole(name) for name in goal.target.candidates}
    if goal.container is not None:
        for part in _parts(goal):
            yield from _wishes(part, kinds)
        return
    if goal.target.another:
        return
    states = GOALS[goal.kind].wants
    aspects = {"/".join(sorted({str(state), *map(str, state.opposites)})) for state in states}
    if goal.destination is not None or GOALS[goal.kind].in_hand or goal.kind in (GoalKind.DROP, GoalKind.THROW):
        aspects.add(_PLACE)
    yield from ((name, aspect) for name in names for aspect in aspects)


def _parts(goal: Goal) -> tuple[Goal, Goal]:
    """Return what a goal with a container wants: its target in that, and that at the place."""
    assert goal.container is not None
    inside = goal.changed(kind=GoalKind.PLACE, destination=goal.container, container=None)
    return inside, Goal(GoalKind.PLACE, goal.container, goal.destination)


def _only(goal: Goal, aspects: set[str]) -> Goal | None:
    """Return a goal with what it still wants: its place alone, or its state alone; None for nothing."""
    if not aspects:
        return None
    if _PLACE not in aspects:
        return goal.changed(destination=None)
    is_placed = bool(GOALS[goal.kind].wants) and goal.destination is not None and aspects == {_PLACE}
    return goal.changed(kind=GoalKind.PLACE) if is_placed else goal
