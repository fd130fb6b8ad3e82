from collections.abc import Sequence
from typing import Any, cast

import pytest

from memory_node.domain.clock import Clock
from memory_node.domain.ports import MemoryPort
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.experience import Experience
from memory_node.experience.extractor import RuleExtractor
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import PlannedStep, PlanOutcome, PlanProgress, PlanRun, ProgressKind, Situation

PUT = SkillCall("PutObject", ("Egg@1,1,1", "Fridge@2,2,1"))


class NoLog:
    def __init__(self) -> None:
        self.episodes: dict[str, EpisodeSummary] = {}

    def put_episode(self, episode: EpisodeSummary) -> None:
        self.episodes[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        pass

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        pass

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        pass


class ForgetfulPlanner:
    """Never opens the fridge; gives up after so many failures."""

    def __init__(self, tries: int) -> None:
        self._tries = tries

    def carry_out(self, instruction: str, situation: Situation) -> PlanRun:
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("place Egg to Fridge",)))
        for _ in range(self._tries):
            result = yield PlannedStep(PUT)
            if result.success:
                return PlanOutcome(("place",), (True,))
        return PlanOutcome(("place",), (False,))


def live(planner: GuidedPlanner) -> list[str]:
    """Carry out one instruction with a closed fridge; return the steps, failed ones with a minus."""
    run = planner.carry_out("put the egg away", Situation(cast("MemoryPort", None), _ignore, _ignore, "Egg", "egg1"))
    opened, steps = False, []
    try:
        step = next(run)
        while True:
            opened = opened or step.call.skill == "OpenObject"
            done = step.call.skill != "PutObject" or opened
            steps.append(f"{'' if done else '-'}{step.call.skill}")
            step = run.send(SkillResult(step.call, done, FailureReason.NONE if done else FailureReason.CLOSED))
    except StopIteration:
        return steps


def _ignore(_: object) -> None:
    return None


def experience_with(*parts: str) -> Experience:
    config = ExperienceConfig(parts=frozenset(parts))
    return Experience(config, RuleExtractor(), NoLog(), now_ns=lambda: 0)


@pytest.fixture
def clock() -> Clock:
    return lambda: 0


def lives(experience: Experience, tries: int, clock: Clock, count: int = 2) -> list[list[str]]:
    planner = GuidedPlanner(ForgetfulPlanner(tries), experience, clock)
    seen = []
    for _ in range(count):
        seen.append(live(planner))
        assert experience.wait_settled(timeout_s=10.0)
    experience.close()
    return seen


def test_without_experience_the_same_mistake_is_made_for_ever(clock: Clock) -> None:
    assert lives(experience_with(), 2, clock) == [["-PutObject", "-PutObject"]] * 2


def test_working_memory_repairs_within_the_episode(clock: Clock) -> None:
    assert lives(experience_with("working"), 2, clock) == [["-PutObject", "OpenObject", "PutObject"]] * 2


@pytest.mark.parametrize("part", ["episodic", "semantic"])
def test_what_failed_in_one_episode_is_prepared_for_in_the_next(part: str, clock: Clock) -> None:
    assert lives(experience_with(part), 1, clock) == [["-PutObject"], ["OpenObject", "PutObject"]]


def test_cancelled_instruction_ends_without_a_verdict(clock: Clock) -> None:
    log = NoLog()
    experience = Experience(ExperienceConfig(), RuleExtractor(), log, now_ns=lambda: 0)
    situation = Situation(cast("MemoryPort", None), _ignore, _ignore, "Egg", "egg1")
    run = GuidedPlanner(ForgetfulPlanner(1), experience, clock).carry_out("put it away", situation)
    next(run)
    run.close()
    (episode,) = log.episodes.values()
    assert episode.success is None
    assert (episode.task_type, episode.ended_ns) == ("place", 0)
    experience.close()
