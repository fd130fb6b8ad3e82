"""Whether a camera that stands still shows anything new."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Pose

# Images are compared in blocks of this many pixels a side, a fraction of the smallest thing that is remembered.
_BLOCK_PX = 8
# The camera stands while it is nearer than this to where it was; 0.2 degrees are 2 pixels of a usual camera.
_MOVED_M, _TURNED_RAD = 0.01, 0.0035
# A block is new from so many deviations of its own noise on, and from this change on: metres for each metre of depth,
# share of pixels with a return, levels of a colour.
_SIGMAS = 6.0
_LEAST_DEPTH, _LEAST_SHARE, _LEAST_COLOR = 0.005, 0.2, 4.0
# What noise is expected to be before it has been seen, in the same units.
_FIRST_DEPTH, _FIRST_SHARE, _FIRST_COLOR = 0.001, 0.02, 1.0
# The mean and the noise of a block are those of about so many views.
_VIEWS = 30
_NEVER_NS = -(2**62)
# Views are wanted for so long after something new, or so many: memory has settled on it by then. It gives a thing up
# that half as many show to be gone.
_SETTLES_S, _SETTLES_VIEWS = 1.0, 20
# Views at rest are compared at least so often (s): what appears, moves or vanishes is seen within 0.2 s.
_COMPARED_WITHIN_S = 0.15

Blocks = NDArray[np.float32]


class StillView:
    """Learns the mean and the noise of each block of a view, and so tells what is new in it from noise.

    The running Gaussian average of C. Wren et al. (Pfinder, 1997), on blocks of depth, returns and colours: their
    means have an eighth of a pixel's noise. As a block learns how much it flickers, edges of depth and screens come to
    rest.

    Args:
        period_s: a view is wanted after this time, by stamps, whether it shows anything new or not; 0: always.
    """

    def __init__(self, period_s: float) -> None:
        self._period_ns = int(period_s * 1e9)
        self._pose: Pose | None = None
        self._layers: tuple[_Layer, ...] = ()
        self._used_ns = self._new_ns = self._compared_ns = self._asked_ns = _NEVER_NS
        self._step_ns = 0  # from the view before to the newest
        self._settling = 0  # views that memory has taken in since something was new

    def rest_s(self, stamp_ns: int) -> float:
        """Return for how long, from a view on, none need even be compared: nothing was new for a while, one was
        compared just now, and another will come in time. 0: compare this one. Call it before `is_wanted`, which need
        not be called else; also from another thread, as soon as a view has come.
        """
        if stamp_ns > self._asked_ns:
            self._step_ns, self._asked_ns = stamp_ns - self._asked_ns, stamp_ns
        since_ns = stamp_ns - self._compared_ns
        rests = (
            self._period_ns > 0
            and since_ns >= 0
            and not self._is_due(stamp_ns, since_ns)
            and not self._settles(self._compared_ns)  # else one that came before, and still waits, may show news
        )
        return max(0.0, _COMPARED_WITHIN_S - (since_ns + self._step_ns) * 1e-9) if rests else 0.0

    def is_wanted(
        self, stamp_ns: int, map_T_camera: Pose, color: NDArray[np.uint8], depth_m: NDArray[np.float32]
    ) -> bool:
        """Return whether memory should look at a view: RGB (h, w, 3) and depth (h, w) in metres, NaN or 0 no return.

        Views come in the order of their stamps. A clock that is set back begins anew.
        """
        if not self._period_ns:
            return True
        interval_ns = stamp_ns - self._compared_ns
        if interval_ns < 0:
            self._used_ns = self._asked_ns = _NEVER_NS
        if interval_ns < 0 or self._is_new(map_T_camera, color, depth_m):
            self._new_ns, self._settling = stamp_ns, 0
        self._compared_ns = stamp_ns  # last: another thread asks whether the next view is at rest
        return self._is_due(stamp_ns, interval_ns) or self._settles(stamp_ns)

    def used(self, stamp_ns: int) -> None:
        """Note that memory has taken a view in; while it cannot, every view is wanted."""
        self._used_ns = stamp_ns
        self._settling += 1

    def _is_due(self, stamp_ns: int, interval_ns: int) -> bool:
        """Return whether the period is over, or would be too long over with the next view."""
        return stamp_ns - self._used_ns > self._period_ns - min(interval_ns, self._period_ns) // 2

    def _settles(self, stamp_ns: int) -> bool:
        return stamp_ns - self._new_ns <= _SETTLES_S * 1e9 and self._settling < _SETTLES_VIEWS

    def _is_new(self, map_T_camera: Pose, color: NDArray[np.uint8], depth_m: NDArray[np.float32]) -> bool:
        if not self._stands(map_T_camera):
            # A camera under way is not compared with anything: the first view from where it stands will be.
            self._pose, self._layers = map_T_camera, ()
            return True
        known_m = np.fmax(depth_m, np.float32(0.0))  # NaN becomes 0, too
        share = _blocks((known_m > 0.0).astype(np.float32))
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = _blocks(known_m) / share
        depth[share < 0.5] = np.nan
        colors = _blocks(color)
        if not self._fit(depth, share, colors):
            sigmas = (
                _FIRST_DEPTH * np.nan_to_num(depth),
                np.full_like(share, _FIRST_SHARE),
                np.full_like(colors, _FIRST_COLOR),
            )
            self._layers = tuple(map(_Layer, (depth, share, colors), sigmas))
            return True
        by_depth, by_share, by_color = self._layers
        changes = (
            by_depth.changes(depth, _LEAST_DEPTH * np.nan_to_num(depth)),
            by_share.changes(share, _LEAST_SHARE),
            by_color.changes(colors, _LEAST_COLOR),
        )
        return any(changes)

    def _fit(self, *layers: Blocks) -> bool:
        return bool(self._layers) and all(layer.fits(blocks) for layer, blocks in zip(self._layers, layers))

    def _stands(self, map_T_camera: Pose) -> bool:
        if self._pose is None:
            return False
        moved_m = float(np.linalg.norm(map_T_camera.position - self._pose.position))
        return moved_m < _MOVED_M and map_T_camera.turn_rad(self._pose) < _TURNED_RAD


class _Layer:
    """The running mean and variance of each block; NaN, what a block does not show, changes neither."""

    def __init__(self, first: Blocks, sigma: Blocks) -> None:
        self._mean, self._variance, self._views = first.copy(), sigma**2, 1

    def fits(self, blocks: Blocks) -> bool:
        return self._mean.shape == blocks.shape

    def changes(self, blocks: Blocks, least: Blocks | float) -> bool:
        """Learn a view; return whether any block of it is new."""
        shown = np.isfinite(blocks)
        self._mean = np.where(np.isnan(self._mean), blocks, self._mean)
        limit = _SIGMAS * np.sqrt(self._variance) + least
        difference = np.nan_to_num(blocks - self._mean)
        new = np.abs(difference) > limit
        self._views = min(self._views + 1, _VIEWS)
        share = np.float32(1.0 / self._views)
        self._mean += np.where(new, difference, share * difference)
        # A change teaches noise, too, for flicker is nothing but changes; a single one no more than the limit.
        self._variance += share * shown * (np.minimum(difference**2, limit**2) - self._variance)
        return bool(new.any())


def _blocks(image: NDArray[Any]) -> Blocks:
    """Return the means of an image's blocks, of each channel."""
    height, width = image.shape[:2]
    size = (max(1, width // _BLOCK_PX), max(1, height // _BLOCK_PX))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
