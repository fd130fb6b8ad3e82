"""The one error base class and the failures that several layers share."""

from __future__ import annotations


class RobotMemoryError(Exception):
    """Base of every error that this package raises on purpose; its message says what to do."""


class InvalidValueError(RobotMemoryError, ValueError):
    """A domain value was built from something that it cannot hold."""


class ConflictError(InvalidValueError):
    """What is asked could be, but does not fit what memory holds now."""


class InputSkippedError(RobotMemoryError):
    """A sensor input cannot be used; `reason` is the diagnostics counter that it is counted under."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class NotFoundError(RobotMemoryError, KeyError):
    """An id that nothing in memory carries."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "not found"


class UnknownPlaceError(InvalidValueError, NotFoundError):
    """A question is restricted to an area, room or floor that memory does not know."""

    __str__ = NotFoundError.__str__


class ResourceMissingError(RobotMemoryError, FileNotFoundError):
    """A file that the package ships or that set-up makes is not where it should be."""


class ExtraMissingError(RobotMemoryError, ModuleNotFoundError):
    """A package of an extra is not installed: a module that is missing, also to whoever goes through all modules."""


class PortTakenError(RobotMemoryError):
    """Another process listens at a port; it may be one that has not ended yet."""


class StoreError(RobotMemoryError):
    """The durable store cannot do what was asked; the message says why and what helps."""
