"""The answer contract: every answer about an object comes with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.text_enum import TextEnum

# Most characters of a request.
MAX_TEXT = 4000


class AnswerStatus(TextEnum):
    """How far an answer may be trusted, or that the question made no sense."""

    OK = "ok"
    UNKNOWN = "unknown"
    FRAME_NOT_VERIFIED = "frame_not_verified"
    PROBABLY_GONE = "probably_gone"
    INVALID = "invalid"


@dataclass(frozen=True, eq=False)
class ObjectAnswer:
    """One remembered object as an answer: what, where, how sure, how old, and from which evidence.

    position (3,) m and covariance (3, 3) m^2 in `frame_id`; size (3,) m; score in [0, 1] is the relevance to the query;
    source: "short_term" or "long_term"; last_missed_ns: when it was last looked for in vain since it was last seen
    (0 = not since); evidence_frame: the frame that the sightings were recorded in; stamp_ns: when the answer was given;
    explanation: why the status is not OK, or what is doubtful all the same.
    """

    object_id: str
    object_class: str
    class_probability: float
    position: FloatArray
    covariance: FloatArray
    size: FloatArray
    yaw_rad: float
    existence: float
    stamp_ns: int
    last_seen_ns: int
    last_missed_ns: int
    score: float
    source: str
    status: AnswerStatus
    states: tuple[StateBelief, ...] = ()
    frame_id: str = "map"
    evidence_frame: str = "map"
    area_id: str = ""
    room_name: str = ""
    support_id: str = ""
    inside: bool = False
    image_path: str = ""
    explanation: str = ""

    @property
    def age_s(self) -> float:
        """Seconds since the object was last seen; 0 where its stamp, of another clock, lies ahead."""
        return max(self.stamp_ns - self.last_seen_ns, 0) * 1e-9


@dataclass(frozen=True)
class FindQuery:
    """What to look for; empty fields do not restrict.

    area_id: an area, a room or a floor by its id, or rooms and floors by their name. near: (x, y, z) in map, m. k: at
    most so many answers. as_of_ns: answer as of then (0 = now). exclude_ids: objects that do not count;
    exclude_supports: objects on and in which nothing counts.

    Raises:
        InvalidValueError: k below 1, a place that is not finite, a stamp before 0, or a text that is too long.
    """

    text: str = ""
    object_class: str = ""
    states: tuple[ObjectState, ...] = ()
    area_id: str = ""
    near: tuple[float, float, float] | None = None
    k: int = 5
    as_of_ns: int = 0
    exclude_ids: frozenset[str] = frozenset()
    exclude_supports: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if len(self.text) > MAX_TEXT:
            raise InvalidValueError(f"text: expected at most {MAX_TEXT} characters, got {len(self.text)}")
        if self.k < 1:
            raise InvalidValueError(f"k: expected 1 or more, got {self.k}")
        if self.near is not None and not all(map(math.isfinite, self.near)):
            raise InvalidValueError(f"near: expected finite metres, got {self.near}")
        if self.as_of_ns < 0:
            raise InvalidValueError(f"as_of_ns: expected 0 (now) or a stamp, got {self.as_of_ns}")


# Why an area may hold an object of which nothing is known.
NO_REASON = frozenset({"part of the home", "not looked at yet", "part of the map"})


@dataclass(frozen=True)
class RankedArea:
    """A place where an object is likely: probability in [0, 1] and why, in words."""

    area_id: str
    name: str
    position: tuple[float, float]
    probability: float
    reason: str

    @property
    def is_guess(self) -> bool:
        """Whether nothing speaks for it: then its probability is its share of the home."""
        return self.reason in NO_REASON


@dataclass(frozen=True)
class Recollection:
    """The answers to one query, best first; empty with status UNKNOWN when memory abstains, and why."""

    answers: tuple[ObjectAnswer, ...]
    status: AnswerStatus
    explanation: str = ""

    @property
    def best(self) -> ObjectAnswer | None:
        """The answer to go by, or None when memory abstains."""
        return self.answers[0] if self.answers else None


@dataclass(frozen=True)
class Location(Recollection):
    """Where a thing is, or where to look for it.

    answers: of the memory that knows it, what may be trusted first; areas: where to search, likeliest first, wherever
    no answer is OK; status: of the first answer, UNKNOWN without any.
    """

    areas: tuple[RankedArea, ...] = ()

    @property
    def memory(self) -> str:
        """Which memory answered: "short_term", "long_term" or "" for neither."""
        return self.answers[0].source if self.answers else ""
