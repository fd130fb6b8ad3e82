"""Instructions whose right execution depends on what people told: done so, or asked about with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from played_days import PlayedDays

from benchmarks.life.day_file import Day, read_days

TOLD, _ = read_days([Path("benchmarks/checks/life/facts_instructions.yaml")])


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.scenario.id)
def test_what_was_told_reaches_the_act(told: Day, days: PlayedDays) -> None:
    report = days.play_day(told)
    assert not report.crash, report.crash
    assert [dict(step.verdict.problems) for step in report.judged if step.verdict.problems] == []
