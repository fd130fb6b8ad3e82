"""A planner whose success counts only as far as the robot's camera does not show otherwise, and the count of what
came of that."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_node.catalogue.class_name import folded
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.skill import SkillResult, StateChange
from memory_node.domain.skill_library import GOALS
from memory_node.domain.states import ObjectState
from memory_node.llm.chat import LateError, LlmError, ModelMissingError, RejectedReplyError
from memory_node.planner.goal import Goal
from memory_node.planner.model_account import ModelAccount
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningContext,
    PlanOutcome,
    PlanRun,
    relayed,
)
from memory_node.planner.visual_verifier import GoalSeer, PictureSource, Seen, SeenPicture, VerifierConfig, goals_to_see


class VerificationCounts:
    """Outcomes by what a picture said of them.

    verified: at least one goal was seen to be met, none to be unmet. refused: a goal was seen to be unmet. not_visible:
    the picture showed no goal. skipped.REASON: there was no verdict. nothing_to_see: a picture shows none of the goals.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._problem = ""

    def note(self, what: str) -> None:
        """Count an outcome."""
        with self._lock:
            self._counts[what] += 1
            self._problem = ""

    def skipped(self, reason: str, why: str) -> None:
        """Count an outcome that could not be verified. why: in words."""
        with self._lock:
            self._counts[f"skipped.{reason}"] += 1
            self._problem = why

    @property
    def problem(self) -> str:
        """Why the last outcome could not be verified; "" where it could."""
        with self._lock:
            return self._problem

    def values(self) -> dict[str, int]:
        """Return a copy of the counts."""
        with self._lock:
            always = dict.fromkeys(("verified", "refused", "not_visible"), 0)
            return {**always, **dict(sorted(self._counts.items()))}


# Not to be in one of these is to be in its opposite.
_ONE_OR_OTHER = frozenset({ObjectState.ON, ObjectState.OFF, ObjectState.OPENED, ObjectState.CLOSED})
_SURE = 0.8  # how far a picture's word on a state is believed


def refuted_states(
    goal: Goal, changes: Sequence[StateChange], memory_ids: Mapping[str, str], stamp_ns: int
) -> tuple[StateChange, ...]:
    """Return the changes that end the wanted states of a goal's things, where a skill of this attempt reported them.

    Else memory would go on to hold the fridge closed, and the next attempt had nothing to do. Only states are taken
    back: where a thing is instead, no verdict tells.

    memory_ids: memory's ids by the robot's. stamp_ns: when the picture was taken.
    """
    wanted = GOALS[goal.kind].wants
    classes = {folded(name) for name in goal.target.candidates}
    ended: dict[str, tuple[str, ObjectState]] = {}
    for change in changes:
        if folded(change.object_class) in classes:
            for state in wanted.intersection(change.added):
                ended[change.object_id] = (change.object_class, state)
    return tuple(
        StateChange(
            memory_ids.get(thing, thing),
            object_class,
            stamp_ns,
            added=tuple(state.opposites) if state in _ONE_OR_OTHER else (),
            removed=(state,),
            source="vlm",
            probability=_SURE,
        )
        for thing, (object_class, state) in ended.items()
    )


_LOG = logging.getLogger(__name__)
_NO_REASON = "a picture shows that it is not so"


@dataclass(eq=False)
class SeenVerification:
    """Verifies the successes of another planner by a picture; whoever runs it sees a refused one as a failure.

    Memory's judgement stands where the picture shows nothing, and where there is no picture or no verdict; the latter
    is counted and reported.

    Args:
        inner: the planner whose outcomes are verified.
        seer: asks the model.
        pictures: of the robot's camera.
        clock: the one that stamps pictures.
        config: which pictures count, and what tokens cost.
        counts: what came of it.
    """

    inner: Planner
    seer: GoalSeer
    pictures: PictureSource
    clock: Clock
    config: VerifierConfig
    counts: VerificationCounts

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the inner planner's steps; see planner.Planner. The outcome is what a picture leaves of its success."""
        changes: list[StateChange] = []
        last_end_ns = 0

        def watched(step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
            nonlocal last_end_ns
            result = yield step
            last_end_ns = self.clock()
            changes.extend(result.changes)
            return result

        outcome = yield from relayed(self.inner.run(instruction, situation), watched)
        if not outcome.success:
            return outcome
        return self._verified(instruction, situation, outcome, last_end_ns, changes)

    def _verified(
        self,
        instruction: str,
        situation: PlanningContext,
        outcome: PlanOutcome,
        last_end_ns: int,
        changes: Sequence[StateChange],
    ) -> PlanOutcome:
        indices = goals_to_see(outcome.pursued)
        if not indices:
            self.counts.note("nothing_to_see")
            return outcome
        account = ModelAccount()
        goals = [outcome.pursued[index] for index in indices]
        try:
            picture = self._picture(last_end_ns)
            seen = self.seer.judge(instruction, goals, picture, account.charge)
        except InputSkippedError as error:
            self._skip(situation, error.reason, str(error))
            return outcome
        except LlmError as error:
            self._skip(situation, _reason_of(error), str(error))
            return account.booked(outcome, self.config.llm)
        account.valid += 1
        outcome = account.booked(outcome, self.config.llm)
        refused = {index: one for index, one in zip(indices, seen) if one.verdict == "not_met"}
        if not refused:
            self.counts.note("verified" if any(one.verdict == "met" for one in seen) else "not_visible")
            return outcome
        self.counts.note("refused")
        for index in refused:
            refuted = refuted_states(outcome.pursued[index], changes, situation.memory_ids, picture.stamp_ns)
            if refuted:
                situation.memory.remember(refuted)
            situation.refute(outcome.pursued[index])
        return _without(outcome, refused, situation)

    def _picture(self, last_end_ns: int) -> SeenPicture:
        """Return a picture that shows how things are now.

        Raises:
            InputSkippedError: there is none.
        """
        max_age_ns = round(self.config.max_age_s * 1e9)
        picture = self.pictures.newest(max(last_end_ns, self.clock() - max_age_ns))
        if picture is None:
            raise InputSkippedError("no_picture", "no picture of the robot's camera has come")
        if picture.stamp_ns < last_end_ns:
            raise InputSkippedError("stale_picture", "the newest picture was taken before the last skill ended")
        age_s = (self.clock() - picture.stamp_ns) * 1e-9
        if abs(age_s) > self.config.max_age_s:
            raise InputSkippedError("stale_picture", f"the newest picture is {age_s:.1f} s old by its stamp")
        return picture

    def _skip(self, situation: PlanningContext, reason: str, why: str) -> None:
        text = f"what was done was not verified by a picture: {why}"
        self.counts.skipped(reason, text)
        _LOG.warning("%s", text)
        situation.note(text)


def _reason_of(error: LlmError) -> str:
    """Return what a model's failure is counted under."""
    names = {LateError: "late", ModelMissingError: "model_missing", RejectedReplyError: "reply_rejected"}
    return next((name for kind, name in names.items() if isinstance(error, kind)), "model_failed")


def _without(outcome: PlanOutcome, refused: dict[int, Seen], situation: PlanningContext) -> PlanOutcome:
    """Return an outcome whose refused goals, by index, are not achieved."""
    failures = [f"{outcome.goals[index]}: seen: {one.reason or _NO_REASON}" for index, one in refused.items()]
    for text in failures:
        situation.note(f"a picture refuses {text}")
    achieved = tuple(done and index not in refused for index, done in enumerate(outcome.achieved))
    return replace(outcome, achieved=achieved, failures=(*outcome.failures, *failures))
