"""A plugin of pytest for runs on a real rclpy: rclpy_skips.txt says what is left out; nothing else may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")


def listed() -> dict[str, str]:
    """Return why each listed test is left out: the beginning of its id -> the reason."""
    rows = [line.split(" | ") for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return {test: reason for where, test, reason in rows if os.environ["ROS_DISTRO"] in where.split()}


def _reason(nodeid: str) -> str | None:
    return next((reason for test, reason in listed().items() if nodeid.startswith(test)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is listed."""
    for item in items:
        reason = _reason(item.nodeid)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run for tests that skipped themselves without being listed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = [report.nodeid for report in reporter.stats.get("skipped", ())] if reporter is not None else []
    unlisted = [nodeid for nodeid in skipped if _reason(nodeid) is None]
    if unlisted:
        print(f"\nskipped on the real rclpy without being listed in {LIST.name}:", *unlisted, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
