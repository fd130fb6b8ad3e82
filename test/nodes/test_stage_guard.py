"""An input that fails is counted by reason and told; the thread goes on."""

from typing import Any

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.nodes.diagnostics import InputCounters, StageGuard


class Log:
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def warning(self, text: str, **throttling: Any) -> None:
        assert throttling["throttle_duration_sec"] > 0.0
        self.warnings.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)


def test_what_an_input_lacks_is_counted_under_its_reason() -> None:
    counters, log = InputCounters(), Log()
    guard = StageGuard(counters, log)
    with guard.stage("posing"):
        raise InputSkippedError("tf_gap", "TF is silent")
    with guard.stage("perceiving"):
        raise InvalidValueError("not a depth image")
    assert counters.values() == {"skipped.invalid_value": 1, "skipped.tf_gap": 1}
    assert log.warnings == [
        "skipped an input: tf_gap: TF is silent",
        "skipped an input: invalid_value: not a depth image",
    ]


def test_unforeseen_error_is_logged_once_for_each_place_and_always_counted() -> None:
    counters, log = InputCounters(), Log()
    guard = StageGuard(counters, log)

    def divide(number: int) -> float:
        return 1 / number

    def look_up(number: int) -> int:
        return [0, 1, 2][number]

    for callback, numbers in ((divide, (0, 0, 0)), (look_up, (7, 8))):
        for number in numbers:
            guard.guarded("a topic", callback)(number)
    assert counters.values() == {"skipped.internal_error": 5}
    assert len(log.errors) == 2
    assert log.errors[0].startswith("a topic: internal error")
    assert "ZeroDivisionError" in log.errors[0]
    assert "in divide" in log.errors[0]
    assert "IndexError" in log.errors[1]


def test_callback_that_does_its_work_is_left_alone() -> None:
    counters, heard = InputCounters(), []
    StageGuard(counters, Log()).guarded("a topic", heard.append)("message")
    assert (heard, counters.values()) == (["message"], {})
