"""Bytes of image messages become arrays, or are refused under a counter's name."""

import numpy as np
import pytest

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.image_decoding import decode_color, decode_depth, decode_labels, labels_from_masks


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
