"""Works requests to a vision-language model off beside the node, which never waits for it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.process import WorkerThread
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LateError
from memory_node.llm.open_model import ModelShelf
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.state_conflicts import StateClaim
from memory_node.short_term.state_estimation import StateRequest, VisionStateEstimator
from memory_node.short_term.state_reply import StateReply

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
        estimate: Callable[[StateRequest, Deadline], Sequence[tuple[str, StateReply]]],
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
            for object_id, reply in replies:
                self._on_claims(object_id, reply.claims)
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
