"""What happens in a day, and how its steps are judged."""

from __future__ import annotations

import gc
import weakref

from benchmarks.life import lives


def problems(report) -> list[dict[str, str]]:
    assert not report.crash, report.crash
    assert not report.broken, report.broken
    return [dict(step.verdict.problems) for step in report.judged]


def test_what_a_step_wants_is_judged_by_the_home(days) -> None:
    report = days.play(
        """
        - do: put the bowl on the bed
          want: {at: {bowl: bed}, only: [bowl], calls: [PutObject bowl bed], done: true, most_calls: 9}
        - do: put the apple on the bed
          want: {at: {apple: counter}, only: [], no_calls: [PickupObject apple], most_calls: 1, done: false}
        """
    )
    first, second = problems(report)
    assert not first
    assert set(second) == {"at", "only", "no_calls", "most_calls", "done"}
    assert not report.right


def test_typed_goals_take_the_thing_that_is_meant(days) -> None:
    events = """
        - add: {other_bowl: {class: Bowl, at: bed}}
          seen: true
        - do: put that bowl on the counter
          goals: [{kind: place, object: other_bowl, place: counter}]
          want: {at: {other_bowl: counter}, only: [other_bowl]}
        """
    assert problems(days.play(events, goals=True)) == [{}]


def test_a_fault_hinders_a_thing_until_it_is_mended(days) -> None:
    report = days.play(
        """
        - fault: {skill: OpenObject, thing: fridge, reason: unreachable}
        - do: open the fridge
          want: {state: {fridge: closed}, no_calls: [OpenObject cabinet]}
        - mend: {skill: OpenObject, thing: fridge}
        - do: open the fridge
          want: {state: {fridge: opened}}
        """
    )
    assert problems(report) == [{}, {}]
    assert any("unreachable" in call for call in report.steps[0].calls)


def test_the_memory_of_one_day_is_given_back_before_the_next(days) -> None:
    (day,) = days.read(
        "- id: one\n  category: where\n  home: studio\n  events:\n    - {do: x, want: {at: {bowl: bed}}}\n"
    )
    gc.disable()
    try:
        life, _ = days.lives.begin(day.scenario)
        memory = weakref.ref(life.memory)
        life.close()
        del life
        days.lives.begin(day.scenario)[0].close()
        assert memory() is None
    finally:
        gc.enable()


def test_a_patrol_that_failed_is_made_anew(days, monkeypatch) -> None:
    (day,) = days.read(
        "- {id: away, category: state, home: studio, people: {Zoe: bed}, events: [{do: wait, want: {done: true}}]}"
    )
    with monkeypatch.context() as patched:
        patched.setattr(lives, "patrol", lambda *_: 1 / 0)
        assert "ZeroDivisionError" in days.lives.play(day, "", None).crash
    life, _ = days.lives.begin(day.scenario)
    life.close()
