from dataclasses import replace
from datetime import timezone

import numpy as np
import pytest

from memory_node.context.sections import ORDER, MemoryExcerpt, Section, assemble, estimate_tokens
from memory_node.domain.answer import AnswerStatus, ObjectAnswer, Recollection
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import Deed, StepRecord
from memory_node.episodes.episode_graph import EpisodeGraph
from memory_node.episodes.past_attempt import PastAttempt
from memory_node.episodes.working_memory import WorkingMemory
from memory_node.knowledge.facts import Proposition
from memory_node.lessons.lesson import Lesson, LessonKind, Tally, Wording
from memory_node.lessons.long_term import ExperienceAnswer


def test_budget_cuts_the_least_important_lines() -> None:
    section = Section("Facts", tuple(f"- fact {number} of several" for number in range(20)), 1.0)
    context = assemble([section], 40)
    assert "fact 0" in context.text
    assert "fact 19" not in context.text
    assert estimate_tokens(context.text) <= 40
    assert context.section_tokens == {"Facts": estimate_tokens(context.text)}
    assert context.section_lines == {"Facts": context.text.count("\n- fact")}
    assert tuple(context.text.splitlines()[1:]) + context.cut["Facts"] == section.lines


def test_section_that_is_left_out_wholly_is_told_as_cut() -> None:
    context = assemble([Section("A", ("- one",), 0.5), Section("B", ("- a line " + "of many words " * 40,), 0.5)], 20)
    assert list(context.section_tokens) == ["A"]
    assert list(context.cut) == ["B"]


def test_what_one_section_leaves_over_goes_to_the_next() -> None:
    short, long = Section("A", ("- one",), 0.5), Section("B", tuple(f"- line {n}" for n in range(99)), 0.5)
    alone = assemble([Section("A", (), 0.5), long], 100).section_tokens["B"]
    after = assemble([short, long], 100).section_tokens["B"]
    assert after > 50
    assert alone >= after


def test_what_one_section_leaves_over_goes_to_those_before_it_too() -> None:
    long, short = Section("A", tuple(f"- line {n}" for n in range(99)), 0.5), Section("B", ("- one",), 0.5)
    context = assemble([long, short], 100)
    assert context.section_lines["B"] == 1
    assert context.section_tokens["A"] > 80
    assert context.tokens <= 100


def test_hardly_a_line_is_cut_off_while_there_is_room_for_it() -> None:
    sections = [Section(str(n), tuple(f"- line {n} {i}" for i in range(7 * n)), 0.1 + n % 3) for n in range(8)]
    for budget in (60, 150, 300, 500, 900):
        context = assemble(sections, budget)
        cut = any(context.section_lines.get(section.title, 0) < len(section.lines) for section in sections)
        assert budget - 8 <= context.tokens <= budget if cut else context.tokens <= budget


def test_sections_that_all_want_more_get_their_shares() -> None:
    sections = [Section(title, tuple(f"- line {n}" for n in range(99)), share) for title, share in (("A", 3), ("B", 1))]
    tokens = assemble(sections, 200).section_tokens
    assert 2.5 < tokens["A"] / tokens["B"] < 3.5


def test_empty_section_leaves_no_title() -> None:
    assert assemble([Section("Nothing", (), 1.0)], 100).text == ""


def lesson(key: str, text: str, **more: object) -> Lesson:
    return Lesson(key, LessonKind.PREFER, (Wording("", text),), **more)  # type: ignore[arg-type]


def failed_put() -> StepRecord:
    put = SkillCall("PutObject", ("Egg", "Fridge"))
    return StepRecord("e1", 0, put, False, FailureReason.CLOSED, 1, held_object="Egg", room="kitchen")


def full_excerpt() -> MemoryExcerpt:
    working, graph = WorkingMemory(), EpisodeGraph()
    working.record(failed_put())
    working.record(failed_put())
    graph.add("e1", [failed_put()])
    record = PastAttempt("e1", "store the egg", "store", False, 1, failure_causes=("it was shut",))
    answer = ExperienceAnswer(
        room="kitchen",
        room_patterns=(("PickupObject(Egg)", 3, 4),),
        experiences=(record,),
        failed_before=tuple(graph.failed_transitions(["e1"])),
        action_hints=(("Egg", "PickupObject", 3, 4),),
        learnt_relations=(("Egg in Fridge", 2),),
        working_memory=working.view(),
    )
    place, side = np.array([1.0, 2.0, 0.8]), np.full(3, 0.1)
    ok = AnswerStatus.OK
    seen = ObjectAnswer("01", "Egg", 0.9, place, np.eye(3), side, 0.0, 0.9, 1, 1, 0, 0.9, "short_term", ok)
    return MemoryExcerpt(
        answer,
        lessons=((lesson("g", "Open the fridge first."), "Open the fridge first."),),
        known=(Proposition("Anna is allergic to nuts.", frozenset({"anna"}), ("told:0",)),),
        room_relations=("Mug on DiningTable",),
        recollection=Recollection((seen,), ok),
        home=('{"name": "area 1"}',),
        robot="Robot: in kitchen, holding Egg.",
        deeds=(Deed("e1:0", "CoolObject", "05", "Egg", 1, to_id="07", to_class="Fridge", reason="execution"),),
        names={"05": "Egg 3", "07": "Fridge 2"},
        zone=timezone.utc,
    )


def test_sections_come_in_brainmems_order_each_with_its_tokens() -> None:
    context = assemble(full_excerpt().sections(), 4000)
    assert tuple(context.section_tokens) == ORDER
    titles = [line.removeprefix("## ") for line in context.text.splitlines() if line.startswith("## ")]
    assert titles == [
        "Lessons",
        "What works in this room",
        "Experiences with similar tasks",
        "What is known",
        "Action hints",
        "Spatial guidance: this room",
        "Spatial guidance: just seen or used",
        "Spatial guidance: the home",
        "Working memory and robot state",
    ]
    for title, block in zip(titles, context.text.split("\n\n")):
        assert context.section_tokens[title] == estimate_tokens(block)


def test_each_section_says_what_it_is_there_for() -> None:
    blocks = assemble(full_excerpt().sections(), 4000).text.split("\n\n")
    said = (
        "Open the fridge",
        "3 of 4 times here",
        "it was shut",
        "allergic to nuts",
        "failed 1x",
        "Mug on DiningTable",
        "(id 01)",
    )
    for text, block in zip(said, blocks):
        assert text in block
    assert '"store the egg"' in blocks[2]
    assert "CoolObject Egg 3 at Fridge 2 (failed" in blocks[2]
    assert "Thursday 1 January, 00:00" in blocks[2]
    assert blocks[8].splitlines()[1] == "Robot: in kitchen, holding Egg."
    assert "Warning: PutObject(Egg, Fridge) has just failed (closed)" in blocks[8]


def test_what_always_works_is_not_told_and_the_robot_s_state_once() -> None:
    answer = ExperienceAnswer(
        room="kitchen",
        room_patterns=(("PickupObject(Egg)", 3, 3),),
        action_hints=(("Egg", "PickupObject", 3, 3),),
        working_memory=WorkingMemory().view(),
    )
    context = assemble(MemoryExcerpt(answer, robot="Robot: in kitchen, holding nothing.").sections(), 4000)
    assert context.text.splitlines()[1:] == ["Robot: in kitchen, holding nothing."]


def test_warnings_of_working_memory_outlive_a_small_budget() -> None:
    crowded = full_excerpt().sections()[-1]
    text, shown = crowded.within(90)
    assert "Warning:" in text
    assert shown < len(crowded.lines)


def test_lessons_tell_what_bears_them_out() -> None:
    tried = lesson("t", "Open the fridge first.", given=Tally(7.0, 9))
    tries = {"place_class": "Drawer", "evidence_for": ("e1:0", "e2:3"), "writer": "tries"}
    jams = lesson("tries|OpenObject", "OpenObject at this Drawer fails", **tries)
    said = ("OpenObject at Drawer 2 fails", tried.text, "Go round the table.")
    lessons = tuple(zip((jams, tried, lesson("u", "Go round the table.")), said))
    text = assemble(replace(full_excerpt(), lessons=lessons).sections(), 4000).text
    assert "- OpenObject at Drawer 2 fails (2 tries" in text
    proven = next(line for line in text.splitlines() if line.startswith("- Open the fridge first."))
    assert "9" in proven
    assert "7" in proven
    assert "- Go round the table.\n" in text
    in_vain = replace(full_excerpt(), lessons=((replace(tried, given=Tally(0.0, 1)), tried.text),))
    assert "0 of once" not in assemble(in_vain.sections(), 4000).text


def test_what_an_experience_tells_of_one_thing_is_not_told_of_its_class_again() -> None:
    put = Deed("e1:0", "PutObject", "05", "Egg", 1, to_id="07", to_class="Fridge", reason="execution")
    told = replace(full_excerpt(), deeds=(put,))
    texts = {section.title: "\n".join(section.lines) for section in told.sections()}
    assert "PutObject" not in texts["Action hints"]
    # Nor is what holds in this room and everywhere alike.
    assert ["PickupObject" in texts[title] for title in ("What works in this room", "Action hints")] == [True, False]


def test_a_cause_that_a_deed_tells_is_not_told_again() -> None:
    put = Deed("e1:1", "PutObject", "05", "Egg", 1, to_class="Fridge", reason="execution")
    causes = ("PutObject(Egg, Fridge): execution", "nobody was there")
    record = PastAttempt("e1", "store the egg", "fetch", False, 1, failure_causes=causes)
    answer = ExperienceAnswer(room="kitchen", experiences=(record,))
    text = "\n".join(line for section in MemoryExcerpt(answer, deeds=(put,)).sections() for line in section.lines)
    assert text.count("PutObject") == 1
    assert "nobody was there" in text


def test_a_lesson_tells_when_it_was_last_seen_to_hold() -> None:
    day_ns = 86_400 * 10**9
    tries = tuple(Deed(f"e{day}:0", "OpenObject", "05", "Drawer", day * day_ns, reason="execution") for day in range(3))
    jams = lesson("tries|OpenObject", "OpenObject fails", evidence_for=("e1:0", "e0:0"), writer="tries")
    excerpt = MemoryExcerpt(ExperienceAnswer(""), lessons=((jams, "jams"),), deeds=tries, zone=timezone.utc)
    assert "2 January" in excerpt.sections()[0].lines[0]
    assert "1 January" not in excerpt.sections()[0].lines[0]


def test_what_a_lesson_tells_of_one_thing_is_not_told_of_its_class_again() -> None:
    experience = replace(
        full_excerpt().experience,
        room_patterns=(("OpenObject(Drawer)", 0, 2), ("OpenObject(Fridge)", 0, 2)),
        action_hints=(("Drawer", "OpenObject", 0, 2), ("Drawer", "CloseObject", 1, 2)),
    )
    tries = {"skill": "OpenObject", "place_class": "Drawer", "evidence_for": ("e1:0",), "writer": "tries"}
    jams = lesson("tries|OpenObject", "OpenObject at this Drawer fails", **tries)
    excerpt = replace(full_excerpt(), experience=experience, lessons=((jams, "OpenObject at Drawer 2 fails"),))
    text = assemble(excerpt.sections(), 4000).text
    assert "OpenObject(Drawer)" not in text.partition("## Working memory")[0].partition("## What works")[2]
    assert "Drawer: OpenObject" not in text
    assert "Drawer: CloseObject" in text
    assert "OpenObject(Fridge) worked 0 of 2" in text


@pytest.mark.parametrize(
    ("outcomes", "is_told"),
    [
        (("execution", "execution", "execution"), True),
        (("execution", "execution", ""), False),
        (("execution", "", "execution", ""), True),
    ],
    ids=["fails", "works since", "by turns"],
)
def test_failures_that_a_later_success_ended_are_told_no_more(outcomes: tuple[str, ...], is_told: bool) -> None:
    experience = replace(full_excerpt().experience, room_patterns=(("OpenObject(Drawer)", 1, 3),))
    experience = replace(experience, action_hints=(("Drawer", "OpenObject", 1, 4),))
    deeds = tuple(
        Deed(f"e{at}:0", "OpenObject", "05", "Drawer", at * 10**9, reason=why) for at, why in enumerate(outcomes)
    )
    text = assemble(replace(full_excerpt(), experience=experience, deeds=deeds).sections(), 4000).text
    assert ("OpenObject(Drawer) worked 1 of 3" in text) is is_told
    assert ("Drawer: OpenObject worked 1 of 4" in text) is is_told
