"""Asks a model that sees whether a picture of the robot's camera shows goals as met: its parameters, the schema of its
reply, and how that is checked."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from memory_node.domain.parameters import Expert, Live, Parameters, Profile, parameter
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.llm.ask import Question, ask, prompt_templates
from memory_node.llm.chat import ChatModel, Deadline, Message, ModelMissingError, RejectedReplyError, Reply
from memory_node.llm.config import SHARED
from memory_node.llm.open_model import MissingModel, ModelShelf
from memory_node.llm.reply_reader import json_form, read_json
from memory_node.planner.goal import Goal
from memory_node.planner.planner_config import PricedModelConfig


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
