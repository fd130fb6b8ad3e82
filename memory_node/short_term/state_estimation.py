"""Asks a vision-language model for the state of a remembered object, without ever holding up the node."""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import jinja2
import openai

from memory_node.domain.resources import resource_path
from memory_node.short_term.state_conflicts import StateClaim
from memory_node.short_term.state_reply import STATE_MEANINGS, StateEstimationError, StateReply, parse_state_reply

_LOG = logging.getLogger(__name__)
_PROMPT = "config/prompts/object_states.j2"


@dataclass(frozen=True)
class StateRequest:
    """One picture to judge: the object's crop as JPEG, when it was taken, and the task that it matters for."""

    object_id: str
    object_class: str
    crop_jpeg: bytes = field(repr=False)
    stamp_ns: int
    task: str = ""
    task_objects: tuple[str, ...] = ()


class VisionStateEstimator:
    """Judges pictures by any OpenAI-compatible endpoint whose model sees.

    api_key: endpoints on one's own machine mostly take any.
    """

    def __init__(self, base_url: str, model: str, api_key: str = "none") -> None:
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
        self._model = model
        text = resource_path(_PROMPT).read_text(encoding="utf-8")
        self._template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(text)

    def prompt(self, request: StateRequest) -> str:
        """Return the words that go with the picture."""
        states = {str(state): meaning for state, meaning in STATE_MEANINGS.items()}
        return self._template.render(
            object_class=request.object_class, task=request.task, task_objects=request.task_objects, states=states
        )

    def estimate(self, request: StateRequest, timeout_s: float) -> StateReply:
        """Return the checked reply of the model.

        Raises:
            StateEstimationError: the endpoint failed or was too slow, or the reply breaks the schema.
        """
        picture = "data:image/jpeg;base64," + base64.b64encode(request.crop_jpeg).decode("ascii")
        try:
            completion = self._client.chat.completions.create(
                model=self._model,
                temperature=0.0,
                timeout=timeout_s,
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": self.prompt(request)},
                            {"type": "image_url", "image_url": {"url": picture}},
                        ],
                    }
                ],
            )
            content = completion.choices[0].message.content
        except openai.OpenAIError as error:
            raise StateEstimationError(f"{self._model!r} at {self._client.base_url}: {error}") from error
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise StateEstimationError(f"{self._client.base_url}: expected a chat completion") from error
        return parse_state_reply(content or "", request.stamp_ns)


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

    estimate: asks the model, given the seconds that are left. on_claims: takes an object id and its claims over, such
    as ObjectCache.claim_states with a clock. A later request for the same object replaces the waiting one.
    """

    def __init__(
        self,
        estimate: Callable[[StateRequest, float], StateReply],
        on_claims: Callable[[str, tuple[StateClaim, ...]], object],
        capacity: int = 8,
        deadline_s: float = 10.0,
    ) -> None:
        self._estimate = estimate
        self._on_claims = on_claims
        self._capacity = capacity
        self._deadline_s = deadline_s
        self._waiting: OrderedDict[str, tuple[StateRequest, float]] = OrderedDict()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self.counts = EstimationCounts()
        self._thread = threading.Thread(target=self._work, name="state_estimation", daemon=True)
        self._thread.start()

    def submit(self, request: StateRequest) -> None:
        """Queue a request and return at once; the one that waited longest is dropped when there are too many."""
        with self._changed:
            self.counts.submitted += 1
            if self._waiting.pop(request.object_id, None) is not None:
                self.counts.dropped += 1
            self._waiting[request.object_id] = (request, time.monotonic() + self._deadline_s)
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

    def _answer(self, request: StateRequest, deadline: float) -> None:
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            self.counts.late += 1
            return
        try:
            reply = self._estimate(request, left_s)
        except StateEstimationError as error:
            if time.monotonic() >= deadline:
                self.counts.late += 1
            else:
                self.counts.failed += 1
            _LOG.warning("no state of %s %s: %s", request.object_class, request.object_id, error)
            return
        if time.monotonic() > deadline:
            self.counts.late += 1
            return
        self._on_claims(request.object_id, reply.claims)
        self.counts.answered += 1
