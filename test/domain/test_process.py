"""A thread that works for others goes on when its work fails once, and says so."""

import logging
import threading

import pytest

from memory_node.domain.process import Faults, WorkerThread, worker_threads


def test_work_that_fails_is_logged_once_counted_and_begun_again(caplog: pytest.LogCaptureFixture) -> None:
    worked, begun = threading.Event(), []

    def work() -> None:
        begun.append(1)
        if len(begun) < 4:
            raise ZeroDivisionError("of no use")
        worked.set()

    with caplog.at_level(logging.ERROR):
        thread = WorkerThread("sums", work, pause_s=0.01)
        thread.start()
        assert worked.wait(5.0)
        thread.join(5.0)
    assert (thread.failures, thread.is_lost) == (3, False)
    assert [record.message.partition(",")[0] for record in caplog.records] == ["thread sums: internal error"]
    assert "ZeroDivisionError: of no use" in caplog.text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_thread_that_nobody_asked_to_end_is_lost() -> None:
    def work() -> None:
        raise SystemExit

    thread = WorkerThread("gone", work)
    thread.start()
    thread._thread.join(5.0)
    assert thread.is_lost
    assert thread in worker_threads()


def test_owner_that_asks_for_the_end_does_not_wait_for_the_pause() -> None:
    failed = threading.Event()

    def work() -> None:
        failed.set()
        raise ValueError

    thread = WorkerThread("stopped", work, pause_s=60.0)
    thread.start()
    assert failed.wait(5.0)
    thread.join(5.0)
    assert not thread.is_alive()
    assert not thread.is_lost


def test_faults_of_one_place_are_told_once_for_each_place() -> None:
    told: list[str] = []
    faults = Faults(told.append)
    for text in ("a", "b", "c"):
        for convert in (int, float):
            try:
                convert(text)
            except ValueError as error:
                faults.note(convert.__name__, error)
    assert faults.counts() == {"float": 3, "int": 3}
    assert len(told) == 1, "both come from one line"


def test_thread_that_its_owner_ended_is_told_of_no_more() -> None:
    has_failed = threading.Event()

    def fail() -> None:
        has_failed.set()
        raise ValueError("no")

    thread = WorkerThread("ending", fail, pause_s=0.01)
    thread.start()
    assert has_failed.wait(5.0)
    assert thread in worker_threads()
    thread.join(5.0)
    assert thread not in worker_threads()
