"""A planner whose success counts only as far as the robot's camera does not show otherwise: the model that sees, its
parameters, the schema of its reply and how that is checked, and the count of what came of it."""

from __future__ import annotations

import logging
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memory_node.catalogue.class_name import folded
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InputSkippedError
from memory_node.domain.parameters import Expert, Live, Parameters, Profile, parameter
from memory_node.domain.skill import SkillResult, StateChange
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.llm.ask import Question, ask, prompt_templates
from memory_node.llm.chat import (
    ChatModel,
    Deadline,
    LateError,
    LlmError,
    Message,
    ModelMissingError,
    RejectedReplyError,
    Reply,
)
from memory_node.llm.config import SHARED
from memory_node.llm.open_model import MissingModel, ModelShelf
from memory_node.llm.reply_reader import json_form, read_json
from memory_node.planner.goal import Goal
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningContext,
    PlanOutcome,
    PlanRun,
    relayed,
)
from memory_node.planner.planner_config import ModelAccount, PricedModelConfig


@dataclass(frozen=True)
class SeenPicture:
    """A picture of the robot's camera as JPEG or PNG, and when it was taken (ns). closer: the middle of it, larger, b""
    for none."""

    stamp_ns: int
    coded: bytes = field(repr=False)
    closer: bytes = field(default=b"", repr=False)


class PictureSource(Protocol):
    """The robot's camera."""

    def newest(self, earliest_ns: int) -> SeenPicture | None:
        """Return the newest picture, waiting a bounded time for one taken at `earliest_ns` or later; None for none.

        Raises:
            InputSkippedError: the newest picture cannot be read; `reason` says what it is counted under.
        """


_PRICES = {"usd_per_million_in", "usd_per_million_out"}


class SeeingModelConfig(PricedModelConfig):
    """The model that sees. No model in this process does, so it needs an endpoint."""

    max_reply_tokens: Expert[int] = parameter(800, "tokens of one reply at most", 1, 32_000)
    timeout_s: float = parameter(
        20.0, "time for one picture: waiting, corrections and all, from the request to the last word", 0.1, 3600.0
    )
    max_repairs: Expert[int] = parameter(1, "corrections asked of a reply that cannot be used", 0, 20)


class VerifierConfig(Parameters):
    """Which pictures count, and who looks at them."""

    max_age_s: Live[Expert[float]] = parameter(
        10.0, "age beyond which a picture is not used, by its stamp", 0.1, 3600.0
    )
    picture_max_px: Expert[int] = parameter(1024, "longer side of the picture that the model is sent", 64, 8192)
    llm: Annotated[SeeingModelConfig, Profile("llm.verifier", SHARED | _PRICES)] = SeeingModelConfig()


_K = GoalKind
_PLACED = "it is in or on that place; whether it is warm or cold cannot be seen"
# Where the robot stands and what it holds: the next goal ends that.
_PASSING = frozenset({_K.FETCH, _K.FIND, _K.EXAMINE})
_MOST_REASON = 200  # characters of a reason that are kept
_LONGEST_REASON = 2000  # characters of one that is read at all
_PUNCTUATION = " .,;'-/%"

Verdict = Literal["met", "not_met", "not_visible"]


class SeenGoal(BaseModel):
    """What a model says of one goal; goal: its number in the prompt, from 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    goal: Annotated[int, Field(ge=1)]
    verdict: Verdict
    reason: Annotated[str, Field(max_length=_LONGEST_REASON)]


class SeenGoals(BaseModel):
    """What a model says of a picture."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    goals: list[SeenGoal]


@dataclass(frozen=True)
class Seen:
    """A verdict on a goal. reason: plain words, bounded in length; "" for none."""

    verdict: Verdict
    reason: str


def seen_end(goal: Goal) -> str:
    """Return what a picture shows where a goal is met, in words; "" for a goal of which it can show nothing."""
    if goal.kind in (_K.HEAT, _K.COOL) and goal.destination is not None:
        return _PLACED
    if goal.kind is _K.CLEAN and goal.destination is not None:
        return f"{GOALS[goal.kind].seen}, and it is in or on that place"
    return GOALS[goal.kind].seen


def goals_to_see(goals: Sequence[Goal]) -> tuple[int, ...]:
    """Return the indices of the goals whose end a picture taken after all of them can show.

    A goal is left out where a later one is about the same things: what "open the fridge, then close it" opened is
    closed now, and that is no failure.
    """
    return tuple(index for index, goal in enumerate(goals) if seen_end(goal) and not _is_past(goal, goals[index + 1 :]))


def _is_past(goal: Goal, later: Sequence[Goal]) -> bool:
    if goal.kind in _PASSING and later:
        return True
    own = {name for mention in (goal.target, goal.container, goal.light) if mention for name in mention.candidates}
    return any(not own.isdisjoint(mention.candidates) for one in later for mention in one.mentions)


def plain_reason(text: str) -> str:
    """Return a model's words without anything but letters, digits and simple punctuation, cut to 200 characters.

    They go into an episode and from there into prompts: no line, bracket, quote or mark-up of theirs may.
    """
    folded = unicodedata.normalize("NFKC", text[:_LONGEST_REASON])
    kept = "".join(letter if letter.isalnum() or letter in _PUNCTUATION else " " for letter in folded)
    return " ".join(kept.split())[:_MOST_REASON].rstrip()


def read_seen_goals(text: str, count: int) -> tuple[Seen, ...]:
    """Return the verdicts on goals 1 to `count`, in this order.

    Raises:
        RejectedReplyError: it is no JSON, breaks the schema, or has not one verdict for each goal ("goals").
    """
    listed = read_json(SeenGoals, text).goals
    said = {one.goal: one for one in listed}
    if len(listed) != count or set(said) != set(range(1, count + 1)):
        numbers = ", ".join(str(one.goal) for one in listed[: count + 1]) or "none"
        raise RejectedReplyError("goals", f"expected one verdict for each goal from 1 to {count}, got {numbers}")
    return tuple(Seen(said[number].verdict, plain_reason(said[number].reason)) for number in range(1, count + 1))


class GoalSeer:
    """Judges goals by a picture, with a model that sees."""

    def __init__(self, model: ChatModel, config: SeeingModelConfig) -> None:
        self._model = model
        self._config = config
        self._prompts = prompt_templates()

    def judge(
        self, instruction: str, goals: Sequence[Goal], picture: SeenPicture, on_reply: Callable[[Reply], None]
    ) -> tuple[Seen, ...]:
        """Return a verdict for each goal. on_reply: gets every reply, for the account.

        Raises:
            LlmError: the model gave no reply in time, or none that keeps to the schema.
        """
        ends = [(str(goal), seen_end(goal)) for goal in goals]
        prompt = self._prompts.get_template("planner_verify.j2").render(instruction=instruction, goals=ends)
        repair = self._prompts.get_template("planner_verify_repair.j2")
        question = Question(
            (Message("user", prompt, (picture.coded,)),),
            lambda text: read_seen_goals(text, len(goals)),
            lambda error: repair.render(error=error),
            json_form(SeenGoals),
        )
        deadline = Deadline(self._config.timeout_s)
        return ask(self._model, question, deadline, self._config.max_repairs, on_reply=on_reply)


def open_seer(config: SeeingModelConfig) -> GoalSeer:
    """Return the one who judges pictures; where no endpoint is given, each request says so."""
    if config.in_process:
        missing = ModelMissingError("no model in this process sees; llm.verifier.base_url names an endpoint of one")
        return GoalSeer(MissingModel(missing), config)
    return GoalSeer(ModelShelf().open_or_excuse(config), config)


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
