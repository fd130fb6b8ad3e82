"""A recording at the speed of its own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator

from memory_node.app.ingest.recording import RgbdImage
from memory_node.domain.errors import InvalidValueError

# A recording may pause for longer; nobody wants to wait for that.
_LONGEST_WAIT_S = 5.0


def paced(images: Iterator[RgbdImage], rate: float | None) -> Iterator[RgbdImage]:
    """Yield images when their time has come, `rate` times as fast as they were taken; None: at once.

    Raises:
        InvalidValueError: a rate that is not positive.
    """
    if rate is not None and not rate > 0.0:
        raise InvalidValueError(f"--rate: expected a positive number, got {rate:g}")
    last_ns, due_s = 0, time.monotonic()
    for image in images:
        if rate is not None:
            if last_ns:
                due_s += min(_LONGEST_WAIT_S, max(0.0, (image.stamp_ns - last_ns) * 1e-9 / rate))
            time.sleep(max(0.0, due_s - time.monotonic()))
            last_ns = image.stamp_ns
        yield image
