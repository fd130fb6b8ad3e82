"""The one error base class, the failures that several layers share, and what pydantic finds wrong with a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


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


def faults_of(error: ValidationError, whole: str = "") -> list[str]:
    """Return the faults as "KEY.KEY: what is wrong", in pydantic's order. whole: the name of the value itself."""
    faults = error.errors(include_url=False, include_input=False)
    return [f"{'.'.join(map(str, fault['loc'])) or whole}: {fault['msg']}" for fault in faults]
