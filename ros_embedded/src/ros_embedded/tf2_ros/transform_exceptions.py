"""Why a transform is not available; the names are those of tf2."""

# ruff: noqa: N818


class TransformException(Exception):
    """The base of all that follow."""


class ConnectivityException(TransformException):
    """The two frames are not in the same tree."""


class LookupException(TransformException):
    """A frame is not known, or the tree has a loop."""


class ExtrapolationException(TransformException):
    """The time asked for lies outside what has been received."""


class InvalidArgumentException(TransformException):
    """A frame's name cannot be one."""


class TimeoutException(TransformException):
    """No answer came within the time allowed."""
