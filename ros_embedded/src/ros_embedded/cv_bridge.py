"""Image messages to and from OpenCV's arrays: the Python API of cv_bridge. OpenCV itself is needed for conversions."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from ros_embedded.extras import names_missing_extra
from ros_embedded.interfaces import get_message

_DEPTHS = {
    "8U": "uint8",
    "8S": "int8",
    "16U": "uint16",
    "16S": "int16",
    "32S": "int32",
    "32F": "float32",
    "64F": "float64",
}
_CHANNELS = {"mono": 1, "bgr": 3, "rgb": 3, "bgra": 4, "rgba": 4, "bayer_rggb": 1, "bayer_bggr": 1, "bayer_gbrg": 1,
             "bayer_grbg": 1, "yuv422": 2, "yuv422_yuy2": 2}  # fmt: skip
# OpenCV names a Bayer pattern by its second row, and 4:2:2 by the order of its bytes
_OPENCV_NAMES = {"mono": "GRAY", "bayer_rggb": "BayerBG", "bayer_bggr": "BayerRG", "bayer_gbrg": "BayerGR",
                 "bayer_grbg": "BayerGB", "yuv422": "YUV", "yuv422_yuy2": "YUV"}  # fmt: skip
_BYTE_ORDERS = {"yuv422": "_UYVY", "yuv422_yuy2": "_YUY2"}


class CvBridgeError(TypeError):
    """An encoding is unknown, or does not fit the image."""


def _colour_and_bits(encoding: str) -> tuple[str, int] | None:
    """`("rgb", 8)` for rgb8; None if it is no colour encoding."""
    if encoding in _CHANNELS:
        return encoding, 8
    match = re.fullmatch(r"(\w+?)(8|16)", encoding)
    return (match[1], int(match[2])) if match and match[1] in _CHANNELS else None


def _opencv() -> Any:
    with names_missing_extra():
        import cv2

        return cv2


class CvBridge:
    """Converts; arrays are (height, width) or (height, width, channels)."""

    def encoding_to_dtype_with_channels(self, encoding: str) -> tuple[str, int]:
        """The numpy type and the channels of an encoding such as `bgr8` or `32FC1`. Raises CvBridgeError."""
        colour = _colour_and_bits(encoding)
        if colour is not None:
            return f"uint{colour[1]}", _CHANNELS[colour[0]]
        match = re.fullmatch(r"(8U|8S|16U|16S|32S|32F|64F)(?:C(\d+))?", encoding)
        if match is None:
            raise CvBridgeError(f"Unrecognized image encoding [{encoding}]")
        return _DEPTHS[match[1]], int(match[2] or 1)

    def dtype_with_channels_to_cvtype2(self, dtype: Any, n_channels: int) -> str:
        """`8UC3` for uint8 and 3. Raises KeyError."""
        return f"{({name: depth for depth, name in _DEPTHS.items()})[np.dtype(dtype).name]}C{n_channels}"

    def imgmsg_to_cv2(self, img_msg: Any, desired_encoding: str = "passthrough") -> np.ndarray:
        """The pixels of an Image; without a conversion they share its memory. Raises CvBridgeError."""
        name, channels = self.encoding_to_dtype_with_channels(img_msg.encoding)
        dtype = np.dtype(name).newbyteorder(">" if img_msg.is_bigendian else "<")
        if img_msg.step < img_msg.width * channels * dtype.itemsize:
            raise CvBridgeError(f"a step of {img_msg.step} bytes is too short for {img_msg.width} pixels")
        strides = (img_msg.step, channels * dtype.itemsize, dtype.itemsize)
        image = np.ndarray((img_msg.height, img_msg.width, channels), dtype, img_msg.data, 0, strides)
        image = (image[:, :, 0] if channels == 1 else image).astype(name, copy=False)
        return (
            image if desired_encoding == "passthrough" else self._converted(image, img_msg.encoding, desired_encoding)
        )

    def cv2_to_imgmsg(self, cvim: np.ndarray, encoding: str = "passthrough", header: Any = None) -> Any:
        """An Image of pixels, which must be in `encoding` already. Raises TypeError or CvBridgeError."""
        if not isinstance(cvim, np.ndarray):
            raise TypeError("Your input type is not a numpy array")
        found = self.dtype_with_channels_to_cvtype2(cvim.dtype, 1 if cvim.ndim < 3 else cvim.shape[2])
        message = get_message("sensor_msgs/msg/Image")(height=cvim.shape[0], width=cvim.shape[1])
        message.encoding = found if encoding == "passthrough" else encoding
        if self.dtype_with_channels_to_cvtype2(*self.encoding_to_dtype_with_channels(message.encoding)) != found:
            raise CvBridgeError(f"encoding specified as {encoding}, but image has incompatible type {found}")
        if header is not None:
            message.header = header
        message.is_bigendian = cvim.dtype.byteorder == ">" or (cvim.dtype.byteorder == "=" and sys.byteorder == "big")
        message.data = cvim.tobytes()
        message.step = len(message.data) // cvim.shape[0] if cvim.shape[0] else 0
        return message

    def compressed_imgmsg_to_cv2(self, cmprs_img_msg: Any, desired_encoding: str = "passthrough") -> np.ndarray:
        """The pixels of a CompressedImage, as they were compressed: bgr8, mono8 or 16 bits. Raises CvBridgeError."""
        cv2 = _opencv()
        image = cv2.imdecode(np.frombuffer(cmprs_img_msg.data, np.uint8), cv2.IMREAD_UNCHANGED)
        if image is None:
            raise CvBridgeError(f"cannot decode the image of format {cmprs_img_msg.format!r}")
        if desired_encoding == "passthrough":
            return image
        colour = {1: "mono", 3: "bgr", 4: "bgra"}[1 if image.ndim < 3 else image.shape[2]]
        return self._converted(image, f"{colour}{8 * image.dtype.itemsize}", desired_encoding)

    def cv2_to_compressed_imgmsg(self, cvim: np.ndarray, dst_format: str = "jpg") -> Any:
        """A CompressedImage in one of OpenCV's formats. Raises TypeError."""
        if not isinstance(cvim, np.ndarray):
            raise TypeError("Your input type is not a numpy array")
        data = _opencv().imencode(f".{dst_format}", cvim)[1].tobytes()
        return get_message("sensor_msgs/msg/CompressedImage")(format=dst_format, data=data)

    def _converted(self, image: np.ndarray, source: str, target: str) -> np.ndarray:
        before, after = _colour_and_bits(source), _colour_and_bits(target)
        if before is None or after is None:
            if self.encoding_to_dtype_with_channels(source)[1] != self.encoding_to_dtype_with_channels(target)[1]:
                raise CvBridgeError(f"[{source}] cannot be converted to [{target}]: not both are colour formats")
            return image.astype(self.encoding_to_dtype_with_channels(target)[0])
        (colour, bits), (wanted, wanted_bits) = before, after
        if colour != wanted:
            cv2 = _opencv()
            names = [_OPENCV_NAMES.get(name, name.upper()) for name in (colour, wanted)]
            code = getattr(cv2, f"COLOR_{names[0]}2{names[1]}{_BYTE_ORDERS.get(colour, '')}", None)
            if code is None:
                raise CvBridgeError(f"Unsupported conversion from [{source}] to [{target}]")
            image = cv2.cvtColor(np.ascontiguousarray(image), code)
        if bits == wanted_bits:
            return image
        return np.round(image / 257).astype(np.uint8) if bits > wanted_bits else image.astype(np.uint16) * 257
