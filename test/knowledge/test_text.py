"""How texts become sentences, words, names and dates."""

import time
from datetime import date
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from memory_node.knowledge.extraction import Named, last_person, resolved
from memory_node.knowledge.text import (
    LONGEST_SENTENCE,
    MOST_CONCEPTS,
    concepts_of,
    day_of,
    name_key,
    names_in,
    sentences,
    spoken_day,
    stamp_of,
    stems,
    told_back,
    with_days,
)


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = 'Mr. Smith met J. R. Miles at 5 p.m. It rained. "Yes!" he said. Ça va.'
    assert sentences(text) == ["Mr. Smith met J. R. Miles at 5 p.m.", "It rained.", '"Yes!" he said.', "Ça va."]


def test_text_without_full_stops_is_cut() -> None:
    pieces = sentences("word " * 1000)
    assert max(map(len, pieces)) <= LONGEST_SENTENCE
    assert " ".join(pieces).split() == ["word"] * 1000


def test_words_are_compared_without_inflection_accents_and_function_words() -> None:
    assert stems("She painted the cafés") == stems("painting a café")
    assert stems("the of and") == []


def test_names_keep_their_small_words_and_lose_the_sentences() -> None:
    found = names_in('In Laie, Haymo of Faversham read "Silent Spring" and met Anna and Ben.')
    assert {"laie", "haymo of faversham", "silent spring", "anna", "ben"} <= set(found)
    assert "in" not in found


def test_aside_of_a_title_is_no_part_of_its_name() -> None:
    assert name_key("Pick Me Up (magazine)") == "pick me up"
    assert name_key("(What's the Story)") != ""


def test_concepts_begin_with_the_subject_and_are_bounded() -> None:
    concepts = concepts_of("Anna", "The user " + " ".join(f"bird{chr(97 + n)} sings." for n in range(20)))
    assert "anna" in concepts
    assert "user" not in concepts
    assert len(concepts) == MOST_CONCEPTS


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I went yesterday", "yesterday (7 May 2023)"),
        ("We met last Friday", "last Friday (5 May 2023)"),
        ("It was two weeks ago", "two weeks ago (24 April 2023)"),
        ("We go next month", "next month (June 2023)"),
        ("I moved last year", "last year (2022)"),
        ("I moved last May", "last May (May 2022)"),
        ("It was 3 months ago", "3 months ago (February 2023)"),
    ],
)
def test_words_that_count_from_the_day_get_the_day(said: str, meant: str) -> None:
    stamp_ns = stamp_of("1:56 pm on 8 May, 2023")
    assert stamp_ns is not None
    assert meant in with_days(said, stamp_ns)


AUCKLAND, LOS_ANGELES, BERLIN = (ZoneInfo(n) for n in ("Pacific/Auckland", "America/Los_Angeles", "Europe/Berlin"))


@pytest.mark.parametrize(
    ("at", "zone", "meant"),
    [
        ("6:30 pm on 4 May 2026", LOS_ANGELES, "tomorrow (5 May 2026)"),  # 5 May in UTC
        ("8:00 am on 4 May 2026", AUCKLAND, "tomorrow (5 May 2026)"),  # 3 May in UTC
        ("11:30 pm on 28 March 2026", BERLIN, "tomorrow (29 March 2026)"),  # the next day has 23 hours
        ("0:15 am on 25 October 2026", BERLIN, "tomorrow (26 October 2026)"),  # this one has 25
    ],
)
def test_days_are_those_of_the_speakers_zone(at: str, zone: ZoneInfo, meant: str) -> None:
    stamp_ns = stamp_of(at, zone)
    assert stamp_ns is not None
    assert with_days("The plumber comes tomorrow.", stamp_ns, zone) == f"The plumber comes {meant}."
    assert spoken_day(stamp_ns, zone) in at


def test_clock_times_keep_their_meaning_over_the_change_to_summer_time() -> None:
    hours = [stamp_of(f"12:00 pm on {day} March 2026", BERLIN) or 0 for day in (28, 29, 30)]
    assert [(later - earlier) // (3600 * 10**9) for earlier, later in pairwise(hours)] == [23, 24]


def test_zone_by_default_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        assert stamp_of("6:30 pm on 4 May 2026") == stamp_of("6:30 pm on 4 May 2026", LOS_ANGELES)
        assert spoken_day(stamp_of("6:30 pm on 4 May 2026") or 0) == "4 May 2026"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_day_is_read_in_several_forms() -> None:
    assert day_of("8 May, 2023") == day_of("May 8th, 2023") == day_of("2023-05-08") == date(2023, 5, 8)
    assert day_of("31 June 2023") is None
    assert day_of("soon") is None


def test_stamp_of_noon_and_midnight() -> None:
    noon, midnight = stamp_of("12:00 pm on 1 May 2023"), stamp_of("12:00 am on 1 May 2023")
    assert noon is not None
    assert midnight is not None
    assert noon - midnight == 12 * 3600 * 10**9
    assert spoken_day(midnight) == "1 May 2023"


def test_pronoun_is_whom_was_named_last_and_i_is_who_speaks() -> None:
    assert last_person("The blue mug is Anna's", "") == "Anna"
    assert resolved("she is allergic to nuts.", "", Named("Anna")) == "Anna is allergic to nuts."
    assert resolved("her cup is red", "", Named("Anna")) == "Anna's cup is red"
    assert resolved("I like my tea", "Ben", Named("Anna")) == "Ben likes Ben's tea"
    assert resolved("she is here", "", Named()) == "she is here"


@pytest.mark.parametrize(
    ("before", "clause", "whole"),
    [
        ("The statue is very fragile", "please leave it alone", "please leave The statue alone"),
        ("The keys have moved.", "They are now kept on the desk.", "The keys are now kept on the desk."),
        ("The blue mug is Anna's", "it is chipped", "The blue mug is chipped"),
        ("The blue mug is Anna's", "It is raining.", "It is raining."),
        ("The blue mug is Anna's", "she is allergic to nuts", "Anna is allergic to nuts"),
        ("Anna lost the key.", "They left early.", "Anna left early."),
        ("The vase is old.", "The laptop is new, so nobody may use it.", "The laptop is new, so nobody may use it."),
        ("The keys are lost.", "My brother has them.", "My brother has The keys."),
    ],
)
def test_pronoun_is_what_was_named_last(before: str, clause: str, whole: str) -> None:
    assert resolved(clause, "", Named().after(before)) == whole


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My son is ill.", "Your son is ill."),
        ("I'm allergic to eggs.", "You are allergic to eggs."),
        ("The red cup is mine.", "The red cup is yours."),
        ("I'd rather you left it.", "I'd rather you left it."),
        ("Ida likes tea.", "Ida likes tea."),
    ],
)
def test_what_people_say_of_themselves_is_told_back_to_them(said: str, told: str) -> None:
    assert told_back(said) == told
