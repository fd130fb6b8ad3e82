"""How well remembered things fit a request, and how they rank, over many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import FindQuery
from memory_node.domain.names import kind_words, lacks_kind
from memory_node.domain.states import ObjectState, log_odds
from memory_node.search.class_scores import ClassFit, ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.request_words import tokens

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_BIT_OF = {state: 1 << index for index, state in enumerate(ObjectState)}


def state_bits(*states: ObjectState) -> int:
    """Return a set of states as bits."""
    return sum(_BIT_OF[state] for state in set(states))


def bits_of_class(class_name: str) -> int:
    """Return the states that the name of a class tells, as bits: BreadSliced is sliced."""
    return state_bits(ObjectState.SLICED) if "Sliced" in class_name else 0


@dataclass(frozen=True, eq=False)
class Facts:
    """Things (n,) of one memory.

    class_probability and existence in [0, 1]; age_s: seconds since each was last seen or used, negative for a stamp
    ahead of the clock; position (n, 3) in map, m; states: those believed, as bits, where the request speaks of any;
    used_s (n,): seconds since the robot last did something with each, infinite for what it has only seen; None: not
    known. at_place (n,): how far each is where the request says, in [0, 1], 0.5 where that is not known; None: the
    request names no place.
    """

    class_probability: Floats
    existence: Floats
    age_s: Floats
    position: Floats
    states: NDArray[np.int64]
    used_s: Floats | None = None
    at_place: Floats | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Things that a request's filters let through: rows (n,) of their memory, class numbers (n,), and the cosine (n,)
    of each one's own words with the request; None where a thing has no words but its class's."""

    rows: Rows
    class_numbers: NDArray[np.int32]
    own_cosines: Floats | None = None


def by_class(values: NDArray[Any], numbers: NDArray[np.int32]) -> NDArray[Any]:
    """Return the values (n,) of classes by their numbers (n,)."""
    # A class that was met for the first time since the request was read has no value yet: it is taken for the last one.
    return values.take(numbers, mode="clip") if len(values) else np.zeros(len(numbers), dtype=values.dtype)


_UNKNOWN = 0.5
_IN_ITS_ROOM = 0.5


@dataclass(frozen=True, eq=False)
class PlaceMention:
    """words: of the place, singular; classes: by class number (n,), whether the place is a thing of that class."""

    words: frozenset[str]
    classes: NDArray[np.bool_]

    def is_room(self, name: str) -> bool:
        """Return whether the words name a room; the number of "bedroom 2" may be left out, that of "room 2" not."""
        named = tokens(name)
        wanted = named if lacks_kind(named) else kind_words(named)
        return bool(wanted) and self.words.issuperset(wanted)

    def holds(
        self, in_room: NDArray[np.bool_], room_known: NDArray[np.bool_], supports: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return how far things (n,) are at the place, in [0, 1]: half where the words name a thing in a room,
        "the kitchen drawer", and only the room is theirs.

        in_room: whether each one's room is the one named; room_known: whether its room is known; supports: number of
        the class that each is on or in, -1 where that is unknown.
        """
        on_it = (supports >= 0) & self.classes.take(np.maximum(supports, 0), mode="clip")
        unknown = ~room_known & (supports < 0)
        near = in_room * (_IN_ITS_ROOM if self.classes.any() else 1.0)
        return np.where(on_it, 1.0, np.where(unknown, _UNKNOWN, near))


@dataclass(frozen=True, eq=False)
class Request:
    """now_ns: as of when it is asked. vector: embedding of its words, to be compared with things' own words; fit: how
    they suit each class; None where it has no words. picture_vector: the same in the space of pictures.

    states: those that the words speak of. wanted_classes: by class number (n,), None for any class. place: None where
    the words name none.
    """

    query: FindQuery
    now_ns: int
    vector: NDArray[np.float32] | None = None
    fit: ClassFit | None = None
    picture_vector: NDArray[np.float32] | None = None
    states: tuple[ObjectState, ...] = ()
    wanted_classes: NDArray[np.bool_] | None = None
    place: PlaceMention | None = None


# Log-odds that a thing's own words ("clean mug") may add to those of its class: kinds of likelier classes are embedded.
_OWN_WORDS_MARGIN = 4.0


class Scoring:
    """The weights of the config, applied.

    Two numbers for each thing, both in [0, 1]: its *fit*, the belief that the request means it, decides whether memory
    answers at all; its *score*, the fit times how sure, near and recent the thing is, decides the order.
    """

    def __init__(self, classes: ClassScores, config: RetrievalConfig) -> None:
        self._classes = classes
        self._config = config
        self.least_fit = config.abstain_below
        threshold = min(max(config.abstain_below, 1e-9), 1.0 - 1e-9)
        self._least_log_odds = log_odds(threshold)
        self._rival_log_odds = math.log(config.rival_share) if config.rival_share else -math.inf

    def passing(self, request: Request, numbers: NDArray[np.int32], states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return (n,) whether the class and the states that a query asks for are those of things; states: as bits."""
        passes = np.ones(len(numbers), dtype=np.bool_)
        if request.wanted_classes is not None:
            passes &= by_class(request.wanted_classes, numbers)
        if request.query.states:
            wanted = state_bits(*request.query.states)
            passes &= states & wanted == wanted
        return passes

    def cosines(self, request: Request, candidates: Candidates) -> Floats:
        """Return (n,) how like the request things' words are: their class's texts, or their own if they are liker."""
        assert request.fit is not None
        of_class = by_class(request.fit.cosines, candidates.class_numbers)
        return of_class if candidates.own_cosines is None else np.maximum(of_class, candidates.own_cosines)

    def log_odds(self, request: Request, numbers: NDArray[np.int32], cosines: Floats) -> Floats:
        """Return (n,) log-odds that things of these classes are of the kind that the request means."""
        assert request.fit is not None
        return self._classes.log_odds(cosines, request.fit) + by_class(request.fit.word_log_odds, numbers)

    def likely(self, log_odds: Floats, margin: float = 0.0) -> NDArray[np.bool_]:
        """Return (n,) whether a thing may reach the threshold: all but its kind only lowers its fit.

        margin: log-odds that may still be added.
        """
        return log_odds >= self._least_log_odds - margin

    def may_be_meant(self, request: Request, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return (n,) whether things of these classes may fit, whatever their states and looks; where none may, the
        class most like what is meant is one."""
        cosines = self.cosines(request, Candidates(numbers.astype(np.int64), numbers))
        log_odds = self.log_odds(request, numbers, cosines)
        likely = self.likely(log_odds, _OWN_WORDS_MARGIN)
        if len(likely) and not likely.any():
            likely[np.argmax(log_odds)] = True
        return likely

    def no_poor_rival(self, log_odds: Floats) -> NDArray[np.bool_]:
        """Return (n,) whether a thing's kind is nearly as likely as the likeliest: beside an apple, a tomato is no "red
        fruit", though it may be one where there is no apple.

        Odds are compared: beliefs of 0.8 and 0.998 look alike, and their odds are 4 and 500.
        """
        return np.asarray(log_odds >= log_odds.max(initial=-math.inf) + self._rival_log_odds)

    def picture_evidence(self, cosines: Floats) -> Floats:
        """Return (n,) log-odds by the things' pictures, bounded; 0 where there is none."""
        config = self._config
        evidence = config.picture_slope * (cosines - config.picture_center)
        return np.where(cosines == 0.0, 0.0, np.clip(evidence, -config.picture_weight, config.picture_weight))

    def fit(self, request: Request, facts: Facts, log_odds: Floats | None, cosines: Floats | None) -> Floats:
        """Return (n,) beliefs that each thing is what is meant; log_odds, cosines: None for a request without words."""
        config = self._config
        fit = np.ones(len(facts.existence))
        if log_odds is not None and cosines is not None:
            fit /= 1.0 + np.exp(-np.clip(log_odds, -30.0, 30.0))
            fit *= 1.0 - config.likeness_weight * (1.0 - np.minimum(cosines, 1.0))
        for state in request.states:
            fit *= 1.0 - self._state_penalty(facts.states, state)
        if facts.at_place is not None and log_odds is None:
            fit *= facts.at_place == 1.0  # "something on the desk": only what is known to be there
        elif facts.at_place is not None:
            fit *= 1.0 - config.place_penalty * (1.0 - facts.at_place)
        return fit

    def scores(self, request: Request, facts: Facts, fit: Floats) -> Floats:
        """Return (n,) the fits times class probability, existence, recency, use and nearness."""
        config = self._config
        scores = fit * facts.class_probability * (0.5 + 0.5 * facts.existence)
        age_s = np.maximum(facts.age_s, 0.0)
        scores *= 1.0 - config.recency_weight * (1.0 - np.exp2(age_s * (-1.0 / config.recency_half_life_s)))
        # Where something is needed near a place, the nearest that serves is meant, used or not.
        if facts.used_s is not None and request.query.near is None:
            used = np.exp2(np.maximum(facts.used_s, 0.0) * (-1.0 / config.use_half_life_s))
            scores *= 1.0 - config.use_weight * (used.max(initial=0.0) - used)
        if request.query.near is not None:
            away = facts.position - np.array(request.query.near)
            distance_m = np.sqrt(np.einsum("ij,ij->i", away, away))
            scores *= 1.0 - config.nearness_weight * (1.0 - np.exp(distance_m * (-1.0 / config.nearness_scale_m)))
        return np.asarray(scores)

    def _state_penalty(self, believed: NDArray[np.int64], state: ObjectState) -> Floats:
        denied = believed & state_bits(*state.opposites)
        otherwise = np.where(denied, self._config.state_penalty, self._config.unknown_state_penalty)
        return np.where(believed & state_bits(state), 0.0, otherwise)
