"""The pictures by which a model that sees judges states: the whole image, and each thing in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneObject
from memory_node.perception.crop import picture_jpeg
from memory_node.short_term.state_estimation import PicturedThing, StateRequest

FRAME_MAX_PX = 1024
CROP_MAX_PX = 512
# Share of a thing's width and height that is shown around it: what it touches tells of its state.
_MARGIN = 0.15
_QUALITY = 85
_MOST_THINGS = 6


def state_requests(
    things: Sequence[SceneObject], frame: Frame, task: str, task_objects: tuple[str, ...]
) -> Iterator[StateRequest]:
    """Yield requests for things that a frame gave new pictures of, several things in each. Pictures are coded when they
    are sent; without the frame's image the small ones that memory keeps are."""
    seen = {id(one.crop_jpeg): one.at_pixels for one in frame.observations if one.crop_jpeg}
    for start in range(0, len(things), _MOST_THINGS):
        pictured = []
        for thing in things[start : start + _MOST_THINGS]:
            place = seen.get(id(thing.crop_jpeg))
            crop = partial(bytes, thing.crop_jpeg)
            if frame.color is not None and place is not None:
                crop = partial(_crop, frame.color, place)
            pictured.append(PicturedThing(thing.id, thing.class_name, crop))
        whole = partial(picture_jpeg, frame.color, FRAME_MAX_PX, _QUALITY) if frame.color is not None else None
        yield StateRequest(tuple(pictured), frame.stamp_ns, whole, task, task_objects)


def _crop(color: NDArray[np.uint8], place: tuple[int, int, int, int]) -> bytes:
    left, right, top, bottom = place
    across, down = round(_MARGIN * (right - left + 1)), round(_MARGIN * (bottom - top + 1))
    piece = color[max(0, top - down) : bottom + down + 1, max(0, left - across) : right + across + 1]
    return picture_jpeg(piece, CROP_MAX_PX, _QUALITY)
