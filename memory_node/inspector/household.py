"""Questions of a household for agents and people: an answer, what is in a place, what has changed."""

from __future__ import annotations

import re
from datetime import datetime

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.scene import SceneSnapshot
from memory_node.inspector.agent_memory import AgentMemory
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.questions.household import of_now
from memory_node.questions.past import span_of
from memory_node.questions.present import PresentQuestions

_UNITS_S = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AGO = re.compile(r"^(?P<count>\d+(?:\.\d+)?) ?(?P<unit>s|min|h|d)$")
_NS = 10**9


class Household:
    """What agents and people ask of a home.

    kinds: the label space. clock: "now", on memory's time line.
    """

    def __init__(self, memory: AgentMemory, kinds: ObjectCatalogue, clock: Clock) -> None:
        self._memory, self._kinds, self._clock = memory, kinds, clock

    def contents(self, place: str) -> KnowledgeAnswer:
        """Return what is in or on a thing or room.

        Raises:
            NotFoundError: memory knows neither a thing nor a room of this name.
        """
        question = f"what is in {place}"
        found = self._present().answer(question)
        if found is None or not found.known:
            rooms = ", ".join(room.name for room in self._memory.scene().rooms) or "none"
            raise NotFoundError(
                f"place: expected a room or a thing that memory knows, got {place!r}; rooms: {rooms:.500}; things are "
                "told by find_objects"
            )
        return of_now(question, found)

    def changes(self, since: str) -> list[str]:
        """Return in words what changed since a moment: "today", "yesterday", "this morning", "90 min", an ISO time.

        Raises:
            InvalidValueError: it is none of these.
        """
        return self._present().changes(self._stamp(since))

    def _stamp(self, since: str) -> int:
        now_ns = self._clock()
        words = " ".join(since.split()).lower()
        first, _ = span_of(words, now_ns, None)
        if first:
            return first
        ago = _AGO.match(words.removesuffix(" ago"))
        if ago is not None:
            return max(now_ns - int(float(ago["count"]) * _UNITS_S[ago["unit"]] * _NS), 1)
        try:
            return max(int(datetime.fromisoformat(since.strip()).timestamp() * _NS), 1)
        except (ValueError, OverflowError):
            raise InvalidValueError(
                "since: expected today, yesterday, this morning, this afternoon, this evening or last night, a span "
                f"such as 90 min, 2 h or 3 d, or a time such as 2026-05-03T08:00, got {since!r}"
            ) from None

    def _present(self) -> PresentQuestions:
        scene = self._memory.scene(removed=True)

        def past(stamp_ns: int) -> SceneSnapshot:
            return self._memory.scene(as_of_ns=stamp_ns)

        return PresentQuestions(self._kinds, scene, past, self._clock())
