"""Tries teach what fails here, and what makes it work; not more than they show."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from memory_node.domain.step import Deed
from memory_node.lessons.expectations import TAKEN_FROM, Expectations
from memory_node.lessons.lesson import LessonKind

UTC = timezone.utc
CLASSES = {"micro": "Microwave", "oven": "Oven", "drawer": "Drawer", "cupboard": "Cabinet", "other": "Cabinet"}


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


class Diary:
    """The tries of a robot, in their order."""

    def __init__(self) -> None:
        self.tried: list[Deed] = []
        self.episode = 0

    def begin(self) -> Diary:
        self.episode += 1
        return self

    def note(self, skill: str, thing: str, class_name: str, when: str, place: str = "", fails: bool = False) -> Diary:
        deed = Deed(
            f"e{self.episode}:{len(self.tried)}",
            skill,
            thing,
            class_name,
            at(when),
            to_id=place,
            to_class=CLASSES.get(place, ""),
            reason="execution" if fails else "",
        )
        self.tried.append(deed)
        return self

    def take(self, thing: str, class_name: str, place: str, fails: bool = False) -> Diary:
        self.note("PickupObject", thing, class_name, NOON, fails=fails)
        self.tried[-1] = replace(self.tried[-1], from_id=place, from_class="Shelf")
        return self

    def heat(self, class_name: str, when: str, fails: bool = False, place: str = "micro") -> Diary:
        return self.note("HeatObject", class_name.lower(), class_name, when, place, fails)

    def way(self, skill: str, class_name: str, place: str, place_class: str) -> list[str]:
        """Return what is to be done first, each as skill and thing."""
        lesson = Expectations(self.tried, UTC).way(skill, class_name, place, place_class)
        return [f"{one.skill} {one.thing_id}" for one in lesson.before] if lesson is not None else []

    def expects_failure(self, skill: str, class_name: str, place: str, when: str) -> bool:
        return Expectations(self.tried, UTC).failing(skill, class_name, place, at(when)) is not None


MORNING, NOON, EVENING, NEXT = "2026-03-02 08:00", "2026-03-02 13:00", "2026-03-02 19:00", "2026-03-03 08:00"


def test_nothing_is_expected_to_fail_that_was_never_tried() -> None:
    assert not Diary().begin().expects_failure("HeatObject", "Egg", "micro", NEXT)


def test_lesson_of_a_try_at_no_known_place_names_none() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True, place="")
    assert [one.text for one in Expectations(diary.tried, UTC).lessons(at(NEXT))] == ["HeatObject of Egg fails"]


def test_place_that_failed_is_expected_to_fail_with_other_things_until_it_works() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    assert diary.expects_failure("HeatObject", "Potato", "micro", NEXT)
    assert not diary.expects_failure("HeatObject", "Potato", "oven", NEXT)
    assert not diary.expects_failure("CleanObject", "Egg", "micro", NEXT)
    diary.begin().heat("Egg", MORNING)
    assert not diary.expects_failure("HeatObject", "Egg", "micro", NEXT)


def test_class_alone_is_blamed_where_the_place_works_with_another() -> None:
    diary = Diary().begin().heat("Potato", MORNING).begin().heat("Egg", MORNING, fails=True)
    assert diary.expects_failure("HeatObject", "Egg", "micro", NEXT)
    assert not diary.expects_failure("HeatObject", "Potato", "micro", NEXT)
    assert not diary.expects_failure("HeatObject", "Bread", "micro", NEXT)


def test_place_is_blamed_once_several_classes_failed_since_it_worked() -> None:
    diary = Diary().begin().heat("Bread", MORNING).heat("Egg", MORNING, fails=True)
    assert not diary.expects_failure("HeatObject", "Bread", "micro", NEXT)
    diary.heat("Potato", MORNING, fails=True)
    assert diary.expects_failure("HeatObject", "Bread", "micro", NEXT)
    assert not diary.heat("Egg", MORNING).expects_failure("HeatObject", "Bread", "micro", NEXT)


def test_what_a_person_did_not_take_says_nothing_of_other_things_or_persons() -> None:
    def gave(number: int, name: str, to: str, fails: bool = True) -> Deed:
        there, why = {"to_id": to, "to_class": "User"}, "execution" if fails else ""
        return Deed(f"e1:{number}", "PutObject", name.lower(), name, at(MORNING) + number, reason=why, **there)

    lamp = Deed("e1:3", "SwitchOn", "l", "FloorLamp", at(MORNING) + 3)
    refused = [gave(1, "Egg", "ana"), gave(2, "Mug", "ana")]
    given = [gave(4, "Egg", "ana", fails=False), replace(gave(5, "Book", "cleo", fails=False), source="e2:1")]
    people = Expectations([*refused, lamp, *given], UTC, recipient="User")
    assert people.failing("PutObject", "Mug", "ana", at(NEXT)) is not None
    assert people.failing("PutObject", "Apple", "ana", at(NEXT)) is None

    def needed(person: str) -> bool:
        things = [("e", "Egg"), (person, "User")]
        return people.needed("PutObject", things, (), at(NEXT), has_failed=False) is not None

    assert (needed("ana"), needed("ben"), needed("cleo")) == (True, False, False)
    # A place that takes neither takes nothing else.
    assert Expectations(refused, UTC).failing("PutObject", "Apple", "ana", at(NEXT)) is not None


def test_class_is_blamed_at_all_times_where_another_worked_at_the_time_of_the_failure() -> None:
    diary = Diary().begin().heat("Potato", MORNING).heat("Egg", MORNING, fails=True).heat("Potato", EVENING)
    assert diary.expects_failure("HeatObject", "Egg", "micro", "2026-03-03 19:00")


def test_failures_of_one_time_of_day_count_once_they_came_again() -> None:
    diary = Diary().begin().heat("Potato", MORNING, fails=True).begin().heat("Potato", EVENING)
    assert not diary.expects_failure("HeatObject", "Bread", "micro", NEXT)  # mended, maybe
    diary.begin().heat("Tomato", NEXT, fails=True).begin().heat("Tomato", "2026-03-03 19:00")
    assert diary.expects_failure("HeatObject", "Bread", "micro", "2026-03-04 08:00")
    assert not diary.expects_failure("HeatObject", "Bread", "micro", "2026-03-04 19:00")


def test_time_of_day_alone_is_blamed_where_it_works_at_another() -> None:
    diary = Diary().begin().heat("Potato", MORNING).begin().heat("Potato", EVENING, fails=True)
    assert diary.expects_failure("HeatObject", "Tomato", "micro", "2026-03-03 19:00")
    assert not diary.expects_failure("HeatObject", "Tomato", "micro", NEXT)
    assert not diary.expects_failure("HeatObject", "Potato", "micro", NEXT)


def test_one_drawer_that_jams_says_nothing_of_another() -> None:
    diary = Diary().begin().note("OpenObject", "drawer", "Drawer", MORNING, fails=True)
    assert diary.expects_failure("OpenObject", "Drawer", "drawer", NEXT)
    assert not diary.expects_failure("OpenObject", "Drawer", "another", NEXT)


@pytest.mark.parametrize("worked_since", [False, True])
def test_drawer_never_tried_is_suspect_after_three_that_jam_until_one_opens(worked_since: bool) -> None:
    diary = Diary().begin()
    for number, drawer in enumerate(("first", "second", "third")):
        lessons = Expectations(diary.tried, UTC)
        assert lessons.suspected("OpenObject", "Drawer", "fourth", "Drawer", at(NEXT)) is None, number
        diary.note("OpenObject", drawer, "Drawer", MORNING, fails=True)
    diary.note("OpenObject", "cabinet", "Cabinet", MORNING)
    if worked_since:
        diary.note("OpenObject", "first", "Drawer", NOON)
    lesson = Expectations(diary.tried, UTC).suspected("OpenObject", "Drawer", "fourth", "Drawer", at(NEXT))
    assert (lesson is None) == worked_since
    if lesson is not None:
        assert lesson.evidence_for == ("e1:2", "e1:1", "e1:0")


def test_one_failure_is_one_lesson_with_its_evidence() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True).heat("Egg", MORNING, fails=True)
    lesson = Expectations(diary.tried, UTC).failing("HeatObject", "Egg", "micro", at(NEXT))
    assert lesson.evidence_for == ("e1:0", "e1:1")
    assert "HeatObject" in lesson.text
    assert "Microwave" in lesson.text


def test_only_what_worked_in_the_same_way_since_speaks_against_a_failure() -> None:
    other = Diary().heat("Egg", MORNING).heat("Egg", NOON, fails=True).heat("Potato", NOON).heat("Potato", NOON)
    fails = Expectations(other.tried, UTC).failing("HeatObject", "Egg", "micro", at(NOON))
    assert not fails.evidence_against
    same = other.heat("Egg", NOON).heat("Egg", NOON, fails=True)
    fails = Expectations(same.tried, UTC).failing("HeatObject", "Egg", "micro", at(NOON))
    assert fails.evidence_against == ("e0:4",)


def test_what_worked_without_before_it_first_failed_does_not_speak_against_a_way() -> None:
    diary = Diary().heat("Egg", MORNING).begin().heat("Egg", NOON, fails=True)
    lit = prepared(diary.begin()).heat("Egg", NOON)
    way = Expectations(lit.tried, UTC).way("HeatObject", "Egg", "micro", "Microwave")
    assert not way.evidence_against


def test_what_was_tried_before_a_place_was_repaired_says_nothing_any_more() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True).heat("Egg", MORNING, fails=True, place="oven")
    known = Expectations(diary.tried, UTC, {"micro": at(NOON)})
    assert known.failing("HeatObject", "Egg", "micro", at(NEXT)) is None
    assert known.failing("HeatObject", "Egg", "oven", at(NEXT)) is not None
    again = diary.heat("Egg", EVENING, fails=True).tried
    assert Expectations(again, UTC, {"micro": at(NOON)}).failing("HeatObject", "Egg", "micro", at(NEXT)) is not None


def test_thing_that_could_not_be_taken_is_to_blame_and_not_its_place() -> None:
    diary = Diary().begin().take("red", "Mug", "shelf", fails=True)
    assert diary.expects_failure("PickupObject", "Mug", "red", NEXT)
    assert not diary.expects_failure(TAKEN_FROM, "Mug", "shelf", NEXT)


@pytest.mark.parametrize("came_off", [False, True])
def test_place_is_to_blame_for_several_things_and_for_one_that_was_taken_elsewhere(came_off: bool) -> None:
    diary = Diary().begin().take("red", "Mug", "shelf", fails=True)
    if came_off:
        diary.begin().take("red", "Mug", "bed")
    else:
        diary.begin().take("novel", "Book", "shelf", fails=True)
    assert diary.expects_failure(TAKEN_FROM, "Pen", "shelf", NEXT)
    assert not diary.expects_failure(TAKEN_FROM, "Pen", "bed", NEXT)
    assert not diary.expects_failure("PickupObject", "Mug", "red", NEXT)
    diary.begin().take("pen", "Pen", "shelf")
    assert not diary.expects_failure(TAKEN_FROM, "Book", "shelf", NEXT)


def test_what_made_one_thing_come_off_a_place_is_the_way_for_others_there() -> None:
    diary = Diary().begin().take("novel", "Book", "shelf", fails=True)
    prepared(diary).begin().take("novel", "Book", "shelf")
    assert diary.way(TAKEN_FROM, "Pen", "shelf", "Shelf") == ["SwitchOn lamp"]


@pytest.mark.parametrize(("below", "is_needed"), [("shelf", True), ("bed", False)])
def test_what_made_a_thing_come_off_a_place_is_needed_for_what_stands_on_a_box_there(
    below: str, is_needed: bool
) -> None:
    diary = Diary().begin().take("novel", "Book", "shelf", fails=True)
    prepared(diary).begin().take("novel", "Book", "shelf")
    supports = [("box", "Box"), (below, "Shelf")]
    lesson = Expectations(diary.tried, UTC).needed("PickupObject", [("pen", "Pen")], supports, at(NEXT), False)
    assert (lesson is not None) is is_needed


@pytest.mark.parametrize(("tries", "stubborn"), [(1, False), (6, True)])
def test_what_worked_only_after_many_tries_is_stubborn_until_it_works_at_once(tries: int, stubborn: bool) -> None:
    diary = Diary().begin()
    for _ in range(tries):
        diary.heat("Egg", NOON, fails=True)
    diary.heat("Egg", NOON)
    assert (Expectations(diary.tried, UTC).stubborn("HeatObject", "Egg", "micro") is not None) == stubborn
    diary.begin().heat("Egg", EVENING)
    assert Expectations(diary.tried, UTC).stubborn("HeatObject", "Egg", "micro") is None


def prepared(diary: Diary, skill: str = "SwitchOn", thing: str = "lamp") -> Diary:
    return diary.begin().note(skill, thing, "FloorLamp", NOON)


def test_what_was_done_before_the_first_success_is_the_way_for_another_thing() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    prepared(diary).heat("Egg", NOON)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == ["SwitchOn lamp"]
    assert diary.way("CleanObject", "Egg", "sink", "SinkBasin") == []


def test_what_is_done_at_may_have_to_run_first() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    prepared(diary, "ToggleOn", "micro").heat("Egg", NOON)
    way = Expectations(diary.tried, UTC).way("HeatObject", "Apple", "micro", "Microwave")
    assert [(one.skill, one.thing_id) for one in way.before] == [("ToggleOn", "micro")]


def test_way_of_one_cabinet_holds_for_one_that_was_never_tried() -> None:
    diary = Diary().begin().note("OpenObject", "cupboard", "Cabinet", MORNING, fails=True)
    prepared(diary).note("OpenObject", "cupboard", "Cabinet", NOON)
    assert diary.way("OpenObject", "Cabinet", "other", "Cabinet") == ["SwitchOn lamp"]


def test_what_made_a_call_work_is_a_repair_and_its_failure_one_to_avoid() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    assert [one.kind for one in Expectations(diary.tried, UTC).lessons(at(NOON))] == [LessonKind.AVOID]
    prepared(diary.begin()).heat("Egg", MORNING)
    assert [one.kind for one in Expectations(diary.tried, UTC).lessons(at(NOON))] == [LessonKind.REPAIR]


def test_what_was_asked_for_between_a_failure_and_the_success_is_the_way() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    diary.begin().note("OpenObject", "fridge", "Fridge", MORNING).begin().heat("Egg", MORNING, fails=True)
    prepared(diary, thing="lamp").begin().heat("Egg", NOON)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == []  # hours later
    diary = Diary().begin().heat("Egg", NOON, fails=True)
    diary.begin().note("OpenObject", "fridge", "Fridge", NOON).begin().heat("Egg", NOON, fails=True)
    prepared(diary, thing="lamp").begin().heat("Egg", NOON)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == ["SwitchOn lamp"]


def test_way_for_one_class_is_none_for_a_class_that_needs_none() -> None:
    diary = Diary().begin().heat("Bread", MORNING).begin().heat("Egg", NOON, fails=True)
    prepared(diary).begin().heat("Egg", NOON)
    learnt = Expectations(diary.tried, UTC)
    assert learnt.way("HeatObject", "Egg", "micro", "Microwave") is not None
    assert learnt.way("HeatObject", "Bread", "micro", "Microwave") is None


def test_each_class_has_the_way_that_worked_with_it() -> None:
    diary = Diary().begin().heat("Egg", NOON, fails=True)
    prepared(diary, thing="lamp").heat("Egg", NOON)
    diary.begin().heat("Potato", NOON, fails=True)
    prepared(diary, "SwitchOff", "television").heat("Potato", NOON)
    learnt = Expectations(diary.tried, UTC)
    for name, thing in (("Egg", "lamp"), ("Potato", "television")):
        way = learnt.way("HeatObject", name, "micro", "Microwave")
        assert [one.thing_id for one in way.before] == [thing]


def test_way_of_the_evening_is_not_followed_when_it_works_without_in_the_morning() -> None:
    diary = Diary().begin().heat("Apple", MORNING).begin().heat("Apple", EVENING, fails=True)
    diary.begin().note("SwitchOn", "lamp", "FloorLamp", EVENING).heat("Apple", EVENING)
    way = Expectations(diary.tried, UTC).way
    assert way("HeatObject", "Apple", "micro", "Microwave", at("2026-03-03 19:00")) is not None
    assert way("HeatObject", "Apple", "micro", "Microwave", at(NEXT)) is None


def test_evening_that_failed_between_two_mornings_that_worked_is_to_blame() -> None:
    diary = Diary().begin().heat("Apple", MORNING).begin().heat("Bread", EVENING, fails=True)
    diary.begin().heat("Tomato", NEXT)
    assert diary.expects_failure("HeatObject", "Potato", "micro", "2026-03-03 19:00")
    assert not diary.expects_failure("HeatObject", "Potato", "micro", "2026-03-04 08:00")
    mended = Diary().begin().heat("Bread", EVENING, fails=True).begin().heat("Tomato", NEXT)
    assert not mended.expects_failure("HeatObject", "Potato", "micro", "2026-03-03 19:00")


@pytest.mark.parametrize("opened", ["cupboard", "lamp"])
def test_what_did_not_help_once_or_explains_itself_is_no_way(opened: str) -> None:
    diary = Diary().begin()
    if opened == "lamp":  # it was done before a failure, too
        diary.note("SwitchOn", "lamp", "FloorLamp", MORNING).heat("Egg", MORNING, fails=True)
        prepared(diary).heat("Egg", NOON)
    else:  # it was opened to take the egg out
        diary.heat("Egg", MORNING, fails=True).begin().note("OpenObject", "cupboard", "Cabinet", NOON)
        diary.tried.append(Deed("e2:9", "PickupObject", "egg", "Egg", at(NOON), "cupboard", "Cabinet"))
        diary.heat("Egg", NOON)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == []


@pytest.mark.parametrize(
    ("first", "closes", "is_reason"),
    [("taken from", "later", False), ("looked into", "at once", False), ("opened as asked", "later", True)],
)
def test_what_was_closed_for_tidying_is_no_reason_of_the_next_success(first, closes, is_reason) -> None:
    diary = Diary().begin()
    if first != "looked into":
        diary.note("OpenObject", "cupboard", "Cabinet", MORNING)
        diary = diary.take("egg", "Egg", "cupboard") if first == "taken from" else diary
    diary.begin().heat("Egg", MORNING, fails=True).begin()
    if closes == "at once":
        diary.note("OpenObject", "cupboard", "Cabinet", MORNING)
    diary.note("CloseObject", "cupboard", "Cabinet", MORNING).heat("Egg", MORNING)
    way = Expectations(diary.tried, UTC).way("HeatObject", "Egg", "micro", "Microwave")
    assert (way is not None) is is_reason


def test_what_stood_open_while_a_call_worked_is_its_reason_though_it_was_closed_then() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True).begin()
    diary.note("OpenObject", "cupboard", "Cabinet", MORNING).heat("Egg", MORNING)
    diary.note("CloseObject", "cupboard", "Cabinet", MORNING)
    assert diary.way("HeatObject", "Egg", "micro", "Microwave") == ["OpenObject cupboard"]


def test_what_was_opened_just_before_something_was_taken_is_no_reason_of_the_next_success() -> None:
    diary = Diary().begin().note("OpenObject", "cupboard", "Cabinet", NOON).note("PickupObject", "egg", "Egg", NOON)
    diary.heat("Egg", NOON).begin().heat("Bread", NEXT, fails=True)
    assert not diary.expects_failure("HeatObject", "Potato", "micro", "2026-03-04 13:00")


def test_success_at_another_place_says_nothing_of_what_was_done_before_it() -> None:
    diary = Diary().begin().note("OpenObject", "cupboard", "Cabinet", MORNING, fails=True)
    diary.begin().note("SwitchOn", "lamp", "FloorLamp", MORNING).note("OpenObject", "other", "Cabinet", MORNING)
    assert diary.way("OpenObject", "Cabinet", "cupboard", "Cabinet") == []


def test_drawer_from_which_something_was_taken_is_explained_under_any_id() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    diary.begin().note("OpenObject", "seen anew", "Drawer", MORNING)
    diary.tried.append(
        replace(
            diary.tried[-1],
            skill="PickupObject",
            object_id="egg",
            object_class="Egg",
            from_id="drawer",
            from_class="Drawer",
        )
    )
    diary.heat("Egg", MORNING)
    assert diary.way("HeatObject", "Egg", "micro", "Microwave") == []


def test_way_is_that_of_a_class_which_failed_everywhere_alone() -> None:
    diary = Diary().begin().heat("Egg", NOON, fails=True).heat("Egg", NOON, fails=True, place="oven")
    prepared(diary).begin().heat("Egg", NOON)
    way = Expectations(diary.tried, UTC).way("HeatObject", "Apple", "micro", "Microwave")
    assert (way.object_classes, way.place_class) == ({"Egg"}, "")
    diary.begin().heat("Bread", EVENING, fails=True)
    way = Expectations(diary.tried, UTC).way("HeatObject", "Apple", "micro", "Microwave")
    assert (way.object_classes, way.place_class) == ({"Apple"}, "Microwave")


def test_way_is_given_up_when_the_call_works_without_it() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    prepared(diary).heat("Egg", NOON)
    diary.begin().heat("Egg", EVENING)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == []


def test_way_of_what_is_done_anywhere_holds_for_another_class_of_thing() -> None:
    diary = Diary().begin().note("SliceObject", "tomato", "Tomato", MORNING, fails=True)
    prepared(diary).note("SliceObject", "tomato", "Tomato", NOON)
    assert diary.way("SliceObject", "Apple", "", "") == ["SwitchOn lamp"]


def rinsed(diary: Diary, fails: bool = False) -> Diary:
    """A cup that was not filled at once, then was washed, and filled or not."""
    diary.begin().note("FillObject", "cup", "Cup", MORNING, fails=True)
    diary.begin().note("CleanObject", "cup", "Cup", MORNING)
    return diary.note("FillObject", "cup", "Cup", MORNING, fails=fails)


def way_of_filling(diary: Diary, class_name: str) -> list[tuple[str, str, str]]:
    way = Expectations(diary.tried, UTC).way("FillObject", class_name, "", "")
    return [(one.skill, one.thing_id, one.thing_class) for one in way.before] if way is not None else []


def test_what_alone_was_different_is_the_way_for_things_of_that_kind_only() -> None:
    diary = rinsed(Diary())
    assert way_of_filling(diary, "Cup") == [("CleanObject", "", "Cup")]
    assert way_of_filling(diary, "Mug") == []
    assert way_of_filling(rinsed(Diary(), fails=True), "Cup") == []


def test_way_is_kept_when_it_was_followed() -> None:
    diary = rinsed(Diary()).begin().note("CleanObject", "cup2", "Cup", NEXT).note("FillObject", "cup2", "Cup", NEXT)
    assert way_of_filling(diary, "Cup") == [("CleanObject", "", "Cup")]


def test_several_differences_are_no_way_until_one_of_them_is_there_again() -> None:
    diary = Diary().begin().note("FillObject", "cup", "Cup", MORNING, fails=True)
    diary.begin().note("CleanObject", "cup", "Cup", MORNING).note("CoolObject", "cup", "Cup", MORNING)
    diary.note("FillObject", "cup", "Cup", MORNING)
    assert way_of_filling(diary, "Cup") == []
    diary.begin().note("FillObject", "cup", "Cup", NOON, fails=True)
    diary.begin().note("CleanObject", "cup", "Cup", NOON).note("HeatObject", "apple", "Apple", NOON)
    diary.note("FillObject", "cup", "Cup", NOON)
    assert way_of_filling(diary, "Cup") == [("CleanObject", "", "Cup")]


def test_switch_that_was_put_back_is_no_reason() -> None:
    diary = Diary().begin().note("OpenObject", "cupboard", "Cabinet", MORNING, fails=True)
    diary.note("SwitchOn", "lamp", "FloorLamp", MORNING)
    diary.note("OpenObject", "cupboard", "Cabinet", MORNING, fails=True).note("SwitchOff", "lamp", "FloorLamp", MORNING)
    diary.begin().note("SwitchOn", "light", "LightSwitch", MORNING).note("OpenObject", "cupboard", "Cabinet", MORNING)
    assert diary.way("OpenObject", "Cabinet", "cupboard", "Cabinet") == ["SwitchOn light"]


def test_what_was_treated_and_put_down_again_works_by_the_treatment() -> None:
    diary = Diary().begin().note("SliceObject", "potato", "Potato", MORNING, fails=True)
    diary.begin().note("PickupObject", "potato", "Potato", MORNING).heat("Potato", MORNING)
    diary.note("PutObject", "potato", "Potato", MORNING, "drawer").note("SliceObject", "potato", "Potato", MORNING)
    way = Expectations(diary.tried, UTC).way("SliceObject", "Potato", "", "")
    assert [one.skill for one in way.before] == ["HeatObject"]


def test_tool_that_was_washed_between_is_part_of_the_way() -> None:
    diary = Diary().begin().note("SliceObject", "tomato", "Tomato", MORNING, fails=True)
    diary.begin().note("CleanObject", "knife", "Knife", MORNING)
    diary.begin().note("SliceObject", "tomato", "Tomato", MORNING)
    way = Expectations(diary.tried, UTC).way("SliceObject", "Tomato", "", "")
    assert [(one.skill, one.thing_id) for one in way.before] == [("CleanObject", "knife")]
    assert way.text == "SliceObject of Tomato works after CleanObject Knife"


@pytest.mark.parametrize("taken_again", [False, True])
def test_where_a_thing_was_put_is_a_reason_unless_it_was_taken_again(taken_again: bool) -> None:
    diary = Diary().begin().note("SliceObject", "bread", "Bread", MORNING, fails=True)
    diary.begin().note("PutObject", "bread", "Bread", MORNING, "oven").note(
        "PutObject", "knife", "Knife", MORNING, "oven"
    )
    diary.note("PickupObject", "knife", "Knife", MORNING)
    if taken_again:
        diary.note("PickupObject", "bread", "Bread", MORNING)
    diary.note("SliceObject", "bread", "Bread", MORNING)
    way = Expectations(diary.tried, UTC).way("SliceObject", "Bread", "", "")
    assert (way is None) == taken_again
    assert way is None or [(one.thing_id, one.place_id) for one in way.before] == [("", "oven")]


def test_what_was_done_with_a_tool_is_done_for_things_of_other_classes_that_failed() -> None:
    diary = Diary().begin().note("SliceObject", "apple", "Apple", MORNING, fails=True)
    diary.begin().note("CleanObject", "knife", "Knife", MORNING, "basin").begin()
    diary.note("SliceObject", "apple", "Apple", MORNING)
    expected = Expectations(diary.tried, UTC)

    def needed(name: str, has_failed: bool) -> list[str]:
        lesson = expected.needed("SliceObject", [(name.lower(), name)], (), at(NEXT), has_failed)
        return [one.text for one in lesson.before] if lesson is not None else []

    assert needed("Apple", False) == ["CleanObject Knife"]
    assert (needed("Tomato", False), needed("Tomato", True)) == ([], ["CleanObject Knife"])
    # What was done with the apple itself says nothing of a tomato.
    washed = Diary().begin().note("SliceObject", "apple", "Apple", MORNING, fails=True)
    washed.begin().note("CleanObject", "apple", "Apple", MORNING, "basin").begin()
    expected = Expectations(washed.note("SliceObject", "apple", "Apple", MORNING).tried, UTC)
    assert (needed("Apple", False), needed("Tomato", True)) == (["CleanObject Apple"], [])


def test_each_of_two_drawers_has_a_way_of_its_own() -> None:
    diary = Diary()
    for drawer, skill, thing, kind in (
        ("low", "SwitchOn", "lamp", "DeskLamp"),
        ("high", "CloseObject", "fridge", "Fridge"),
    ):
        diary.begin().note("OpenObject", drawer, "Drawer", MORNING, fails=True)
        diary.begin().note(skill, thing, kind, MORNING).note("OpenObject", drawer, "Drawer", MORNING)
    expected = Expectations(diary.tried, UTC)

    def needed(drawer: str) -> list[str]:
        lesson = expected.way("OpenObject", "Drawer", drawer, "Drawer", at(NEXT))
        return [one.text for one in lesson.before] if lesson is not None else []

    assert (needed("low"), needed("high")) == (["SwitchOn DeskLamp"], ["CloseObject Fridge"])
    assert needed("third") == []


def test_success_with_a_class_that_never_failed_is_a_way_for_it_where_another_failed() -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    prepared(diary).heat("Bread", MORNING)
    assert diary.way("HeatObject", "Bread", "micro", "Microwave") == ["SwitchOn lamp"]


@pytest.mark.parametrize(("switched_back", "way"), [(False, ["SwitchOn lamp"]), (True, [])])
def test_what_is_still_switched_is_the_reason_of_the_next_success_too(switched_back: bool, way: list[str]) -> None:
    diary = Diary().begin().heat("Egg", MORNING, fails=True)
    prepared(diary).heat("Egg", MORNING).begin()
    if switched_back:
        diary.note("SwitchOff", "lamp", "FloorLamp", MORNING)
    diary.begin().heat("Egg", MORNING)
    assert diary.way("HeatObject", "Apple", "micro", "Microwave") == way


@pytest.mark.parametrize(("times", "way"), [(1, []), (2, ["OpenObject other"])])
def test_what_was_opened_to_reach_into_it_is_the_reason_of_a_success_the_second_time(
    times: int, way: list[str]
) -> None:
    diary = Diary()
    for when in (MORNING, NEXT)[:times]:
        diary.begin().note("OpenObject", "drawer", "Drawer", when, fails=True)
        diary.begin().note("OpenObject", "other", "Drawer", when).note("PickupObject", "spoon", "Spoon", when)
        diary.tried[-1] = replace(diary.tried[-1], from_id="other", from_class="Drawer")
        diary.begin().note("OpenObject", "drawer", "Drawer", when)
    assert diary.way("OpenObject", "Drawer", "drawer", "Drawer") == way


@pytest.mark.parametrize("closed", ["before", "after"])
def test_what_was_closed_before_something_was_taken_from_it_is_the_reason(closed: str) -> None:
    diary = Diary().begin().take("egg", "Egg", "cupboard", fails=True).begin()
    if closed == "before":
        diary.note("CloseObject", "cupboard", "Cabinet", NOON).take("egg", "Egg", "cupboard")
        assert diary.way("PickupObject", "Egg", "egg", "Egg") == ["CloseObject cupboard"]
    else:
        diary.take("pan", "Pan", "cupboard").note("CloseObject", "cupboard", "Cabinet", NOON)
        diary.begin().take("egg", "Egg", "cupboard")
        assert diary.way("PickupObject", "Egg", "egg", "Egg") == []
