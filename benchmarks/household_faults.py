"""An executor that forgets preparations by habit, with skills that fail now and then: experience has to learn of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.planner.planner import PlannedStep, Planner, PlanningContext, PlanRun, relayed
from memory_node.sim.execution import ExecutionFaults

# Preparations that can be forgotten: the robot is then believed to be near, the door to be open.
_PREPARATIONS = frozenset({"GoToObject", "OpenObject"})


@dataclass
class Chances:
    """The luck of one task. It depends on the seed and the task alone: rows, orders and epochs differ by what the robot
    has learnt, not by luck."""

    seed: int
    task: str
    _asked: Counter[str] = field(default_factory=Counter)

    def drawn(self, what: str) -> float:
        """Return a number in [0, 1) for something that may go wrong, another one each time that it is asked for."""
        self._asked[what] += 1
        return self._generator(f"{what} {self._asked[what]}").random()

    def seed_of(self, what: str) -> int:
        """Return a seed for something that draws by itself."""
        return self._generator(what).randrange(2**31)

    def _generator(self, what: str) -> random.Random:
        return random.Random(f"{self.seed} {self.task} {what}")


@dataclass(frozen=True)
class Faults:
    """How an executor errs. Probabilities.

    habits: of the pairs of a preparation and a class, so many are misleading defaults: there it is forgotten with
    `by_habit`, elsewhere with `by_chance`. skill_failure: a skill fails by itself, though nothing was missing.
    """

    habits: float = 0.5
    by_habit: float = 0.9
    by_chance: float = 0.1
    skill_failure: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("habits", "by_habit", "by_chance", "skill_failure"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidValueError(f"Faults.{name}: expected 0 to 1, got {getattr(self, name)}")

    def careless(self, planner: Planner, chances: Chances) -> tuple[CarelessPlanner, ExecutionFaults]:
        """Return a planner that forgets, and how the robot's skills fail, by these chances."""
        return CarelessPlanner(planner, self, chances), ExecutionFaults(
            {"*": self.skill_failure}, chances.seed_of("skills")
        )

    def forgets(self, call: SkillCall, object_class: str, chances: Chances) -> bool:
        """Return whether a preparation is left out this time; habits are the same in every task and order."""
        if call.skill not in _PREPARATIONS:
            return False
        misled = random.Random(f"{self.seed} {call.skill} {object_class}").random() < self.habits
        return chances.drawn(f"{call.skill} {object_class}") < (self.by_habit if misled else self.by_chance)


class CarelessPlanner:
    """A planner that believes its forgotten preparations done; it notices them only when a later skill fails."""

    def __init__(self, inner: Planner, faults: Faults, chances: Chances) -> None:
        self._inner = inner
        self._faults = faults
        self._chances = chances

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the inner planner's steps without those that are forgotten; see planner.Planner."""
        classes: dict[str, str] = {}

        def carry_out(step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
            named = step.call.arguments[0]
            of_class = classes.get(named, named.partition("@")[0])
            if self._faults.forgets(step.call, of_class, self._chances):
                return SkillResult(step.call, True)
            result = yield step
            classes.update((change.object_id, change.object_class) for change in result.changes)
            if result.success and result.object_id:
                classes.setdefault(result.object_id, classes.get(named, of_class))
            return result

        return relayed(self._inner.run(instruction, situation), carry_out)
