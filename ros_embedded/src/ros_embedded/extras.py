"""The extras of this distribution: libraries that only some of ROS's packages need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_EXTRA_OF_LIBRARY = {"cv2": "cv_bridge", "pytransform3d": "tf2"}


@contextmanager
def names_missing_extra() -> Iterator[None]:
    """Around an import: where a library is missing, the error tells which extra brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRA_OF_LIBRARY.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        message = f"{error.msg}; install it with pip install 'ros_embedded[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error
