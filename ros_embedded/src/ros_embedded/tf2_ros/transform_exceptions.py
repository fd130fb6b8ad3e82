"""tf2's exceptions, under tf2's names."""

# ruff: noqa: N818


class TransformException(Exception):
    """The base of tf2's exceptions."""


class ConnectivityException(TransformException):
    """The two frames are not in the same tree."""


class LookupException(TransformException):
    """A frame is not known, or the tree has a loop."""


class ExtrapolationException(TransformException):
    """The time asked for lies outside what has been received."""


class InvalidArgumentException(TransformException):
    """A frame's name is invalid."""


class TimeoutException(TransformException):
    """No answer came within the time allowed."""
