"""What can go wrong with a language model, one class a cause."""

from __future__ import annotations

from memory_node.domain.errors import RobotMemoryError


class LlmError(RobotMemoryError):
    """A language model gave no reply that can be used; the message says why."""


class ModelMissingError(LlmError):
    """A package, a file or a key that the model needs is not there."""


class UnreachableError(LlmError):
    """The endpoint cannot be reached, or the connection broke."""


class RefusedError(LlmError):
    """The endpoint refuses the request; asking again brings nothing."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class OverloadedError(LlmError):
    """The endpoint cannot answer now. retry_after_s: when it wants to be asked again, None where it does not say."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class LateError(LlmError):
    """The deadline passed before the reply was whole."""


class TooLongError(LlmError):
    """A reply has more bytes or words than were asked for, or a prompt more tokens than the model reads."""


class BrokenReplyError(LlmError):
    """What came is no reply of this protocol: not HTTP, not JSON, or another shape."""


class UnsupportedError(LlmError):
    """The model cannot do this, for example look at pictures."""


class RejectedReplyError(LlmError):
    """A reply that is not taken over; `reason` is the counter that it is counted under."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
