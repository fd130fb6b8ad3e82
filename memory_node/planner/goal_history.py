"""Whether ordered goals are met: each was met in its order, and the last wish about each thing holds at the end.

"Fill the mug, then empty it" is not met by an empty mug that was never full, and is met by one that was. "Lettuce into
the sink, then onto a plate" does not want it in both places at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.planner.goal import Goal
from memory_node.planner.goal_check import UNTOLD, GoalCheck, Judgement

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
        reasons = tuple(self._reason(index, check) for index in range(len(self._goals)))
        return Judgement(reasons, self._settled(check))

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

    def _settled(self, check: GoalCheck) -> frozenset[str]:
        """Return the ids of what is to stay, by the goals that nothing later takes back."""
        last = (goal for index, goal in enumerate(self._goals) if self._last(index) == self._wishes[index])
        return frozenset().union(*map(check.settled, last))

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
