"""Asks a vision-language model for the states of remembered objects by their pictures; no node waits for it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.process import WorkerThread
from memory_node.domain.states import STATE_MEANINGS, ObjectState
from memory_node.llm.ask import Question, ask, prompt_templates
from memory_node.llm.chat import ChatModel, Deadline, LateError, Message, RejectedReplyError
from memory_node.llm.open_model import ModelShelf
from memory_node.llm.reply_reader import json_form, read_json
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.units import StateClaim

# KARMA's word for an object in no state of the list: a set without members.
_NONE = "none"
_TEXT_LIMIT = 2000


def _spelt_as_ours(value: Any) -> Any:
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else value


class SeenState(BaseModel):
    """One state that a picture speaks for or against."""

    model_config = ConfigDict(frozen=True)
    state: Annotated[ObjectState, BeforeValidator(_spelt_as_ours)]
    probability: Annotated[float, Field(ge=0.0, le=1.0, strict=True)]


def _without_none(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [entry for entry in value if not (isinstance(entry, dict) and entry.get("state") == _NONE)]


class ThingJudgement(BaseModel):
    """What a model says about one thing in the pictures, in the order in which it should look."""

    model_config = ConfigDict(frozen=True)
    thing: Annotated[int, Field(ge=1)]
    description: Annotated[str, Field(max_length=_TEXT_LIMIT)] = ""
    relevant: Annotated[str, Field(max_length=_TEXT_LIMIT)] = ""
    states: Annotated[list[SeenState], Field(max_length=2 * len(ObjectState)), BeforeValidator(_without_none)]


class StateJudgement(BaseModel):
    """What a model says about the things in some pictures."""

    model_config = ConfigDict(frozen=True)
    things: list[ThingJudgement]


def parse_state_reply(text: str, count: int, stamp_ns: int) -> dict[int, tuple[StateClaim, ...]]:
    """Return what a model's text claims of the things that it speaks of, by their numbers, from 1 to `count`.

    stamp_ns: when the pictures were taken.

    Raises:
        RejectedReplyError: there is no JSON object in it, or one that breaks the schema; the message says where.
    """
    found: dict[int, tuple[StateClaim, ...]] = {}
    for judged in read_json(StateJudgement, text).things:
        if judged.thing > count:
            raise RejectedReplyError("thing", f"there are {count} things, and none of number {judged.thing}")
        if judged.thing in found:
            raise RejectedReplyError("contradiction", f"thing {judged.thing} is judged twice")
        found[judged.thing] = _claims(judged.states, stamp_ns)
    return found


def _claims(states: Sequence[SeenState], stamp_ns: int) -> tuple[StateClaim, ...]:
    claims: dict[ObjectState, StateClaim] = {}
    for seen in states:
        if seen.state in claims:
            raise RejectedReplyError("contradiction", f"states: {seen.state} is given twice")
        claims[seen.state] = StateClaim(seen.state, seen.probability, stamp_ns)
    return tuple(claims.values())


@dataclass(frozen=True)
class PicturedThing:
    """A thing to judge. crop: makes the picture of it alone, as JPEG."""

    object_id: str
    object_class: str
    crop: Callable[[], bytes]


@dataclass(frozen=True)
class StateRequest:
    """Things of one image to judge, when it was taken, and the task that they matter for. frame: makes the whole image
    as JPEG; None where only pictures of the things are there."""

    things: tuple[PicturedThing, ...]
    stamp_ns: int
    frame: Callable[[], bytes] | None = None
    task: str = ""
    task_objects: tuple[str, ...] = ()


class VisionStateEstimator:
    """Judges pictures by a model that sees. max_repairs: how often a faulty reply is sent back."""

    def __init__(self, model: ChatModel, max_repairs: int = 1) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._prompts = prompt_templates(trim_blocks=False)

    def prompt(self, request: StateRequest) -> str:
        """Return the words that go with the pictures."""
        states = {str(state): meaning for state, meaning in STATE_MEANINGS.items()}
        return self._prompts.get_template("object_states.j2").render(
            things=[thing.object_class for thing in request.things],
            has_frame=request.frame is not None,
            task=request.task,
            task_objects=request.task_objects,
            states=states,
        )

    def estimate(self, request: StateRequest, deadline: Deadline) -> Sequence[tuple[str, tuple[StateClaim, ...]]]:
        """Return what the model claims of the things, by their ids.

        Raises:
            LlmError: the model gave no reply in time, or none that keeps to the schema.
        """
        repair = self._prompts.get_template("object_states_repair.j2")
        frames = [request.frame] if request.frame is not None else []
        pictures = tuple(make() for make in (*frames, *(thing.crop for thing in request.things)))
        question = Question(
            (Message("user", self.prompt(request), pictures),),
            lambda text: parse_state_reply(text, len(request.things), request.stamp_ns),
            lambda error: repair.render(error=error),
            json_form(StateJudgement),
        )
        found = ask(self._model, question, deadline, self._max_repairs)
        return [(request.things[number - 1].object_id, claims) for number, claims in found.items()]


_LOG = logging.getLogger(__name__)


@dataclass
class EstimationCounts:
    """What became of the things to judge. dropped: pushed out by newer requests; late: not answered in time."""

    submitted: int = 0
    answered: int = 0
    dropped: int = 0
    late: int = 0
    failed: int = 0


class StateEstimationQueue:
    """Works requests off in one thread; bounded, newest first to be kept, each with a deadline.

    estimate: asks the model. on_claims: takes an object id and its claims over, such as RobotMemory.claim_states. What
    a later request asks of the same object replaces what waits.
    """

    def __init__(
        self,
        estimate: Callable[[StateRequest, Deadline], Sequence[tuple[str, tuple[StateClaim, ...]]]],
        on_claims: Callable[[str, tuple[StateClaim, ...]], object],
        capacity: int = 8,
        deadline_s: float = 10.0,
    ) -> None:
        self._estimate = estimate
        self._on_claims = on_claims
        self._capacity = capacity
        self._deadline_s = deadline_s
        self._waiting: deque[tuple[StateRequest, Deadline]] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self.counts = EstimationCounts()
        self._thread = WorkerThread("state_estimation", self._work)
        self._thread.start()

    def submit(self, request: StateRequest) -> None:
        """Queue a request and return at once; the one that waited longest is dropped when there are too many."""
        again = {thing.object_id for thing in request.things}
        with self._changed:
            self.counts.submitted += len(request.things)
            rests = ((_without(old, again), deadline) for old, deadline in self._waiting)
            kept = [(rest, deadline) for rest, deadline in rests if rest.things]
            kept = [*kept, (request, Deadline(self._deadline_s))][-self._capacity :]
            before = sum(len(old.things) for old, _ in self._waiting) + len(request.things)
            self.counts.dropped += before - sum(len(old.things) for old, _ in kept)
            self._waiting = deque(kept)
            self._changed.notify_all()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until nothing is waiting or being asked; return whether that came to be in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout_s)

    def close(self, timeout_s: float = 1.0) -> None:
        """Drop what waits and end the thread; a request that is being asked ends by its own deadline."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                request, deadline = self._waiting.popleft()
                self._busy = True
            self._answer(request, deadline)

    def _answer(self, request: StateRequest, deadline: Deadline) -> None:
        try:
            deadline.left_s()
            replies = self._estimate(request, deadline)
            deadline.left_s()
            for object_id, claims in replies:
                self._on_claims(object_id, claims)
            self.counts.answered += len(request.things)
        except LateError as error:
            self.counts.late += len(request.things)
            _LOG.warning("no state of %s: %s", _named(request), error)
        except RobotMemoryError as error:
            self.counts.failed += len(request.things)
            _LOG.warning("no state of %s: %s", _named(request), error)
        except Exception:
            # The thread serves every later picture, too.
            self.counts.failed += len(request.things)
            _LOG.exception("no state of %s", _named(request))


def _without(request: StateRequest, object_ids: set[str]) -> StateRequest:
    return replace(request, things=tuple(thing for thing in request.things if thing.object_id not in object_ids))


def _named(request: StateRequest) -> str:
    return ", ".join(f"{thing.object_class} {thing.object_id}" for thing in request.things)


def open_state_queue(
    config: ShortTermConfig, models: ModelShelf, on_claims: Callable[[str, tuple[StateClaim, ...]], object]
) -> StateEstimationQueue | None:
    """Return a queue whose claims `on_claims` takes over, or None when the config names no model that sees."""
    if not config.vlm.base_url:
        return None
    estimator = VisionStateEstimator(models.open_or_excuse(config.vlm), config.vlm.max_repairs)
    return StateEstimationQueue(estimator.estimate, on_claims, config.vlm.most_waiting, config.vlm.timeout_s)
