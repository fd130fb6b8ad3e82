"""How well remembered things fit a request, and how they rank, over many at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.states import ObjectState, log_odds
from memory_node.search.class_scores import ClassScores
from memory_node.search.config import RetrievalConfig
from memory_node.search.fact_columns import Candidates, Facts, Floats, by_class, state_bits
from memory_node.search.request import Request


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
