"""Bytes of image messages become arrays, or are refused under a counter's name."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.image_decoding import (
    decode_coded_color,
    decode_color,
    decode_compressed_depth,
    decode_depth,
    decode_labels,
    labels_from_masks,
)


def test_16uc1_millimetres_become_metres_with_padded_rows() -> None:
    rows = np.array([[1000, 0, 9], [2500, 40, 9]], "<u2")  # third column is padding
    assert decode_depth(rows.tobytes(), "16UC1", 2, 2, 6) == pytest.approx(np.array([[1.0, 0.0], [2.5, 0.04]]))


def test_32fc1_keeps_nan_and_drops_infinite_and_negative() -> None:
    depth = decode_depth(np.array([[1.5, np.nan, np.inf, -1.0]], "<f4").tobytes(), "32FC1", 1, 4, 16)
    assert depth[0, 0] == 1.5
    assert np.isnan(depth[0, 1:]).all()


def test_big_endian_depth_is_read_as_such() -> None:
    assert decode_depth(np.array([[1234]], ">u2").tobytes(), "16UC1", 1, 1, 2, big_endian=True)[0, 0] == pytest.approx(
        1.234
    )


@pytest.mark.parametrize(
    ("encoding", "pixel"),
    [("rgb8", [1, 2, 3]), ("bgr8", [3, 2, 1]), ("rgba8", [1, 2, 3, 9]), ("bgra8", [3, 2, 1, 9])],
)
def test_color_encodings_give_rgb(encoding: str, pixel: list[int]) -> None:
    data = bytes(pixel * 6)
    color = decode_color(data, encoding, 2, 3, 3 * len(pixel))
    assert color.shape == (2, 3, 3)
    assert (color == [1, 2, 3]).all()


@pytest.mark.parametrize(
    ("encoding", "rows"),
    [
        ("bayer_rggb8", ["RG", "GB"]),
        ("bayer_bggr8", ["BG", "GR"]),
        ("bayer_gbrg8", ["GB", "RG"]),
        ("bayer_grbg8", ["GR", "BG"]),
    ],
)
def test_bayer_patterns_give_the_colour_behind_them(encoding: str, rows: list[str]) -> None:
    level = {"R": 200, "G": 100, "B": 20}
    mosaic = np.tile(np.array([[level[cell] for cell in row] for row in rows], np.uint8), (4, 4))
    color = decode_color(mosaic.tobytes(), encoding, 8, 8, 8)
    assert (color[2:6, 2:6] == [200, 100, 20]).all()


@pytest.mark.parametrize(("encoding", "order"), [("yuv422_yuy2", "YUYV"), ("yuv422", "UYVY")])
def test_yuv_pixels_give_rgb(encoding: str, order: str) -> None:
    # A pure red by BT.601: Y 81, U 90, V 240.
    given = {"Y": 81, "U": 90, "V": 240}
    color = decode_color(bytes(given[part] for part in order) * 4, encoding, 2, 4, 8)
    assert np.abs(color.astype(int) - [254, 0, 0]).max() <= 3


def test_pattern_of_an_odd_size_is_refused() -> None:
    with pytest.raises(InputSkippedError, match="even sides"):
        decode_color(bytes(15), "bayer_rggb8", 3, 5, 5)


def test_mono8_becomes_gray_rgb() -> None:
    assert (decode_color(bytes([7, 8]), "mono8", 1, 2, 2) == [[[7, 7, 7], [8, 8, 8]]]).all()


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("depth_encoding", lambda: decode_depth(b"", "rgb8", 1, 1, 3)),
        ("depth_size", lambda: decode_depth(b"\0" * 5, "16UC1", 2, 2, 4)),
        ("depth_size", lambda: decode_depth(b"\0" * 8, "16UC1", 2, 2, 2)),
        ("color_encoding", lambda: decode_color(b"", "nv21", 1, 1, 2)),
        ("color_size", lambda: decode_color(b"\0" * 3, "rgb8", 0, 1, 3)),
        ("label_encoding", lambda: decode_labels(b"", "rgb8", 1, 1, 3)),
        ("mask_size", lambda: labels_from_masks([np.ones((2, 2), bool)], (3, 3))),
    ],
)
def test_malformed_image_is_skipped_under_its_reason(reason: str, call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputSkippedError) as error:
        call()
    assert error.value.reason == reason


def test_smaller_mask_wins_where_masks_overlap() -> None:
    tray, mug = np.ones((4, 4), bool), np.zeros((4, 4), bool)
    mug[1:3, 1:3] = True
    labels = labels_from_masks([mug, tray], (4, 4))
    assert (labels == np.where(mug, 1, 2)).all()


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
