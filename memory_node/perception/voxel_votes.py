"""A sparse voxel map in which each view votes whether a place belongs to a thing or to structure, and to which thing.

The label of a place is the one that has led the vote (Boyer and Moore 1981), as in incremental segmentation of maps
(Tateno et al. 2015). What only some views took for a thing, such as a wall of which too little was in view, is
outvoted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics

Indices = NDArray[np.intp]
_BITS = 21
_ORIGIN = 1 << (_BITS - 1)
_MOST_WEIGHT = 30.0
# Rays that end this far behind a place have passed through it.
_BEHIND_M, _BEHIND_SHARE = 0.08, 0.03
_GONE = 0.4
_COLUMNS = (
    ("owner", np.int32, ()),
    ("lead", np.float32, ()),
    ("thing", np.float32, ()),
    ("structure", np.float32, ()),
    ("point", np.float32, (3,)),
    ("weight", np.float32, ()),
    ("seen", np.int32, ()),
)


class VoxelVotes:
    """n voxels, sorted by key. owner: number of the leading thing, 0 none; lead: its lead in views. thing, structure:
    votes. point: mean of what was measured there (n, 3) in map; seen: number of the last view.

    Args:
        voxel_m: edge.
        most: of so many voxels those that were seen last are kept.
    """

    owner: NDArray[np.int32]
    lead: NDArray[np.float32]
    thing: NDArray[np.float32]
    structure: NDArray[np.float32]
    point: NDArray[np.float32]
    weight: NDArray[np.float32]
    seen: NDArray[np.int32]

    def __init__(self, voxel_m: float, most: int) -> None:
        self.voxel_m = voxel_m
        self._most = most
        self.keys = np.zeros(0, np.int64)
        for name, kind, shape in _COLUMNS:
            setattr(self, name, np.zeros((0, *shape), kind))

    def add(self, points: NDArray[np.float64], is_thing: NDArray[np.bool_], view: int) -> tuple[Indices, Indices]:
        """Let a view's points (m, 3) vote; return the voxels that they lie in (k,), and which of these each is in
        (m,)."""
        if len(self.keys) > self._most:
            self._keep(self.seen > np.partition(self.seen, len(self.seen) // 4)[len(self.seen) // 4])
        keys, inverse = np.unique(self._keys_of(points), return_inverse=True)
        at = self._places_of(keys)
        count = np.bincount(inverse)
        share = np.bincount(inverse, is_thing) / count
        self.thing[at] += share
        self.structure[at] += 1.0 - share
        mean = np.stack([np.bincount(inverse, points[:, axis]) for axis in range(3)], axis=1) / count[:, None]
        self.weight[at] = np.minimum(self.weight[at] + 1.0, _MOST_WEIGHT)
        self.point[at] += (mean - self.point[at]) / self.weight[at][:, None]
        self.seen[at] = view
        return at, inverse

    def own(self, at: Indices, owner: int) -> None:
        """Let a thing be voted for at voxels (k,)."""
        same = self.owner[at] == owner
        self.lead[at] += np.where(same, 1.0, -1.0)
        taken = at[~same & (self.lead[at] <= 0.0)]
        self.owner[taken], self.lead[taken] = owner, 1.0

    def join(self, kept: int, ended: int) -> None:
        """Give what one thing owns to another."""
        self.owner[self.owner == ended] = kept

    def of_things(self, least_views: float) -> NDArray[np.bool_]:
        """Return which voxels (n,) belong to a thing by most views, and by at least so many."""
        return (self.owner > 0) & (self.thing > self.structure) & (self.thing >= least_views)

    def carve(self, depth_m: NDArray[np.float32], intrinsics: Intrinsics, camera_T_map: NDArray[np.float64]) -> None:
        """Halve the votes of voxels through which a depth image (h, w) sees; a voxel without votes is forgotten."""
        if not len(self.keys):
            return
        local = self.point @ camera_T_map[:3, :3].T.astype(np.float32) + camera_T_map[:3, 3].astype(np.float32)
        z = local[:, 2]
        ahead = np.flatnonzero((z > 0.2) & (z < 4.0))
        x, y, z = local[ahead].T
        columns = np.rint(x / z * intrinsics.fx + intrinsics.cx).astype(np.intp)
        rows = np.rint(y / z * intrinsics.fy + intrinsics.cy).astype(np.intp)
        inside = (columns >= 0) & (rows >= 0) & (columns < depth_m.shape[1]) & (rows < depth_m.shape[0])
        ahead, z = ahead[inside], z[inside]
        with np.errstate(invalid="ignore"):
            passed = depth_m[rows[inside], columns[inside]] > z + _BEHIND_M + _BEHIND_SHARE * z * z
        through = ahead[passed]
        self.thing[through] *= 0.5
        self.structure[through] *= 0.5
        empty = through[self.thing[through] + self.structure[through] < _GONE]
        if empty.size:
            kept = np.ones(len(self.keys), bool)
            kept[empty] = False
            self._keep(kept)

    def cells(self, at: Indices) -> NDArray[np.int64]:
        """Return the integer coordinates (k, 3) of voxels."""
        mask = (1 << _BITS) - 1
        keys = self.keys[at]
        return np.stack([keys >> (2 * _BITS), (keys >> _BITS) & mask, keys & mask], axis=1) - _ORIGIN

    def _keys_of(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        cell = np.floor(points / self.voxel_m).astype(np.int64) + _ORIGIN
        return (cell[:, 0] << (2 * _BITS)) | (cell[:, 1] << _BITS) | cell[:, 2]

    def _places_of(self, keys: NDArray[np.int64]) -> Indices:
        """Return where keys (k,), sorted and each once, stand; new ones are entered."""
        at = np.searchsorted(self.keys, keys)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == keys[known]
        new = keys[~known]
        if new.size:
            where = at[~known]
            self.keys = np.insert(self.keys, where, new)
            for name, _, _ in _COLUMNS:
                setattr(self, name, np.insert(getattr(self, name), where, 0, axis=0))
            at = np.searchsorted(self.keys, keys)
        return at

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.keys = self.keys[kept]
        for name, _, _ in _COLUMNS:
            setattr(self, name, getattr(self, name)[kept])
