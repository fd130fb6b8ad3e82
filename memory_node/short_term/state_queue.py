"""Works requests to a vision-language model off beside the node, which never waits for it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.worker_thread import WorkerThread
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
    """What became of the requests. dropped: pushed out by newer ones; late: not answered by their deadline."""

    submitted: int = 0
    answered: int = 0
    dropped: int = 0
    late: int = 0
    failed: int = 0


class StateEstimationQueue:
    """Works requests off in one thread; bounded, newest first to be kept, each with a deadline.

    estimate: asks the model. on_claims: takes an object id and its claims over, such as RobotMemory.claim_states. A
    later request for the same object replaces the waiting one.
    """

    def __init__(
        self,
        estimate: Callable[[StateRequest, Deadline], StateReply],
        on_claims: Callable[[str, tuple[StateClaim, ...]], object],
        capacity: int = 8,
        deadline_s: float = 10.0,
    ) -> None:
        self._estimate = estimate
        self._on_claims = on_claims
        self._capacity = capacity
        self._deadline_s = deadline_s
        self._waiting: OrderedDict[str, tuple[StateRequest, Deadline]] = OrderedDict()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self.counts = EstimationCounts()
        self._thread = WorkerThread("state_estimation", self._work)
        self._thread.start()

    def submit(self, request: StateRequest) -> None:
        """Queue a request and return at once; the one that waited longest is dropped when there are too many."""
        with self._changed:
            self.counts.submitted += 1
            if self._waiting.pop(request.object_id, None) is not None:
                self.counts.dropped += 1
            self._waiting[request.object_id] = (request, Deadline(self._deadline_s))
            while len(self._waiting) > self._capacity:
                self._waiting.popitem(last=False)
                self.counts.dropped += 1
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
                request, deadline = self._waiting.popitem(last=False)[1]
                self._busy = True
            self._answer(request, deadline)

    def _answer(self, request: StateRequest, deadline: Deadline) -> None:
        try:
            deadline.left_s()
            reply = self._estimate(request, deadline)
            deadline.left_s()
            self._on_claims(request.object_id, reply.claims)
            self.counts.answered += 1
        except LateError as error:
            self.counts.late += 1
            _LOG.warning("no state of %s %s: %s", request.object_class, request.object_id, error)
        except RobotMemoryError as error:
            self.counts.failed += 1
            _LOG.warning("no state of %s %s: %s", request.object_class, request.object_id, error)
        except Exception:
            # The thread serves every later picture, too.
            self.counts.failed += 1
            _LOG.exception("no state of %s %s", request.object_class, request.object_id)


def open_state_queue(
    config: ShortTermConfig, models: ModelShelf, on_claims: Callable[[str, tuple[StateClaim, ...]], object]
) -> StateEstimationQueue | None:
    """Return a queue whose claims `on_claims` takes over, or None when the config names no model that sees."""
    if not config.vlm.base_url:
        return None
    estimator = VisionStateEstimator(models.open_or_excuse(config.vlm), config.vlm.max_repairs)
    return StateEstimationQueue(estimator.estimate, on_claims, config.vlm.most_waiting, config.vlm.timeout_s)
