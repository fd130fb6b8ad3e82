"""When an entry applies: its target is the next step, and what it assumes is believed."""

from dataclasses import replace

import pytest

from memory_node.context.brief_state import BriefState, EnvironmentBelief, Section, TaskProgress
from memory_node.context.guidance import Delivery, Guidance
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.step_observation import StepObservation, TakenStep
from memory_node.context.subgoal import Subgoal
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory, declared_entries, of_lesson
from memory_node.context.ways import fitted
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.lesson import Lesson, LessonKind, Preparation, Wording

CLASSES = {"Mug": "Mug", "Fridge": "Fridge", "Knife": "Knife", "Apple": "Apple", "Microwave": "Microwave"}
PUT = SkillCall("PutObject", ("Mug", "Fridge"))
NOTHING = TaskMemory()


def state(*agent: str, facts: tuple[str, ...] = (), locations: tuple[str, ...] = (), current: str = "") -> BriefState:
    return BriefState(TaskProgress("task", current=current), EnvironmentBelief(locations, agent, facts))


def guided(
    proposed: SkillCall | None, believed: BriefState, memory: TaskMemory = NOTHING, **more: object
) -> Guidance | None:
    observation = replace(StepObservation(proposed=proposed, classes=CLASSES), **more)  # type: ignore[arg-type]
    compiled = RulesCompiler().compile(observation, believed, memory)
    assert compiled.delivery is (Delivery.EXPERIENCE if compiled.guidance else Delivery.NOACTION)
    return compiled.guidance


def repair(
    skill: str = "PutObject", reason: str = "closed", remedy: str = "OpenObject", part: str = "receptacle"
) -> Entry:
    rules = [rule for rule in SKILLS[skill].preconditions if str(rule.reason) == reason]
    return Entry(
        f"repair|{skill}",
        EntryKind.DECLARED,
        f"Before {skill}, do {remedy}.",
        skill=skill,
        assumes=tuple(replace(rule.fact, value=not rule.fact.value) for rule in rules),
        reason=FailureReason(reason),
        steps=(SkillCall(remedy, ("{" + part + "}",)),),
    )


def test_entry_applies_where_its_assumption_is_believed() -> None:
    believed = state("the hand holds Mug", "the robot stands at Fridge", facts=("Fridge is closed",))
    guidance = guided(PUT, believed, TaskMemory.of([repair()]))
    assert guidance is not None
    assert guidance.goal == SkillCall("OpenObject", ("Fridge",))
    assert guidance.reason == "Fridge is closed"
    assert guidance.entries == ("repair|PutObject",)
    assert guidance.text == "Next: OpenObject(Fridge), because Fridge is closed."


@pytest.mark.parametrize("facts", [(), ("Fridge is opened",), ("Drawer is closed",)])
def test_entry_does_not_apply_where_it_is_not_believed(facts: tuple[str, ...]) -> None:
    believed = state("the hand holds Mug", "the robot stands at Fridge", facts=facts)
    assert guided(PUT, believed, TaskMemory.of([repair()])) is None


def test_entry_for_other_things_or_goals_does_not_apply() -> None:
    believed = state("the hand holds Mug", facts=("PutObject(Mug, Fridge) failed: precondition",))
    entry = repair(reason="precondition", remedy="ToggleOff")
    of_microwaves = replace(entry, classes=frozenset({"Microwave"}))
    of_heating = replace(entry, goal_kinds=frozenset({"heat"}))
    assert guided(PUT, believed, TaskMemory.of([of_microwaves])) is None
    assert guided(PUT, believed, TaskMemory.of([of_heating]), goals=("place Mug to Fridge",)) is None
    assert guided(PUT, believed, TaskMemory.of([of_heating]), goals=("heat Mug to Fridge",)) is not None


def test_failure_stands_for_what_an_entry_assumes() -> None:
    cut = SkillCall("SliceObject", ("Apple",))
    entry = replace(repair("SliceObject", "precondition"), steps=(SkillCall("PickupObject", ("Knife",)),))
    believed = state("the hand is empty", "the robot stands at Knife")
    before = guided(cut, believed, TaskMemory.of([entry]))
    assert before is not None
    assert before.goal == SkillCall("GoToObject", ("Apple",))
    told = state("the hand is empty", "the robot stands at Knife", facts=("SliceObject(Apple) failed: precondition",))
    guidance = guided(cut, told, TaskMemory.of([entry]))
    assert guidance is not None
    assert guidance.goal == SkillCall("PickupObject", ("Knife",))
    assert guidance.reason == "SliceObject(Apple) failed: precondition"


def test_preparation_gets_its_own_preparation_first() -> None:
    believed = state("the hand holds Mug", "the robot stands at nothing known", facts=("Fridge is closed",))
    guidance = guided(SkillCall("OpenObject", ("Fridge",)), believed)
    assert guidance is not None
    assert guidance.goal == SkillCall("GoToObject", ("Fridge",))


def test_step_that_is_prepared_needs_nothing() -> None:
    believed = state("the hand holds Mug", "the robot stands at Fridge", facts=("Fridge is opened",))
    assert guided(PUT, believed) is None


def test_what_is_close_by_is_tried_first() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    there = ("the hand is empty", "the robot stands at nothing known")
    assert guided(pick, state(*there)) is not None
    assert guided(pick, state(*there, facts=("Mug is close by",))) is None


def test_unknown_contradicts_nothing() -> None:
    assert guided(PUT, state()) is None


def test_door_around_a_thing_is_opened() -> None:
    believed = state(
        "the hand is empty",
        "the robot stands at Fridge",
        facts=("Fridge is closed",),
        locations=("Mug is inside Fridge",),
    )
    guidance = guided(SkillCall("PickupObject", ("Mug",)), believed)
    assert guidance is not None
    assert guidance.goal == SkillCall("OpenObject", ("Fridge",))
    assert guidance.reason == "Mug is inside Fridge; Fridge is closed"


def test_what_fails_by_chance_is_made_again_and_then_approached_anew() -> None:
    where = ("the hand is empty", "the robot stands at Mug")
    pick = SkillCall("PickupObject", ("Mug",))
    again = guided(pick, state(*where, facts=("PickupObject(Mug) failed 2 times: execution",)))
    assert again is not None
    assert again.goal == pick
    anew = guided(pick, state(*where, facts=("PickupObject(Mug) failed 3 times: execution",)))
    assert anew is not None
    assert anew.goal == SkillCall("GoToObject", ("Mug",))
    assert anew.avoid == (pick,)
    assert anew.text.startswith("Do not PickupObject(Mug) again. Next: GoToObject(Mug)")


def test_without_loop_detection_nothing_is_forbidden() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    believed = state(
        "the hand is empty", "the robot stands at Mug", facts=("PickupObject(Mug) failed 9 times: execution",)
    )
    compiled = RulesCompiler(detects_loops=False).compile(
        StepObservation(proposed=pick, classes=CLASSES), believed, NOTHING
    )
    assert compiled.guidance is not None
    assert compiled.guidance.goal == pick


def test_preparation_that_failed_is_not_advised_again() -> None:
    believed = state(
        "the hand is empty",
        "the robot stands at nothing known",
        facts=("GoToObject(Mug) failed: unreachable",),
    )
    assert guided(SkillCall("PickupObject", ("Mug",)), believed) is None


def test_preparation_that_failed_for_want_of_another_gets_that_one() -> None:
    believed = state(
        "the hand holds Mug",
        "the robot stands at Mug",
        facts=("Fridge is closed", "OpenObject(Fridge) failed: too_far", "Fridge is out of reach"),
    )
    guidance = guided(PUT, believed)
    assert guidance is not None
    assert guidance.goal == SkillCall("GoToObject", ("Fridge",))


def test_what_is_in_the_hand_is_not_taken_again() -> None:
    entry = replace(repair("SliceObject", "precondition"), steps=(SkillCall("PickupObject", ("Knife",)),))
    told = state(
        "the hand holds Knife", "the robot stands at Apple", facts=("SliceObject(Apple) failed: precondition",)
    )
    assert guided(SkillCall("SliceObject", ("Apple",)), told, TaskMemory.of([entry])) is None


def test_what_made_a_call_work_before_comes_first_until_it_holds() -> None:
    lesson = Lesson(
        "tries|HeatObject",
        LessonKind.WAY,
        (Wording("", "HeatObject at this Microwave works after SwitchOn Switch"),),
        skill="HeatObject",
        place_class="Microwave",
        before=(Preparation("SwitchOn", "s1", "Switch"),),
        evidence_for=("e1:3",),
    )
    heat, memory = SkillCall("HeatObject", ("Mug", "Microwave")), TaskMemory.of([of_lesson(lesson)])
    there = ("the hand holds Mug", "the robot stands at Microwave")
    more = {"classes": {**CLASSES, "Switch": "Switch"}}
    known = state(*there, facts=("Microwave is closed",))
    before = guided(heat, known, memory, **more)
    assert before is not None
    assert before.goal in (SkillCall("GoToObject", ("Switch",)), SkillCall("SwitchOn", ("Switch",)))
    done = state(*there, facts=("Microwave is closed", "Switch is on"))
    after = guided(heat, done, memory, **more)
    assert after is None or "Switch" not in after.goal.arguments
    elsewhere = guided(SkillCall("HeatObject", ("Mug", "Fridge")), known, memory, **more)
    assert elsewhere is None or "Switch" not in elsewhere.goal.arguments


def test_way_that_worked_is_fitted_to_the_subgoal() -> None:
    way = Entry(
        "way",
        EntryKind.WAY,
        "cool a cup",
        steps=(
            SkillCall("PickupObject", ("Cup",)),
            SkillCall("CoolObject", ("Cup",)),
            SkillCall("PutObject", ("Cup", "Shelf")),
        ),
    )
    believed = state("the hand holds Mug", "the robot stands at Mug", current="cool Mug to Fridge")
    taken = TakenStep(SkillCall("PickupObject", ("Mug",)), True)
    guidance = guided(None, believed, TaskMemory.of([way]), goals=("cool Mug to Fridge",), taken=taken, recent=(taken,))
    assert guidance is not None
    assert guidance.goal == SkillCall("CoolObject", ("Mug",))
    assert guidance.reason == "cool Mug to Fridge"


def test_roles_are_filled_by_the_subgoal_and_what_it_does_not_name_is_left_out() -> None:
    knife, thing, place = "Knife", "the thing", "the place"
    steps = [("PickupObject", knife), ("SliceObject", thing), ("PutObject", thing, place), ("ToggleOn", "Faucet")]
    way = Entry("way", EntryKind.WAY, "so", steps=tuple(SkillCall(skill, tuple(of)) for skill, *of in steps))
    fitting = fitted(way, Subgoal.parse("place Bread to Shelf"))
    assert [str(call) for call in fitting] == [
        "PickupObject(Knife)",
        "SliceObject(Bread)",
        "PutObject(Bread, Shelf)",
        "ToggleOn(Faucet)",
    ]
    without_place = fitted(way, Subgoal.parse("slice Bread"))
    assert [call.skill for call in without_place] == ["PickupObject", "SliceObject", "ToggleOn"]


def test_loop_gets_another_way() -> None:
    way = Entry(
        "way",
        EntryKind.WAY,
        "open it",
        steps=(SkillCall("PickupObject", ("Mug",)), SkillCall("CoolObject", ("Mug",))),
    )
    steps = [TakenStep(SkillCall(skill, ("Fridge",)), True) for skill in ("OpenObject", "CloseObject")] * 2
    believed = state("the hand is empty", "the robot stands at Mug", current="cool Mug")
    guidance = guided(None, believed, TaskMemory.of([way]), goals=("cool Mug",), recent=tuple(steps))
    assert guidance is not None
    assert guidance.goal == SkillCall("PickupObject", ("Mug",))
    assert guidance.text.startswith("Do not OpenObject(Fridge), CloseObject(Fridge) again.")


def test_reason_is_always_a_belief() -> None:
    """Whatever is believed of hand, place and door, guidance says so by what stands in the state."""
    for agent in (
        ("the hand holds Mug",),
        ("the hand is empty",),
        ("the robot stands at Mug",),
        ("the robot stands at nothing known",),
    ):
        for facts in ((), ("Fridge is closed",), ("Fridge is out of reach",)):
            believed = state(*agent, facts=facts)
            guidance = guided(PUT, believed)
            if guidance is not None:
                items = {text for section in Section for text in believed.items(section)}
                assert set(guidance.reason.split("; ")) <= items


def test_library_declares_entries() -> None:
    ids = {entry.id for entry in declared_entries()}
    assert "declared|PutObject|open_or_unlidded(receptacle)" in ids
    assert not any(entry.steps == () for entry in declared_entries())


def a_way(*steps: SkillCall, kinds: tuple[str, ...] = ("place_two",)) -> Entry:
    return Entry("way", EntryKind.WAY, "a way", goal_kinds=frozenset(kinds), steps=steps)


def a_place(object_class: str) -> Entry:
    return Entry(f"place {object_class}", EntryKind.PLACE, "there", "Explore", classes=frozenset({object_class}))


PICK_CUP, PUT_CUP = SkillCall("PickupObject", ("Cup",)), SkillCall("PutObject", ("Cup", "Shelf"))
TWO = TaskMemory.of([a_way(PICK_CUP, PUT_CUP, PICK_CUP, PUT_CUP), a_place("Mug")])


def test_what_nobody_has_seen_is_looked_for_before_any_way_is_gone() -> None:
    guidance = guided(None, state("the hand is empty"), TWO, goals=("place_two 2 x Mug to Fridge",))
    assert guidance is not None
    assert guidance.goal == SkillCall("Explore", ("Mug",))


def test_second_thing_to_be_placed_is_not_the_one_that_was() -> None:
    classes = {**CLASSES, "Mug 2": "Mug", "Table": "Table"}
    taken = tuple(
        TakenStep(call, True)
        for call in (SkillCall("PickupObject", ("Mug 2",)), SkillCall("PutObject", ("Mug 2", "Fridge")))
    )
    at_table = state(
        "the hand is empty", "the robot stands at Mug", locations=("Mug is in or on Table", "Mug 2 is inside Fridge")
    )
    more = {"goals": ("place_two 2 x Mug to Fridge",), "classes": classes, "recent": taken}
    guidance = guided(None, at_table, TWO, **more)
    assert guidance is not None
    assert guidance.goal == SkillCall("PickupObject", ("Mug",))
    nowhere_else = state("the hand is empty", locations=("Mug 2 is inside Fridge",))
    guidance = guided(None, nowhere_else, TWO, **more)
    assert guidance is not None
    assert guidance.goal == SkillCall("Explore", ("Mug",))


def test_what_the_hand_holds_is_what_is_put() -> None:
    classes = {"Mug 2": "Mug", "Mug": "Mug", "Fridge": "Fridge"}
    holding = state("the hand holds Mug 2", "the robot stands at Fridge", facts=("Fridge is opened",))
    taken = (TakenStep(SkillCall("PickupObject", ("Mug 2",)), True),)
    guidance = guided(None, holding, TWO, goals=("place_two 2 x Mug to Fridge",), classes=classes, recent=taken)
    assert guidance is not None
    assert guidance.goal == SkillCall("PutObject", ("Mug 2", "Fridge"))


def test_light_is_looked_for_once_the_thing_is_in_the_hand() -> None:
    switched = a_way(PICK_CUP, SkillCall("SwitchOn", ("DeskLamp",)), kinds=("examine",))
    lamp = TaskMemory.of([a_place("DeskLamp"), switched])
    holding = state("the hand holds Mug", "the robot stands at Fridge")
    more = {
        "goals": ("examine Mug with DeskLamp",),
        "recent": (TakenStep(SkillCall("PickupObject", ("Mug",)), True),),
    }
    guidance = guided(None, holding, lamp, **more)
    assert guidance is not None
    assert guidance.goal == SkillCall("Explore", ("DeskLamp",))
    seen = guided(None, holding, lamp, classes={**CLASSES, "DeskLamp": "DeskLamp"}, **more)
    assert seen is not None
    assert seen.goal.skill != "Explore"
