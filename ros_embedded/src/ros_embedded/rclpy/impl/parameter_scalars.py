"""Types of plain YAML scalars as rcl reads them: bool, int, float or str (`get_value` of rcl_yaml_param_parser)."""

from __future__ import annotations

import math
import re
import sys

_TRUE = {"Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
_FALSE = {"N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
_SPACE = r"[ \t\n\v\f\r]*"  # C's number functions skip leading white space
_INTEGER = re.compile(rf"{_SPACE}([-+]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_DECIMAL = re.compile(rf"{_SPACE}[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(rf"{_SPACE}[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?")
_INFINITY = re.compile(rf"[-+]?\.(?:inf|Inf|INF)|{_SPACE}[-+]?(?i:inf(?:inity)?)")
_NAN = re.compile(rf"\.(?:nan|NaN|NAN)|{_SPACE}[-+]?(?i:nan)(?:\([0-9A-Za-z_]*\))?")
_MOST_DIGITS = 19  # of a decimal that fits int64
_INT64 = range(-(2**63), 2**63)


def typed_scalar(text: str) -> bool | int | float | str:
    """The value of a scalar without quotes; a number that fits neither int64 nor double is text."""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    integer = _integer(text)
    if integer is not None:
        return integer
    number = _float(text)
    return text if number is None else number


def _integer(text: str) -> int | None:
    """As C's strtoll with base 0 reads all of the text."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    if decimal is not None and len(decimal) > _MOST_DIGITS:
        return None
    value = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    value = -value if sign == "-" else value
    return value if value in _INT64 else None


def _float(text: str) -> float | None:
    """As C's strtod reads all of the text; also YAML's names of what is not finite."""
    if _INFINITY.fullmatch(text):
        return -math.inf if "-" in text else math.inf
    if _NAN.fullmatch(text):
        return math.nan
    try:
        if _DECIMAL.fullmatch(text):
            value = float(text)
        elif _HEXADECIMAL.fullmatch(text):
            value = float.fromhex(text.strip())
        else:
            return None
    except OverflowError:
        return None
    mantissa = re.split("[eEpP]", text)[0]
    is_too_small = abs(value) < sys.float_info.min and re.search("[1-9]", mantissa)
    return None if math.isinf(value) or is_too_small else value
