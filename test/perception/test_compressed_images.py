"""Depth as image_transport compresses it, coded here by the published formats and read back."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.image_decoding import decode_coded_color, decode_compressed_depth

HEADER = struct.pack("<iff", 0, 0.0, 0.0)


def depth_mm() -> np.ndarray:
    generator = np.random.default_rng(5)
    depth = (1500 + np.cumsum(generator.integers(-9, 10, (48, 64)), axis=1)).astype(np.uint16)
    depth[generator.random((48, 64)) < 0.2] = 0
    depth[10:20, 5:30] = 0
    depth[30, 3] = 65535
    return depth


def rvl(depth: np.ndarray) -> bytes:
    """Code a depth image as the format's paper describes it, number by number."""
    nibbles: list[int] = []

    def put(number: int) -> None:
        while True:
            three, number = number & 7, number >> 3
            nibbles.append(three | (8 if number else 0))
            if not number:
                return

    flat, at, previous = depth.ravel().tolist(), 0, 0
    while at < len(flat):
        zeros = next((i for i, value in enumerate(flat[at:]) if value), len(flat) - at)
        at += zeros
        values = flat[at : at + next((i for i, value in enumerate(flat[at:]) if not value), len(flat) - at)]
        at += len(values)
        put(zeros)
        put(len(values))
        for value in values:
            step, previous = value - previous, value
            put((step << 1) ^ (step >> 31))
    nibbles += [0] * (-len(nibbles) % 8)
    words = [
        sum(n << shift for n, shift in zip(nibbles[i : i + 8], range(28, -4, -4))) for i in range(0, len(nibbles), 8)
    ]
    return struct.pack("<ii", depth.shape[1], depth.shape[0]) + struct.pack(f"<{len(words)}I", *words)


def png(image: np.ndarray) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()


@pytest.mark.parametrize("code", [rvl, png])
def test_millimetres_come_back_exactly(code) -> None:  # type: ignore[no-untyped-def]
    depth = depth_mm()
    read = decode_compressed_depth(HEADER + code(depth), f"16UC1; compressedDepth {code.__name__}")
    assert read.shape == depth.shape
    assert np.isnan(read[depth == 0]).all()
    assert np.allclose(read[depth > 0] * 1e3, depth[depth > 0], atol=1e-2)


def test_millimetres_of_mono16_and_without_a_header_come_back_too() -> None:
    depth = depth_mm()
    for data, coding in ((HEADER + png(depth), "mono16; compressedDepth"), (png(depth), "16UC1; compressedDepth png")):
        read = decode_compressed_depth(data, coding)
        assert np.allclose(read[depth > 0] * 1e3, depth[depth > 0], atol=1e-2)


def test_floats_without_the_parameters_of_their_coding_are_refused() -> None:
    for data, why in ((HEADER + png(depth_mm()), "parameters 0 and 0"), (png(depth_mm()), "no header")):
        with pytest.raises(InputSkippedError, match=why):
            decode_compressed_depth(data, "32FC1; compressedDepth png")


def test_inverse_depth_of_floats_is_undone() -> None:
    depth = np.linspace(0.5, 8.0, 48 * 64).reshape(48, 64)
    quantum_a, quantum_b = 100.0 * 101.0, 1.0 - 100.0 * 101.0 / 10.0
    coded = np.where(depth < 10.0, quantum_a / depth + quantum_b, 0.0).astype(np.uint16)
    read = decode_compressed_depth(struct.pack("<iff", 0, quantum_a, quantum_b) + png(coded), "32FC1; compressedDepth")
    assert np.allclose(read, depth, rtol=0.01)


@pytest.mark.parametrize("keep", [5, 14, 40, -30])
@pytest.mark.parametrize("code", [rvl, png])
def test_what_is_cut_short_is_refused(code, keep: int) -> None:  # type: ignore[no-untyped-def]
    data = (HEADER + code(depth_mm()))[:keep]
    with pytest.raises(InputSkippedError):
        decode_compressed_depth(data, f"16UC1; compressedDepth {code.__name__}")


def test_other_codings_are_refused() -> None:
    with pytest.raises(InputSkippedError, match="depth_encoding"):
        decode_compressed_depth(HEADER, "8UC1; compressedDepth png")
    with pytest.raises(InputSkippedError, match="depth_encoding"):
        decode_compressed_depth(HEADER, "jpeg")


def test_truncated_jpeg_is_no_grey_picture() -> None:
    picture = np.random.default_rng(2).integers(0, 255, (120, 160, 3)).astype(np.uint8)
    data = cv2.imencode(".jpg", picture)[1].tobytes()
    assert decode_coded_color(data, "a").shape == (120, 160, 3)
    with pytest.raises(InputSkippedError, match=r"image_truncated: frame\.jpg"):
        decode_coded_color(data[: len(data) // 2], "frame.jpg")
    with pytest.raises(InputSkippedError, match="color_encoding"):
        decode_coded_color(png(picture.astype(np.uint16)), "a.png")


def test_png_of_a_size_that_no_camera_has_is_refused() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"0")) + chunk(b"IEND", b"")
    with pytest.raises(InputSkippedError, match="image_undecodable"):
        decode_coded_color(huge, "huge.png")
