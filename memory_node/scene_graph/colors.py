"""One colour for each class and room, the same in the picture and in rviz."""

from __future__ import annotations

import colorsys
import zlib

Rgb = tuple[float, float, float]


def class_color(name: str) -> Rgb:
    """Return a saturated colour in [0, 1] for a class name, the same on every machine."""
    code = zlib.crc32(name.lower().encode())
    hue = (code % 997) / 997.0
    return colorsys.hls_to_rgb(hue, 0.38 + 0.14 * ((code >> 12) % 3) / 2.0, 0.55 + 0.3 * ((code >> 16) % 2))


def room_color(index: int) -> Rgb:
    """Return a pale colour for the n-th room; neighbours in the count differ clearly (golden ratio)."""
    return colorsys.hls_to_rgb((0.58 + index * 0.618034) % 1.0, 0.90, 0.55)
