"""What comes before a step: what memory says of it, and its declared preconditions that are believed to be missing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.beliefs import Beliefs, Failed
from memory_node.context.brief_state import BriefState, Section
from memory_node.context.episode_guidance import EpisodeGuidance
from memory_node.context.guidance import Delivery, Guidance, KnownThing, StepObservation, TakenStep
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.task_memory import Entry, EntryKind, Subgoal, TaskMemory, fitted, of_lesson, preparing
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState
from memory_node.domain.step import Deed
from memory_node.lessons.expectations import Expectations, Named
from memory_node.lessons.lesson import Lesson, LessonKind, Preparation, Wording
from memory_node.lessons.plugmem import PLACE, THING
from memory_node.world.state import Thing, WorldState

CLASSES = {"Mug": "Mug", "Fridge": "Fridge", "Knife": "Knife", "Apple": "Apple", "Microwave": "Microwave"}
PUT = SkillCall("PutObject", ("Mug", "Fridge"))
NOTHING = TaskMemory()
NOWHERE: Mapping[str, str] = MappingProxyType({})


def beliefs(
    held: str | None = None,
    at: str | None = None,
    *,
    inside: Mapping[str, str] = NOWHERE,
    on: Mapping[str, str] = NOWHERE,
    states: Mapping[str, str] = NOWHERE,
    apart: Collection[str] = (),
    close: Collection[str] = (),
    failed: Mapping[SkillCall, Failed] | None = None,
    current: str = "",
) -> Beliefs:
    names = {held or "", at or "", *inside, *inside.values(), *on, *on.values(), *states} - {""}
    things = [Thing(name, name.rstrip(" 0123456789")) for name in sorted(names)]
    world = WorldState.of_things(load_catalogue(), things).holding(held).standing_at(at).out_of_reach(*apart)
    for name, outer in {**on, **inside}.items():
        world = world.put(name, outer, name in inside)
    for name, state in states.items():
        world = world.with_state(name, ObjectState(state))
    world = replace(world, within=frozenset(close))
    return Beliefs(world, failed or {}, BriefState("task", current=current))


def call(text: str) -> SkillCall:
    skill, _, rest = text.rstrip(")").partition("(")
    return SkillCall(skill, tuple(rest.split(", ")))


def guided(
    proposed: SkillCall | None, believed: Beliefs, memory: TaskMemory = NOTHING, **more: object
) -> Guidance | None:
    observation = replace(StepObservation(proposed=proposed, classes=CLASSES, beliefs=believed), **more)  # type: ignore[arg-type]
    compiled = RulesCompiler().compile(observation, believed.brief(), memory)
    assert compiled.delivery is (Delivery.EXPERIENCE if compiled.guidance else Delivery.NOACTION)
    return compiled.guidance


def advised(proposed: SkillCall | None, believed: Beliefs, memory: TaskMemory = NOTHING, **more: object) -> str:
    """Return the call that is advised, "" for none."""
    guidance = guided(proposed, believed, memory, **more)
    return str(guidance.goal) if guidance is not None else ""


def reminder(remedy: str) -> Entry:
    step = SkillCall(remedy, ("{receptacle}",))
    return Entry("reminder", EntryKind.REMINDER, f"PutObject wants {remedy}.", skill="PutObject", steps=(step,))


def test_declared_precondition_is_brought_about_where_it_is_believed_to_be_missing() -> None:
    guidance = guided(PUT, beliefs(held="Mug", at="Fridge", states={"Fridge": "closed"}))
    assert guidance.goal == SkillCall("OpenObject", ("Fridge",))
    assert guidance.reason == "Fridge is closed"
    assert guidance.text == "Next: OpenObject(Fridge), because Fridge is closed."


@pytest.mark.parametrize("states", [{}, {"Fridge": "opened"}, {"Drawer": "closed"}])
def test_what_is_not_believed_to_be_missing_is_not_brought_about(states: Mapping[str, str]) -> None:
    assert guided(PUT, beliefs(held="Mug", at="Fridge", states=states)) is None


def test_reminder_applies_to_its_skill_things_and_goals() -> None:
    entry, believed = reminder("ToggleOff"), beliefs(held="Mug", at="Fridge")
    guidance = guided(PUT, believed, TaskMemory.of([entry]))
    assert (str(guidance.goal), guidance.reason, guidance.entries) == ("ToggleOff(Fridge)", entry.text, ("reminder",))
    of_microwaves = replace(entry, classes=frozenset({"Microwave"}))
    of_heating = replace(entry, goal_kinds=frozenset({"heat"}))
    assert guided(PUT, believed, TaskMemory.of([of_microwaves])) is None
    assert guided(PUT, believed, TaskMemory.of([of_heating]), goals=("place Mug to Fridge",)) is None
    assert guided(PUT, believed, TaskMemory.of([of_heating]), goals=("heat Mug to Fridge",)) is not None


def test_failure_tells_which_declared_precondition_is_missing() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    guidance = guided(pick, beliefs(held="", failed={pick: Failed(FailureReason.TOO_FAR)}))
    assert guidance.goal == SkillCall("GoToObject", ("Mug",))
    assert guidance.reason == "PickupObject(Mug) failed: too_far"


def test_preparation_gets_its_own_preparation_first() -> None:
    believed = beliefs(held="Mug", at="", states={"Fridge": "closed"})
    assert advised(SkillCall("OpenObject", ("Fridge",)), believed) == "GoToObject(Fridge)"


def test_step_that_is_prepared_needs_nothing() -> None:
    believed = beliefs(held="Mug", at="Fridge", states={"Fridge": "opened"})
    assert guided(PUT, believed) is None


def test_what_is_close_by_is_tried_first() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    assert guided(pick, beliefs("", "")) is not None
    assert guided(pick, beliefs("", "", close=("Mug",))) is None


def test_unknown_contradicts_nothing() -> None:
    assert guided(PUT, beliefs()) is None


def test_door_around_a_thing_is_opened() -> None:
    believed = beliefs(held="", at="Fridge", inside={"Mug": "Fridge"}, states={"Fridge": "closed"})
    guidance = guided(SkillCall("PickupObject", ("Mug",)), believed)
    assert guidance.goal == SkillCall("OpenObject", ("Fridge",))
    assert guidance.reason == "Mug is inside Fridge; Fridge is closed"


def test_door_around_a_thing_is_driven_up_to_first_however_many_steps_it_prepares() -> None:
    believed = beliefs(held="", at="Microwave", inside={"Mug": "Fridge"}, states={"Fridge": "closed"})
    assert advised(SkillCall("HeatObject", ("Mug", "Microwave")), believed) == "GoToObject(Fridge)"


def test_what_fails_by_chance_is_made_again_and_then_approached_anew() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    assert advised(pick, beliefs("", "Mug", failed={pick: Failed(FailureReason.EXECUTION, 2)})) == str(pick)
    anew = guided(pick, beliefs("", "Mug", failed={pick: Failed(FailureReason.EXECUTION, 3)}))
    assert anew.goal == SkillCall("GoToObject", ("Mug",))
    assert anew.avoid == (pick,)
    assert anew.text.startswith("Do not PickupObject(Mug) again. Next: GoToObject(Mug)")


def test_without_loop_detection_nothing_is_forbidden() -> None:
    pick = SkillCall("PickupObject", ("Mug",))
    believed = beliefs(held="", at="Mug", failed={call("PickupObject(Mug)"): Failed(FailureReason.EXECUTION, 9)})
    observation = StepObservation(proposed=pick, classes=CLASSES, beliefs=believed)
    compiled = RulesCompiler(detects_loops=False).compile(observation, believed.brief(), NOTHING)
    assert compiled.guidance.goal == pick


def test_preparation_that_failed_is_not_advised_again() -> None:
    believed = beliefs(held="", at="", failed={call("GoToObject(Mug)"): Failed(FailureReason.UNREACHABLE)})
    assert guided(SkillCall("PickupObject", ("Mug",)), believed) is None


def test_preparation_that_failed_for_want_of_another_gets_that_one() -> None:
    far = {call("OpenObject(Fridge)"): Failed(FailureReason.TOO_FAR)}
    believed = beliefs("Mug", "Mug", states={"Fridge": "closed"}, apart=("Fridge",), failed=far)
    assert advised(PUT, believed) == "GoToObject(Fridge)"


def test_what_is_in_the_hand_is_not_taken_again() -> None:
    steps = (SkillCall("PickupObject", ("Knife",)),)
    entry = replace(reminder("PickupObject"), skill="SliceObject", steps=steps)
    told = beliefs(held="Knife", at="Apple", failed={call("SliceObject(Apple)"): Failed(FailureReason.PRECONDITION)})
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
    more = {"classes": {**CLASSES, "Switch": "Switch"}, "needed": {heat: preparing(lesson)}.get}
    known = beliefs("Mug", "Microwave", states={"Microwave": "closed"})
    before = guided(heat, known, memory, **more)
    assert before.goal in (SkillCall("GoToObject", ("Switch",)), SkillCall("SwitchOn", ("Switch",)))
    done = beliefs("Mug", "Microwave", states={"Microwave": "closed", "Switch": "on"})
    after = guided(heat, done, memory, **more)
    assert after is None or "Switch" not in after.goal.arguments
    elsewhere = guided(SkillCall("HeatObject", ("Mug", "Fridge")), known, memory, **more)
    assert elsewhere is None or "Switch" not in elsewhere.goal.arguments


@pytest.mark.parametrize(("state", "said"), [(ObjectState.OFF, ["SwitchOn(Switch@4,3,1)"]), (ObjectState.ON, [])])
def test_guidance_names_the_very_switch_out_of_view_and_only_where_it_is_not_on(state, said) -> None:
    before = (Preparation("SwitchOn", "s1", "Switch"),)
    lesson = Lesson("k", LessonKind.WAY, (Wording("", "so"),), "HeatObject", place_class="Microwave", before=before)
    entry = preparing(lesson, {"s1": "Switch@4,3,1"}.__getitem__)
    known = {"Switch@4,3,1": KnownThing("Switch", states=(state,), is_close=True)}
    episode = EpisodeGuidance(
        "heat the mug",
        "Mug",
        load_catalogue(),
        TaskMemory(needed=lambda *_: entry),
        RulesCompiler(),
        lambda name, _: known.get(name),
    )
    step = episode.step(StepObservation(proposed=SkillCall("HeatObject", ("Mug", "Microwave@1,1,1"))))
    calls = [str(step.guidance.goal)] if step.guidance is not None else []
    assert [one for one in calls if "Switch" in one] == said


@pytest.mark.parametrize(("place", "is_prepared"), [("m1", True), ("m2", False)])
def test_guidance_reads_tries_as_a_planner_does_by_the_very_place(place: str, is_prepared: bool) -> None:
    """The first microwave needs a switch, the second works without."""
    at = {name: {"to_id": name, "to_class": "Microwave"} for name in ("m1", "m2")}
    expected = Expectations(
        [
            Deed("e1:0", "HeatObject", "b", "Bread", 1, reason="execution", **at["m1"]),
            Deed("e1:1", "SwitchOn", "s1", "Switch", 2),
            Deed("e1:2", "HeatObject", "b", "Bread", 3, **at["m1"]),
            Deed("e2:0", "HeatObject", "b", "Bread", 4, **at["m2"]),
        ]
    )

    def needed(skill: str, things: Sequence[Named], supports: Sequence[Named], has_failed: bool) -> Entry | None:
        lesson = expected.needed(skill, things, supports, 5, has_failed)
        return preparing(lesson) if lesson is not None else None

    def look_up(reference: str, object_class: str) -> KnownThing | None:
        return KnownThing(object_class, id=place) if object_class == "Microwave" else None

    episode = EpisodeGuidance(
        "heat the mug", "Mug", load_catalogue(), TaskMemory(needed=needed), RulesCompiler(), look_up
    )
    step = episode.step(StepObservation(proposed=SkillCall("HeatObject", ("Mug", "Microwave@1,1,1"))))
    assert ("Switch" in str(step.guidance)) is is_prepared


def test_tries_are_asked_for_all_that_a_thing_stands_on() -> None:
    lies = {"Pen": ("Box", "b"), "Box": ("Shelf", "s")}
    asked: list[Sequence[Named]] = []

    def look_up(reference: str, object_class: str) -> KnownThing | None:
        place, place_id = lies.get(object_class, ("", ""))
        return KnownThing(object_class, place, place, id=object_class.lower(), place_id=place_id)

    memory = TaskMemory(needed=lambda _skill, _things, supports, _failed: asked.append(supports))
    episode = EpisodeGuidance("fetch the pen", "", load_catalogue(), memory, RulesCompiler(), look_up)
    episode.step(StepObservation(proposed=SkillCall("PickupObject", ("Pen",))))
    assert [("b", "Box"), ("s", "Shelf")] in asked


def test_way_that_worked_is_fitted_to_the_subgoal() -> None:
    way = Entry(
        "way",
        EntryKind.WAY,
        "cool a cup",
        steps=(
            SkillCall("PickupObject", (THING,)),
            SkillCall("CoolObject", (THING,)),
            SkillCall("PutObject", (THING, PLACE)),
        ),
    )
    believed = beliefs(held="Mug", at="Mug", current="cool Mug to Fridge")
    taken = TakenStep(SkillCall("PickupObject", ("Mug",)), True)
    guidance = guided(None, believed, TaskMemory.of([way]), goals=("cool Mug to Fridge",), taken=taken, recent=(taken,))
    assert guidance.goal == SkillCall("CoolObject", ("Mug",))
    assert guidance.reason == "cool Mug to Fridge"


def test_roles_are_filled_by_the_subgoal_and_what_it_does_not_name_is_left_out() -> None:
    steps = [("PickupObject", "Knife"), ("SliceObject", THING), ("PutObject", THING, PLACE), ("ToggleOn", "Faucet")]
    way = Entry("way", EntryKind.WAY, "so", steps=tuple(SkillCall(skill, tuple(of)) for skill, *of in steps))
    fitting = fitted(way, Subgoal.parse("place Bread to Shelf"), load_catalogue())
    assert [str(call) for call in fitting] == [
        "PickupObject(Knife)",
        "SliceObject(Bread)",
        "PutObject(Bread, Shelf)",
        "ToggleOn(Faucet)",
    ]
    without_place = fitted(way, Subgoal.parse("slice Bread"), load_catalogue())
    assert [call.skill for call in without_place] == ["PickupObject", "SliceObject", "ToggleOn"]
    assert fitted(way, Subgoal.parse("place Plate to Shelf"), load_catalogue()) == [], "nobody slices a plate"


def test_loop_gets_another_way() -> None:
    way = Entry(
        "way",
        EntryKind.WAY,
        "open it",
        steps=(SkillCall("PickupObject", (THING,)), SkillCall("CoolObject", (THING,))),
    )
    steps = [TakenStep(SkillCall(skill, ("Fridge",)), True) for skill in ("OpenObject", "CloseObject")] * 2
    believed = beliefs(held="", at="Mug", current="cool Mug")
    guidance = guided(None, believed, TaskMemory.of([way]), goals=("cool Mug",), recent=tuple(steps))
    assert guidance.goal == SkillCall("PickupObject", ("Mug",))
    assert guidance.text.startswith("Do not OpenObject(Fridge), CloseObject(Fridge) again.")


def test_reason_is_always_a_belief() -> None:
    """Whatever is believed of hand, place and door, guidance says so by what stands in the state."""
    for held, at in (("Mug", None), ("", None), (None, "Mug"), (None, "")):
        for states, apart in (({}, ()), ({"Fridge": "closed"}, ()), ({}, ("Fridge",))):
            believed = beliefs(held, at, states=states, apart=apart)
            guidance = guided(PUT, believed)
            if guidance is not None:
                items = {text for section in Section for text in believed.brief().items(section)}
                assert set(guidance.reason.split("; ")) <= items


def a_way(*steps: SkillCall, kinds: tuple[str, ...] = ("place_two",)) -> Entry:
    return Entry("way", EntryKind.WAY, "a way", goal_kinds=frozenset(kinds), steps=steps)


def a_place(object_class: str) -> Entry:
    return Entry(f"place {object_class}", EntryKind.PLACE, "there", "Explore", classes=frozenset({object_class}))


TAKE, PLACED = SkillCall("PickupObject", (THING,)), SkillCall("PutObject", (THING, PLACE))
TWO = TaskMemory.of([a_way(TAKE, PLACED, TAKE, PLACED), a_place("Mug")])


def test_what_nobody_has_seen_is_looked_for_before_any_way_is_gone() -> None:
    assert advised(None, beliefs(held=""), TWO, goals=("place_two 2 x Mug to Fridge",)) == "Explore(Mug)"


def test_second_thing_to_be_placed_is_not_the_one_that_was() -> None:
    classes = {**CLASSES, "Mug 2": "Mug", "Table": "Table"}
    taken = tuple(
        TakenStep(call, True)
        for call in (SkillCall("PickupObject", ("Mug 2",)), SkillCall("PutObject", ("Mug 2", "Fridge")))
    )
    at_table = beliefs(held="", at="Mug", inside={"Mug 2": "Fridge"}, on={"Mug": "Table"})
    more = {"goals": ("place_two 2 x Mug to Fridge",), "classes": classes, "recent": taken}
    assert advised(None, at_table, TWO, **more) == "PickupObject(Mug)"
    nowhere_else = beliefs(held="", inside={"Mug 2": "Fridge"})
    assert advised(None, nowhere_else, TWO, **more) == "Explore(Mug)"


def test_what_the_hand_holds_is_what_is_put() -> None:
    classes = {"Mug 2": "Mug", "Mug": "Mug", "Fridge": "Fridge"}
    holding = beliefs(held="Mug 2", at="Fridge", states={"Fridge": "opened"})
    taken = (TakenStep(SkillCall("PickupObject", ("Mug 2",)), True),)
    assert (
        advised(None, holding, TWO, goals=("place_two 2 x Mug to Fridge",), classes=classes, recent=taken)
        == "PutObject(Mug 2, Fridge)"
    )


def test_light_is_looked_for_once_the_thing_is_in_the_hand() -> None:
    switched = a_way(TAKE, SkillCall("SwitchOn", ("DeskLamp",)), kinds=("examine",))
    lamp = TaskMemory.of([a_place("DeskLamp"), switched])
    holding = beliefs(held="Mug", at="Fridge")
    more = {
        "goals": ("examine Mug with DeskLamp",),
        "recent": (TakenStep(SkillCall("PickupObject", ("Mug",)), True),),
    }
    assert advised(None, holding, lamp, **more) == "Explore(DeskLamp)"
    seen = guided(None, holding, lamp, classes={**CLASSES, "DeskLamp": "DeskLamp"}, **more)
    assert seen.goal.skill != "Explore"
