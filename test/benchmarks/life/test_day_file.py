"""What a file of days says wrongly is told with file, line and name, all of it at once."""

from pathlib import Path

import pytest

import benchmarks
from benchmarks.life.day_check import check_days
from benchmarks.life.day_file import read_days
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError

SOUND = """
- id: one
  category: where
  home: studio
  events:
    - do: put the bowl on the bed
      want: {at: {bowl: bed}}
"""


def refused(days, text: str) -> str:
    with pytest.raises(InvalidValueError) as error:
        days.read(text)
    return str(error.value)


def with_event(event: str) -> str:
    return SOUND.replace("    - do", f"    - {event}\n    - do")


def test_a_sound_file_is_read(days) -> None:
    (day,) = days.read(SOUND)
    assert day.scenario.id == "one"
    assert day.scenario.judged == (0,)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("wat: 3", "expected exactly one of"),
        ("{tell: x, loud: true}", "'loud'"),
        ("{do: x, want: {ats: {bowl: bed}}}", "'ats'"),
        ("fault: {skill: OpenObject, thing: fridge, sometimes: 1}", "'sometimes'"),
        ("{do: x, goals: [{kind: place, object: Bowl, onto: Bed}]}", "'onto'"),
        ("{do: x, goals: [{kind: juggle, object: Bowl}]}", "goals"),
        ("fault: {skill: Juggle}", "'Juggle'"),
        ("fault: {skill: OpenObject, thing: freezer}", "'freezer'"),
        ("mend: {skill: OpenObject, thing: fridge}", "no fault"),
        ("move: {spoon: bed}", "'spoon'"),
        ("move: {bowl: shelf}", "'shelf'"),
        ("move: {bowl: lamp}", "lamp"),
        ("move: {book: mug}", "does not fit"),
        ("state: {bed: filled}", "Bed"),
        ("state: {bowl: happy}", "bowl"),
        ("state: {bed: wiped}", "Bed cannot be wiped"),
        ("see: cellar", "'cellar'"),
        ("wait: a while", "2 h"),
        ('time: "25:00"', "19:30"),
        ("add: {cup: {class: Cupp, at: table}}", "Cupp"),
        ("add: {bowl: {class: Cup, at: table}}", "'bowl'"),
        ("answer: the blue one", "asked"),
        ("{do: x, want: {}}", "nothing"),
        ("{do: x, want: {calls: [Juggle bowl]}}", "'Juggle'"),
        ("{do: x, want: {no_calls: [OpenObject freezer]}}", "'freezer'"),
        ("{do: x, want: {only: [spoon]}}", "'spoon'"),
        ("{do: wash the red bowl, want: {says: [[red]]}}", "instruction itself"),
    ],
)
def test_a_fault_is_told_with_its_line_and_name(days, event: str, name: str) -> None:
    said = refused(days, with_event(event))
    assert ".yaml, line 6: one: " in said
    assert name in said


@pytest.mark.parametrize(
    ("want", "name"),
    [
        ("at: {book: mug}", "book does not fit in mug"),
        ("at: {bowl: lamp}", "lamp"),
        ("at: {user: bed}", "user is nothing that can be put"),
        ("at: {fridge: hand}", "a hand cannot take fridge"),
        ("at: {Kettle: bed}", "there is no Kettle"),
        ("at: {bowl: hand, mug: hand}", "the hand holds one thing, not bowl and mug"),
        ("state: {bed: filled}", "bed can never be filled"),
        ("state: {fridge: [opened, closed]}", "both opened and closed"),
        ("state: {fridge: [closed, not closed]}", "both closed and not closed"),
        ("calls: [OpenObject bowl]", "OpenObject can never be done with bowl"),
        ("calls: [PickupObject fridge]", "PickupObject can never be done with fridge"),
        ("calls: [HeatObject book]", "HeatObject can never be done with book"),
        ("calls: [OpenObject fridge], no_calls: [OpenObject]", "no_calls forbids OpenObject fridge"),
        ("calls: [PickupObject bowl, GoToObject bed], most_calls: 1", "2 calls are wanted"),
        ("calls: [Explore], most_searches: 0", "a search"),
        ("says: [[the mug, mugs]], silent_on: [mug*]", "silent_on forbids"),
    ],
)
def test_a_want_that_can_never_hold_is_refused(days, want: str, name: str) -> None:
    said = refused(days, with_event(f"{{do: x, want: {{{want}}}}}"))
    assert ".yaml, line 6: one: " in said
    assert name in said


def test_what_an_event_took_away_can_be_wanted_no_more(days) -> None:
    assert "line 7" in refused(days, with_event("remove: [mug]\n    - {do: x, want: {at: {mug: bed}}}"))
    assert "line 7" in refused(days, with_event("remove: [mug]\n    - {do: x, want: {state: {mug: cleaned}}}"))
    assert "line 7" in refused(days, with_event("remove: [mug]\n    - {do: x, want: {calls: [PickupObject mug]}}"))


@pytest.mark.parametrize(
    "want",
    [
        "at: {Apple: bowl, user: studio, TomatoSliced: counter, mug: user}",
        "state: {Mug: [cleaned, dirty], fridge: [closed, not opened], tomato: sliced}",
        "state: {Tomato: sliced}",
        "calls: [OpenObject, HeatObject apple microwave, PutObject bed bowl, GoToObject user, SwitchOn lamp]",
        "calls: [OpenObject fridge], no_calls: [OpenObject microwave], most_calls: 0",
        "says: [[mug*]], silent_on: [mugs, mug]",
        "state: {mug: not cleaned}, no_calls: [OpenObject bowl]",
    ],
)
def test_a_want_that_may_hold_is_no_fault(days, want: str) -> None:
    assert days.read(with_event(f"{{do: x, want: {{{want}}}}}"))


def test_every_fault_of_a_file_is_told(days) -> None:
    said = refused(days, with_event("see: cellar\n    - see: attic"))
    assert "line 6" in said
    assert "line 7" in said


def test_faults_of_keys_and_of_homes_are_told_together(days) -> None:
    unknown, misfit = SOUND.replace("at:", "ats:"), SOUND.replace("one", "two").replace("bed", "cellar")
    crowd = SOUND.replace("one", "three").replace("  events", "  extra: {Unicorn: 1}\n  people: {Ana: sofa}\n  events")
    said = refused(days, unknown + misfit + crowd)
    assert all(name in said for name in ("'ats'", "'cellar'", "'Unicorn'", "'sofa'"))


def test_a_file_that_is_no_yaml_hides_no_other(tmp_path) -> None:
    (tmp_path / "broken.yaml").write_text("- id: [one\n")
    (tmp_path / "sound.yaml").write_text(SOUND)
    read, faults = read_days(sorted(tmp_path.glob("*.yaml")))
    assert [day.scenario.id for day in read] == ["one"]
    assert "broken.yaml, line 2: no YAML" in faults[0]


def test_what_finds_no_room_is_told_before_it_is_played(days) -> None:
    days.read(with_event("\n    - ".join(f"add: {{a{number}: {{class: Apple, at: bowl}}}}" for number in range(12))))
    assert "line 17: one: there is no room for a11 in bowl unless" in days.crowded[-1]


def test_a_home_is_listed_for_a_writer(capsys) -> None:
    assert main(["bench", "life", "--list-home", "studio"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "studio (studio)"
    assert "  fridge (Fridge, opens, things go in it)" in lines
    assert any(line.startswith("    bowl (Bowl") for line in lines)
    assert main(["bench", "life", "--list-home", "castle"]) == 1


def test_homes_persons_and_extra_things_are_checked(days) -> None:
    assert "line 4" in refused(days, SOUND.replace("studio", "castle"))
    assert "'sofa'" in refused(days, SOUND.replace("  events", "  people: {Ana: sofa}\n  events"))
    assert "Unicorn" in refused(days, SOUND.replace("  events", "  extra: {Unicorn: 1}\n  events"))
    assert "of 900 Mug" in refused(days, SOUND.replace("  events", "  extra: {Mug: 900}\n  events"))
    assert "'cellar'" in refused(days, SOUND.replace("  events", "  known: [cellar]\n  events"))


def test_a_key_that_is_not_there_is_named(days) -> None:
    assert "line 2: one: there is no key 'category'" in refused(days, SOUND.replace("  category: where\n", ""))


def test_a_scenario_without_a_judged_step_is_refused(days) -> None:
    assert "nothing is judged" in refused(days, SOUND.replace("      want: {at: {bowl: bed}}\n", ""))


def test_two_scenarios_of_one_id_are_refused(days) -> None:
    assert "another scenario" in refused(days, SOUND + SOUND)


def test_broken_yaml_is_told_with_its_line(days) -> None:
    assert "line 3" in refused(days, "- id: one\n  category: where\n  home: [studio\n")


def test_check_says_how_many_scenarios_are_sound(tmp_path, capsys, refusal_of) -> None:
    path = tmp_path / "days.yaml"
    path.write_text(SOUND)
    assert main(["bench", "life", "--days", str(path), "--check"]) == 0
    assert "1 scenario" in capsys.readouterr().err
    path.write_text(SOUND.replace("at:", "ats:"))
    assert f"{path}, line 7: one: unknown key 'ats'" in refusal_of("life", "--days", str(path), "--check")


def test_our_own_days_are_sound_and_none_stands_twice(days) -> None:
    files = sorted((Path(benchmarks.__file__).parent / "checks" / "life").glob("*.yaml"))
    read, faults = read_days(files)
    # Floor plans are no part of the project: `--check --scenes FILE` checks days in them.
    check_days([day for day in read if not day.scenario.home.startswith("FloorPlan")], days.homes, faults)
    assert {day.path for day in read} == set(files)
