"""One robot in the ALFRED homes: it has a memory of each home, and takes along what its episodes taught."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.household_cases import Case
from benchmarks.household_faults import Chances, Faults
from benchmarks.household_goals import judge_of
from benchmarks.household_homes import Homes
from benchmarks.household_life import Life, Trial
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.guidance import GuidancePort
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.experience import Experience
from memory_node.memory import RobotMemory
from memory_node.planner.planner import Planner
from memory_node.sim.execution import ExecutionFaults

# Makes what compiles a memory at each step.
Guide = Callable[[RobotMemory], GuidancePort]


def guided_by_rules(memory: RobotMemory) -> GuidancePort:
    """Return the compiler that needs no model, as a planner node has it by default."""
    return memory.guidance.port("rules")


class Lives:
    """Carries out one case after the other. mode, experience, guidance: see Life. faults: of the executor and its
    skills; None: nothing goes wrong. seed: of the luck of each case. current: the life of the running case.
    """

    def __init__(
        self,
        mode: str,
        homes: Homes,
        embedder: TextEmbedder,
        planner: Planner,
        experience: Experience,
        faults: Faults | None,
        seed: int,
        guidance: Guide | None = guided_by_rules,
    ) -> None:
        self._homes = homes
        self._planner = planner
        self._faults = faults
        self._seed = seed
        self._begin = partial(Life, mode, embedder, planner, experience, guidance=guidance)
        self._kinds = load_catalogue()
        self._lives: dict[str, Life] = {}
        self.current: Life | None = None

    def run(self, case: Case, attempt: int = 1) -> Trial:
        """Carry out a case in its home; attempt: 1 for the first."""
        planner, skills = self._planner, ExecutionFaults()
        if self._faults is not None:
            planner, skills = self._faults.careless(self._planner, Chances(self._seed, case.id))
        if case.floor_plan not in self._lives:
            self._lives[case.floor_plan] = self._begin()
        self.current = life = self._lives[case.floor_plan]
        life.equip(planner, skills)
        return life.run(case, self._homes.world(case), partial(judge_of, case, kinds=self._kinds), attempt)
