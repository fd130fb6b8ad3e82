"""Finds the transform from a remembered map to the present one, from the things that are in both."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.scene_graph.object_table import ObjectTable, Rows

_NEAR_M = 0.25
# A movable thing refines a transform if it lies this near to its remembered place.
_STILL_M = 0.12
_LEAST_LEG_M = 0.5
_MOST_PAIRS = 600
_MOST_TRIED = 60
# Transforms that take the robot to places this near, and turn it by as much, are one.
_ONE_PLACE_M, _ONE_TURN_RAD = 0.5, 0.1
_LEAST_SIGMA_M = 0.01
_LEAST_MATCHES = 4
# Highest accepted probability that the matches agree by chance.
_MOST_CHANCE = 0.02


# Indices of things of the remembered map and of the present one, side by side.
Pairs = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, eq=False)
class Alignment:
    """now_T_then: where the remembered frame lies in the present one. matches: things that agree; share: of those
    compared; fixed: how many of them cannot move. moved_m: how far the things that agree lie from where they were
    remembered; sigma_m: standard deviation of that."""

    now_T_then: Pose
    matches: int
    share: float
    fixed: int
    moved_m: float
    sigma_m: float


@dataclass(frozen=True, eq=False)
class Landmarks:
    """n things: places (n, 2) and variances of these (n,), classes, and which cannot move (n,)."""

    at: FloatArray
    variance: FloatArray
    names: list[str]
    fixed: NDArray[np.bool_]

    @classmethod
    def of(cls, table: ObjectTable, rows: Rows) -> Landmarks:
        """Return rows of a table that are believed present."""
        rows = rows[~table.removed[rows] & (table.log_odds[rows] >= 0.0)]
        return cls(
            table.center[rows, :2],
            0.25 * table.face_variance[rows, :, :2].sum(axis=1).mean(axis=1).astype(np.float64),
            [table.class_names[code] for code in table.class_code[rows].tolist()],
            np.array([not table.record(row).movable for row in rows.tolist()], dtype=bool),
        )

    def select(self, which: NDArray[np.bool_] | Rows) -> Landmarks:
        """Return some of them."""
        index = np.arange(len(self))[which]
        names = [self.names[i] for i in index.tolist()]
        return Landmarks(self.at[index], self.variance[index], names, self.fixed[index])

    def nearest(self, place: FloatArray, count: int) -> Landmarks:
        """Return the `count` that lie nearest to a place (2,)."""
        if len(self) <= count:
            return self
        return self.select(np.argsort(((self.at - place) ** 2).sum(axis=1), kind="stable")[:count])

    def __len__(self) -> int:
        return len(self.names)

    def of_one_class(self, other: Landmarks) -> NDArray[np.bool_]:
        """Return which of these and of the others are of one class (n, m)."""
        code = {name: i for i, name in enumerate(dict.fromkeys([*self.names, *other.names]))}
        own, others = (np.array([code[name] for name in things.names], dtype=np.intp) for things in (self, other))
        return np.asarray(own[:, None] == others[None])


def align(then: Landmarks, now: Landmarks) -> Alignment | None:
    """Return the planar transform that brings most remembered things onto seen ones of the same class.

    Fixed things are preferred; movable ones are added only when there are too few. The candidates are the transforms
    with most votes (deterministic consensus): each two pairs of things of one class vote for a transform, the rarest
    classes first. The result is None if fewer than four agree, or if another transform explains nearly as
    many: a corridor of equal doors is no proof. The identity is preferred to all others.
    """
    fixed = then.select(then.fixed), now.select(now.fixed)
    one, other = fixed if min(map(len, fixed)) >= _LEAST_MATCHES else (then, now)
    same = one.of_one_class(other)
    if not same.any():
        return None
    here = other.at.mean(axis=0)
    candidates, hypotheses = _candidates(one, other, same, here)
    pairs = np.nonzero(same)  # few of all that there are, so distances are computed of them alone
    tried = [(len(_matches(one, other, pairs, found, _NEAR_M)), found) for found in candidates]
    most = max(count for count, _ in tried)
    best = next(found for count, found in tried if count >= 0.9 * most and (found is _UNMOVED or count == most))
    if best is not _UNMOVED:
        likely = [found for count, found in tried if count >= 0.9 * most]
        alone = all(_equal(best, found, here) for found in likely)
        if not alone or hypotheses * _chance(one, same, most) > _MOST_CHANCE:
            return None
    return _refined(one, other, pairs, best, (then, now))


_UNMOVED = Pose()


def _candidates(one: Landmarks, other: Landmarks, same: NDArray[np.bool_], here: FloatArray) -> tuple[list[Pose], int]:
    """Return the candidate transforms, the identity first, then those with most votes, and the number of all votes.
    here (2,): a place in the present map; transforms that take it to the same remembered place count as one.
    """
    i, j, k, m = _pairs_of_pairs(one, same)
    leg_then, leg_now = one.at[k] - one.at[i], other.at[m] - other.at[j]
    length = np.linalg.norm(leg_then, axis=1)
    fits = (i != k) & (j != m) & (length >= _LEAST_LEG_M)
    fits &= np.abs(length - np.linalg.norm(leg_now, axis=1)) <= _NEAR_M
    i, j, k, m, leg_then, leg_now = (values[fits] for values in (i, j, k, m, leg_then, leg_now))
    yaw = np.arctan2(leg_now[:, 1], leg_now[:, 0]) - np.arctan2(leg_then[:, 1], leg_then[:, 0])
    cos, sin = np.cos(yaw), np.sin(yaw)
    offset = here - 0.5 * (other.at[j] + other.at[m])
    back = np.stack([cos * offset[:, 0] + sin * offset[:, 1], cos * offset[:, 1] - sin * offset[:, 0]], axis=1)
    there = 0.5 * (one.at[i] + one.at[k]) + back
    turn = np.floor((yaw + np.pi) % (2.0 * np.pi) / _ONE_TURN_RAD)
    keys = np.column_stack([np.floor(there / _ONE_PLACE_M), turn]).astype(np.int64)
    votes = Counter(map(tuple, keys.tolist()))
    chosen = {key for key, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:_MOST_TRIED]}
    found = [_UNMOVED]
    for index, key in enumerate(map(tuple, keys.tolist())):
        if key in chosen:
            chosen.remove(key)
            found.append(_taking(there[index], here, float(yaw[index])))
    return found, len(keys)


def _chance(one: Landmarks, same: NDArray[np.bool_], matches: int) -> float:
    """Return the probability that a transform fixed by two things fits so many others by chance, if things lie
    anywhere."""
    sides = one.at.max(axis=0) - one.at.min(axis=0) + 2.0
    expected = float(same.sum()) * np.pi * _NEAR_M**2 / float(sides.prod())
    return float(gammainc(matches - 2, expected)) if matches > 2 else 1.0  # the upper tail of Poisson's distribution


def _pairs_of_pairs(one: Landmarks, same: NDArray[np.bool_]) -> tuple[NDArray[np.intp], ...]:
    """Return two pairs of things of one class in all combinations: i with j and k with m."""
    i, j = np.nonzero(same)
    rarity = same.sum(axis=1)[i] * same.sum(axis=0)[j]
    order = np.argsort(rarity, kind="stable")[:_MOST_PAIRS]
    i, j = i[order], j[order]
    first, second = np.triu_indices(len(i), 1)
    return i[first], j[first], i[second], j[second]


def _taking(there: FloatArray, here: FloatArray, yaw: float) -> Pose:
    """Return the transform of a yaw that takes `there` (2,) to `here` (2,)."""
    turned = Pose.planar(0.0, 0.0, yaw).apply([*there, 0.0])
    return Pose.planar(float(here[0] - turned[0]), float(here[1] - turned[1]), yaw)


def _refined(
    one: Landmarks,
    other: Landmarks,
    pairs: Pairs,
    found: Pose,
    present: tuple[Landmarks, Landmarks],
) -> Alignment | None:
    """Return the weighted least-squares transform of what agrees (Kabsch 1976): first of the landmarks, then of
    everything present that has not moved."""
    for _ in range(3):
        found = _fit(one, other, _matches(one, other, pairs, found, _NEAR_M), found)
    matched = _matches(one, other, pairs, found, _NEAR_M)
    if not matched:
        return None
    of_one_class = np.nonzero(present[0].of_one_class(present[1]))
    still: list[tuple[int, int]] = []
    for _ in range(2):
        still = _matches(*present, of_one_class, found, _STILL_M)
        found = _fit(*present, still, found)
    fixed = sum(bool(one.fixed[i]) for i, _ in matched)
    if len(matched) < (_LEAST_MATCHES if fixed < len(matched) else 3) or not still:
        return None
    moved_m, sigma_m = _moved(present[0].at[[i for i, _ in still]], _weights(*present, still), found)
    return Alignment(found, len(matched), len(matched) / min(len(one), len(other)), fixed, moved_m, sigma_m)


def _weights(one: Landmarks, other: Landmarks, matched: list[tuple[int, int]]) -> FloatArray:
    variance = [one.variance[i] + other.variance[j] + _LEAST_SIGMA_M**2 for i, j in matched]
    return 1.0 / np.array(variance)


def _moved(places: FloatArray, weights: FloatArray, found: Pose) -> tuple[float, float]:
    """Return how far places (n, 2) are moved, root mean square, and the standard deviation of that."""
    after = found.apply(np.column_stack([places, np.zeros(len(places))]))[:, :2]
    mean_square = float(np.average(((after - places) ** 2).sum(axis=1), weights=weights))
    return mean_square**0.5, float(weights.sum()) ** -0.5


def _fit(one: Landmarks, other: Landmarks, matched: list[tuple[int, int]], found: Pose) -> Pose:
    if len(matched) < 2:
        return found
    weights = _weights(one, other, matched)
    then, now = one.at[[i for i, _ in matched]], other.at[[j for _, j in matched]]
    mean_then, mean_now = (np.average(places, axis=0, weights=weights) for places in (then, now))
    p, q = then - mean_then, now - mean_now
    cross, dot = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0], (p * q).sum(axis=1)
    return _taking(mean_then, mean_now, float(np.arctan2((weights * cross).sum(), (weights * dot).sum())))


def _matches(one: Landmarks, other: Landmarks, pairs: Pairs, found: Pose, near_m: float) -> list[tuple[int, int]]:
    """Return those of some pairs, nearest first, that a transform brings within `near_m` of each other."""
    after = found.apply(np.column_stack([one.at, np.zeros(len(one))]))[:, :2]
    distance = np.linalg.norm(after[pairs[0]] - other.at[pairs[1]], axis=1)
    near = np.flatnonzero(distance <= near_m)
    i, j = pairs[0][near], pairs[1][near]
    order = np.argsort(distance[near], kind="stable")
    left, right = set(i.tolist()), set(j.tolist())
    matched = []
    for a, b in zip(i[order].tolist(), j[order].tolist()):
        if a in left and b in right:
            matched.append((a, b))
            left.remove(a)
            right.remove(b)
    return matched


def _equal(one: Pose, other: Pose, here: FloatArray) -> bool:
    """Return whether two transforms take a place (2,) of the present map to the same remembered place."""
    there, there_2 = (found.inverse().apply([*here, 0.0]) for found in (one, other))
    near = float(np.linalg.norm(there - there_2)) < _ONE_PLACE_M
    return near and abs(wrap_angle(one.yaw_rad - other.yaw_rad)) < _ONE_TURN_RAD
