"""Finds how a remembered map lies in the present one, by the things that are in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.scene import SceneObject

_NEAR_M = 0.25
_MOST_PAIRS = 400


@dataclass(frozen=True, eq=False)
class Alignment:
    """now_T_then: where the remembered frame lies in the present one. matches: things that agree; share: of those
    compared."""

    now_T_then: Pose
    matches: int
    share: float
    residual_m: float


def align(then: Sequence[SceneObject], now: Sequence[SceneObject], least_matches: int = 4) -> Alignment | None:
    """Return the planar transform that brings most remembered things onto seen ones of the same class.

    Fixed things are preferred: movable ones only join where there are too few. Tried is every transform that two
    pairs of things fix (exhaustive consensus, deterministic). None where fewer than `least_matches` agree, or another
    transform explains nearly
    as many: a corridor of equal doors is no proof.
    """
    then, now = _landmarks(then, least_matches), _landmarks(now, least_matches)
    pairs = [(i, j) for i, a in enumerate(then) for j, b in enumerate(now) if a.class_name == b.class_name]
    if len(pairs) < 2:
        return None
    at, there = np.array([o.box.center[:2] for o in then]), np.array([o.box.center[:2] for o in now])
    same = np.zeros((len(then), len(now)), bool)
    same[tuple(np.array(pairs).T)] = True
    scored = _consensus(at, there, same, pairs[:_MOST_PAIRS])
    if not scored:
        return None
    count, yaw, shift = scored[0]
    if count < least_matches or any(
        other >= 0.9 * count and not _equal(yaw, shift, yaw_2, shift_2) for other, yaw_2, shift_2 in scored[1:]
    ):
        return None
    return _refined(at, there, same, yaw, shift, min(len(then), len(now)))


def _landmarks(objects: Sequence[SceneObject], least: int) -> list[SceneObject]:
    present = [found for found in objects if not found.removed and found.existence >= 0.5]
    fixed = [found for found in present if not found.movable]
    return fixed if len(fixed) >= least else present


def _consensus(
    at: FloatArray, there: FloatArray, same: NDArray[np.bool_], pairs: list[tuple[int, int]]
) -> list[tuple[int, float, FloatArray]]:
    """Return (matches, yaw, shift) of the transforms that two pairs fix, best first, the same one only once."""
    tried: list[tuple[int, float, FloatArray]] = []
    for first, (i, j) in enumerate(pairs):
        for k, m in pairs[first + 1 :]:
            leg_then, leg_now = at[k] - at[i], there[m] - there[j]
            length = float(np.linalg.norm(leg_then))
            if i == k or j == m or length < 0.5 or abs(length - float(np.linalg.norm(leg_now))) > _NEAR_M:
                continue
            yaw = float(np.arctan2(leg_now[1], leg_now[0]) - np.arctan2(leg_then[1], leg_then[0]))
            shift = 0.5 * (there[j] + there[m]) - 0.5 * _turned(at[i] + at[k], yaw)
            if any(_equal(yaw, shift, yaw_2, shift_2) for _, yaw_2, shift_2 in tried[-20:]):
                continue
            tried.append((len(_matches(at, there, same, yaw, shift)), yaw, shift))
    tried.sort(key=lambda entry: -entry[0])
    return tried[:50]


def _refined(
    at: FloatArray, there: FloatArray, same: NDArray[np.bool_], yaw: float, shift: FloatArray, most: int
) -> Alignment:
    """Return the least-squares transform of what agrees (Kabsch 1976)."""
    for _ in range(3):
        matched = _matches(at, there, same, yaw, shift)
        one, other = at[[i for i, _ in matched]], there[[j for _, j in matched]]
        mean_one, mean_other = one.mean(axis=0), other.mean(axis=0)
        p, q = one - mean_one, other - mean_other
        yaw = float(np.arctan2((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum(), (p * q).sum()))
        shift = mean_other - _turned(mean_one, yaw)
    residual = float(np.sqrt(((_turned(one, yaw) + shift - other) ** 2).sum(axis=1).mean()))
    return Alignment(Pose.planar(float(shift[0]), float(shift[1]), yaw), len(matched), len(matched) / most, residual)


def _matches(
    at: FloatArray, there: FloatArray, same: NDArray[np.bool_], yaw: float, shift: FloatArray
) -> list[tuple[int, int]]:
    distance = np.linalg.norm((_turned(at, yaw) + shift)[:, None] - there[None], axis=2)
    distance[~same] = np.inf
    matched = []
    for i in np.argsort(distance.min(axis=1), kind="stable").tolist():
        j = int(np.argmin(distance[i]))
        if distance[i, j] <= _NEAR_M:
            matched.append((i, j))
            distance[:, j] = np.inf
    return matched


def _turned(points: FloatArray, yaw: float) -> FloatArray:
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


def _equal(yaw: float, shift: FloatArray, yaw_2: float, shift_2: FloatArray) -> bool:
    turn = abs(float(np.arctan2(np.sin(yaw - yaw_2), np.cos(yaw - yaw_2))))
    return turn < 0.1 and float(np.linalg.norm(shift - shift_2)) < 0.5
