"""A reader who sees only the prompt is told who is there, how old what memory holds is, and what a list leaves out."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from scripted_model import ScriptedModel, agent_of, carry_out, home
from tiny_home import TinyHome, TinyThing

from memory_node.context.recalled import Recalled
from memory_node.domain.answer import AnswerStatus, FindQuery, ObjectAnswer, Recollection
from memory_node.domain.context import Context
from memory_node.domain.scene import Area, Room, SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.states import ObjectState
from memory_node.domain.step import Deed
from memory_node.lessons.expectations import Expectations
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known

END = [("impossible", {"reason": "no"})]
HOUR_NS = 3600 * 10**9
NOW_NS = (100 * 24 + 12) * HOUR_NS


class OldHome(TinyHome):
    """A home in which each thing was seen some hours ago, by its id; the others just now."""

    hours: ClassVar[dict[str, float]] = {}

    def scene(self) -> SceneSnapshot:
        scene = super().scene()
        seen = {one.id: int(NOW_NS - self.hours.get(one.id, 0.0) * HOUR_NS) for one in scene.objects}
        return replace(scene, objects=tuple(replace(one, last_seen_ns=seen[one.id]) for one in scene.objects))


def known(*tried: Deed, asked: dict[str, str] | None = None) -> Known:
    return Known(Recalled(tried=tried, asked=asked or {}), lambda: NOW_NS, str, Expectations(tried))


def beginning(place: TinyHome, instruction: str = "put the mug into the fridge", what: Known | None = None) -> str:
    model = ScriptedModel([END])
    carry_out(model, instruction, place, known=what)
    return model.dialogues[0][1].text


def test_old_sightings_and_the_time_are_told_and_new_ones_are_not() -> None:
    place = OldHome(*home().things.values())
    text = beginning(place, what=known())
    assert "Saturday 11 April 1970" in text
    assert "seen" not in text.partition("# Instruction")[0].partition("# Things")[2]
    place.hours = {"m": 30.0}
    assert "Mug (seen yesterday)" in beginning(place, what=known())
    place.hours = {"m": 60.0, "v": 30.0, "a": 30.0}
    text = beginning(place, what=known())
    assert "Mug (seen 2 days ago)" in text or "Mug (seen 3 days ago)" in text
    assert text.count("yesterday") == 1  # for all else together
    assert beginning(place, what=known()) == text


def test_everybody_at_home_is_listed_however_many_things_there_are() -> None:
    place = home()
    for number in range(6):
        place.things[f"u{number}"] = TinyThing(f"u{number}", "User", name="" if number == 3 else f"Ada{number}")
    text = beginning(place)
    assert all(f"Ada{number}" in text for number in (0, 1, 2, 4, 5))
    assert "User 4" in text


def test_what_the_list_leaves_out_is_counted_and_stays_left_out() -> None:
    place = home()
    for number in range(160):
        place.things[f"s{number}"] = TinyThing(f"s{number}", "Spoon", "t")
    model = ScriptedModel([[("GoToObject", {"object": "Fridge"}), ("find", {"name": "spoon"})], END])
    carry_out(model, place=place)
    assert "158 Spoon" in model.dialogues[0][1].text
    moved, found = model.results()
    assert "Spoon" not in moved
    named, more = found.splitlines()
    assert "to" in named.split()
    assert "15 Spoon" in more


def test_all_things_of_a_small_home_are_listed() -> None:
    place = home()
    for number in range(9):
        place.things[f"s{number}"] = TinyThing(f"s{number}", "Spoon", "t")
    assert "Spoon 2 to 9" in beginning(place)


def test_a_long_answer_says_how_much_it_leaves_out() -> None:
    place = home()
    for number in range(30):
        place.things[f"b{number}"] = TinyThing(f"b{number}", "Bowl", "t")
        place.things[f"s{number}"] = TinyThing(f"s{number}", "Spoon", f"b{number}")
    model = ScriptedModel([[("find", {"name": "spoon"})], END])
    carry_out(model, place=place)
    assert "10 more" in model.results()[0]


def test_word_for_several_classes_means_the_one_that_is_known() -> None:
    text = beginning(home(), "put the mug on the table")
    assert "DiningTable" in text.partition("# Not known")[2].partition("# Rooms")[0] or "# Not known" not in text


def test_what_serves_instead_is_told_the_nearest_first() -> None:
    place = TinyHome(*(TinyThing(name, name) for name in ("Desk", "CoffeeTable", "Dresser", "Mug")))
    model = ScriptedModel([[("find", {"name": "dining table"})], END])
    carry_out(model, "where is the dining table?", place)
    for told in (model.results()[0], model.dialogues[0][1].text.partition("# Not known")[2]):
        assert told.index("CoffeeTable") < told.index("Desk") < told.index("Dresser")


def test_the_past_is_told_by_instruction_without_moves_to_the_same_place() -> None:
    at = {"from_id": "t", "from_class": "DiningTable", "to_id": "t", "to_class": "DiningTable"}
    tried = (
        Deed("e1:0", "PickupObject", "m", "Mug", 1, from_id="t", from_class="DiningTable"),
        Deed("e1:1", "PutObject", "m", "Mug", 2, **at),
        Deed("e2:0", "PickupObject", "m", "Mug", 3, from_id="t", from_class="DiningTable"),
    )
    model = ScriptedModel([[("recall_past", {"about": "mug"})], END])
    carry_out(model, known=known(*tried, asked={"e1": "wipe under the mug", "e2": "bring me the mug"}))
    first, second = model.results()[0].splitlines()
    assert "wipe under the mug" in first
    assert first.count("DiningTable") == 2  # taken from it, put on it
    assert "bring me the mug" in second


def test_a_look_shows_what_is_in_what_lies_there() -> None:
    place = home()
    place.things["b"] = TinyThing("b", "Bowl", "t")
    place.things["s"] = TinyThing("s", "Spoon", "b")
    model = ScriptedModel([[("look_at", {"thing": "DiningTable"}), ("GoToObject", {"object": "DiningTable"})], END])
    carry_out(model, place=place)
    seen, gone = model.results()
    assert "Spoon" in seen
    assert not gone.startswith("not done")  # it stands there already


class Blind(TinyHome):
    """A home whose memory has taken over nothing of what the robot finds yet, and calls it otherwise."""

    def execute(self, call: SkillCall) -> SkillResult:
        done = super().execute(call)
        return replace(done, object_id=f"robot-{done.object_id}") if call.skill == "Explore" else done


@pytest.mark.parametrize("home_of", [TinyHome, Blind])
def test_search_tells_which_thing_it_has_found(home_of: type[TinyHome]) -> None:
    model = ScriptedModel([[("Explore", {"target_class": "Vase"})], END])
    carry_out(model, place=home_of(*home().things.values()))
    told, *news = model.results()[0].splitlines()
    assert "Vase" in told
    # It is told once, by a name of its own, with which of those that memory knows it may be.
    assert ("Vase 2" in told) is (home_of is Blind)
    assert not any("Vase" in line for line in news)


class Crowded(TinyHome):
    """A home of which memory has more to say than there is room for."""

    def context(self, *asked: object, **more: object) -> Context:
        return Context("c", "## Lessons\n- the first", section_lines={"Lessons": 1}, cut={"Lessons": ("a", "b", "c")})


def test_what_the_beginning_had_no_room_for_is_counted() -> None:
    text = beginning(Crowded(*home().things.values()))
    assert "3 lines of Lessons" in text.partition("# Things")[0]


TO_ADA = {"kind": "fetch", "thing": "Mug", "place": "Ada", "words": "bring Ada the mug"}
PICK = ("PickupObject", {"object": "Mug"})


@pytest.mark.parametrize(
    ("last", "is_brought"),
    [
        ([], False),
        ([("GoToObject", {"object": "me"})], False),
        ([("GoToObject", {"object": "Ada"})], True),
        ([("PutObject", {"object": "Mug", "receptacle": "Ada"})], True),
    ],
)
def test_what_is_to_be_brought_is_brought_to_that_person(last, is_brought: bool) -> None:
    place, done = home(), ("done", {"summary": "Here it is."})
    place.things["u1"], place.things["u2"] = TinyThing("u1", "User"), TinyThing("u2", "User", name="Ada")
    model = ScriptedModel([[("set_goals", {"goals": [TO_ADA]}), PICK, *last, done], [done]])
    assert carry_out(model, "bring Ada the mug", place).success is is_brought


def test_where_nobody_is_known_to_be_it_is_enough_to_have_taken_it() -> None:
    goal = {"kind": "fetch", "thing": "Mug", "place": "me", "words": "bring me the mug"}
    model = ScriptedModel([[("set_goals", {"goals": [goal]}), PICK, ("done", {"summary": "Here it is."})]])
    assert carry_out(model, "bring me the mug").success


def test_short_quote_will_do_for_what_the_person_has_named() -> None:
    goal = {"kind": "slice", "thing": "Apple", "words": "chop it"}
    other = {"kind": "place", "thing": "Vase", "place": "Fridge", "words": "chop it"}
    for row, taken in ((goal, True), (other, False)):
        model = ScriptedModel([[("set_goals", {"goals": [row]})], END])
        carry_out(model, "take the apple out of the fridge, then chop it")
        assert model.results()[0].startswith("taken over") is taken


@pytest.mark.parametrize(
    ("answer", "is_new"),
    [("fill the mug with water and put it on the table", True), ("put it on the table", False), ("the cup", False)],
)
def test_new_instruction_is_no_answer_to_an_open_question(answer: str, is_new: bool) -> None:
    ask = ("ask_person", {"question": "Shall I leave it?", "choices": ["the cup", "nothing"]})
    model = ScriptedModel([[ask], END])
    carry_out(model, "heat the mug", answers=[answer])
    went_on = model.dialogues[1][: len(model.dialogues[0])] == model.dialogues[0]
    assert went_on is not is_new
    assert is_new is ("Shall I leave it?" in model.dialogues[1][1].text)


def test_what_a_lesson_has_switched_on_may_be_switched_off_again() -> None:
    tried = (
        Deed("e1:1", "OpenObject", "f", "Fridge", 1, reason="execution"),
        Deed("e1:2", "SwitchOn", "l", "DeskLamp", 2),
        Deed("e1:3", "OpenObject", "f", "Fridge", 3),
    )
    place = home()
    place.things["l"], place.things["l2"] = TinyThing("l", "DeskLamp"), TinyThing("l2", "FloorLamp")
    goal = {"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug into the fridge"}
    lamp = {"object": "DeskLamp"}
    calls = [("set_goals", {"goals": [goal]}), ("SwitchOn", lamp), ("OpenObject", {"object": "Fridge"})]
    other = ("SwitchOff", {"object": "FloorLamp"})
    model = ScriptedModel([[*calls, ("SwitchOff", lamp), other], END])
    carry_out(model, place=place, known=known(*tried))
    assert ["done" in one.partition("\n")[0] for one in model.results()[1:4]] == [True] * 3
    assert model.results()[4].startswith("not done")


def test_goal_may_quote_words_that_name_its_container() -> None:
    place = home()
    place.things["b"] = TinyThing("b", "Bowl", "t")
    row = {
        "kind": "place",
        "thing": "Apple",
        "container": "Bowl",
        "place": "Fridge",
        "words": "the red fruit in the bowl",
    }
    model = ScriptedModel([[("set_goals", {"goals": [row]})], END])
    carry_out(model, "put the red fruit in the bowl and that into the fridge", place)
    assert model.results()[0].startswith("taken over")


def test_answer_that_is_too_long_says_where_it_is_cut() -> None:
    tried = [Deed(f"e1:{number}", "PickupObject", "m", "Mug", number) for number in range(300)]
    model = ScriptedModel([[("recall_past", {"about": "mug"}), ("find", {"name": "mug"})], END])
    carry_out(model, known=known(*tried))
    past, place = model.results()
    assert len(past) < 3000
    assert "cut" in past[-60:]
    assert "cut" not in place


ASK = ("ask_person", {"question": "Where does the mug belong?"})


@pytest.mark.parametrize(
    ("answer", "words", "is_kept"),
    [
        ("in the fridge", "the mug belongs in the fridge", True),
        ("in the fridge", "Where does the mug belong? In the fridge.", True),
        ("in the fridge", "the apple belongs in the fridge", False),
        ("in the fridge", "the mug belongs to Ada", False),
        ("in the fridge", "where the mug belongs", False),
    ],
)
def test_an_answer_is_kept_with_its_question(answer: str, words: str, is_kept: bool) -> None:
    kept: list[str] = []
    what = replace(known(), tell=lambda text: kept.append(text) or text)
    place = home()
    model = ScriptedModel([[ASK], [("remember", {"words": words}), ("GoToObject", {"object": "Fridge"})], END])
    carry_out(model, "put the mug where it belongs", place, answers=[answer], known=what)
    assert kept == ([words] if is_kept else [])
    assert place.calls  # what follows does not wait for it


def test_the_question_is_there_when_a_restarted_planner_is_answered() -> None:
    conversation, place = Conversation(), home()
    model = ScriptedModel([[ASK], END])
    for said in ("put the mug where it belongs", "in the fridge"):
        planner = agent_of(model)
        InstructionExecutor(place, place, planner, conversation=conversation).execute(said)
    assert "Where does the mug belong?" in model.dialogues[1][1].text


def test_what_waits_for_an_answer_is_told_to_a_planner_that_kept_no_conversation() -> None:
    what = Known(Recalled(waiting="put the mug where it belongs"), lambda: NOW_NS, str)
    goal = {"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug where it belongs"}
    model = ScriptedModel([[("set_goals", {"goals": [goal]})], END])
    carry_out(model, "in the fridge", known=what)
    assert "put the mug where it belongs" in model.dialogues[0][1].text
    assert model.results()[0].startswith("taken over")


@pytest.mark.parametrize("has_past", [True, False])
def test_a_memory_without_a_past_is_not_asked_for_it(has_past: bool) -> None:
    what = Known(Recalled(has_past=has_past), lambda: NOW_NS, str)
    model = ScriptedModel([END])
    carry_out(model, known=what)
    names = {tool.name for tool in model.forms[0].tools}
    assert ("recall_past" in names) is has_past
    assert "remember" in names


class Remembering(TinyHome):
    """A home whose short-term memory holds one spoon of very many."""

    def recall(self, query: FindQuery) -> Recollection:
        if not query.text:
            return super().recall(query)
        zeros = np.zeros(3), np.eye(3), np.ones(3)
        answer = ObjectAnswer("s90", "Spoon", 1.0, *zeros, 0.0, 1.0, 0, 0, 0, 1.0, "short_term", AnswerStatus.OK)
        return Recollection((answer,), AnswerStatus.OK)


def test_what_was_just_seen_or_used_is_named_however_many_things_there_are() -> None:
    place = Remembering(*home().things.values())
    for number in range(160):
        place.things[f"s{number}"] = TinyThing(f"s{number}", "Spoon", "t")
    assert "Spoon 91" in beginning(place)
    assert "Spoon 90" not in beginning(place)


class Furnished(TinyHome):
    """Two rooms: two cabinets along one wall of the kitchen, a third one in the hall."""

    def scene(self) -> SceneSnapshot:
        rooms = (Room("r1", "kitchen", "f", (0.0, 0.0)), Room("r2", "hall", "f", (9.0, 0.0)))
        areas = (Area("a1", "area 1", (0.0, 0.0), "f", "r1"), Area("a2", "area 2", (9.0, 0.0), "f", "r2"))
        spots = {"c1": (2.0, -1.0), "c2": (2.0, 1.0), "c3": (9.0, 2.0)}
        placed = [
            replace(
                one,
                area_id="a2" if one.id in ("c3", "v") else "a1",
                name=f"Cabinet {one.id[1]}" if one.id in spots else "",
                box=replace(one.box, center=np.array([*spots[one.id], 0.9])) if one.id in spots else one.box,
            )
            for one in super().scene().objects
        ]
        return replace(super().scene(), rooms=rooms, areas=areas, objects=tuple(placed))


FURNISHED = (("c1", "Cabinet"), ("c2", "Cabinet"), ("c3", "Cabinet"), ("m", "Mug"), ("v", "Vase"))


def answers_in(place: TinyHome, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    model = ScriptedModel([list(calls), [("impossible", {"reason": "no"})]])
    carry_out(model, "where is the mug?", place)
    return model.results()


def test_furniture_of_a_class_is_told_from_left_to_right_and_a_room_by_what_is_in_it() -> None:
    place = Furnished(*(TinyThing(key, kind) for key, kind in FURNISHED))
    names = ("Cabinet", "hall", "cellar", "?")
    cabinets, hall, nothing, no_name = answers_in(place, *(("find", {"name": name}) for name in names))
    # Who looks from the middle of the kitchen along x has larger y at the left.
    assert "Cabinet 2, Cabinet 1" in cabinets.splitlines()[-1]
    assert "Vase" in hall
    assert "Cabinet 3" in hall
    assert "Mug" not in hall
    assert "Vase" not in nothing
    assert "Mug" not in no_name


def test_things_are_found_by_their_state_and_else_by_what_was_used() -> None:
    plate = TinyThing("p", "Plate", "t", {ObjectState.DIRTY})
    place = TinyHome(*home().things.values(), plate)
    goal = {"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug into the fridge"}
    find = ("find", {"name": "the dirty ones"})
    calls = [find, ("set_goals", {"goals": [goal]}), ("PickupObject", {"object": "Mug"}), find]
    assert answers_in(place, find)[0].startswith("Plate")
    # What lies on something is not switched on.
    lamp = TinyThing("l", "FloorLamp", "", {ObjectState.ON})
    on_it = ("find", {"name": "the stuff on it"})
    assert "FloorLamp" not in answers_in(TinyHome(*home().things.values(), lamp), on_it)[0]
    plate.states.clear()
    model = ScriptedModel([calls, END])
    carry_out(model, goal["words"], place)
    assert "Mug" not in model.results()[0]
    assert "Mug" in model.results()[-1]
    assert "Plate" not in model.results()[-1]


def test_name_that_is_lost_is_said_to_be() -> None:
    place = Furnished(*(TinyThing(key, kind) for key, kind in FURNISHED))
    lost, known, alone = answers_in(
        place, ("find", {"name": "Cabinet 7"}), ("find", {"name": "Cabinet 2"}), ("GoToObject", {"object": "Mug 4"})
    )
    assert '"Cabinet 7"' in lost
    assert "not known" in lost
    assert "not known" not in known
    # The one mug that is there is another one.
    assert alone.startswith("not done")
    assert not place.calls


def test_a_lesson_that_was_given_and_given_up_is_told_once() -> None:
    there, failed = {"to_id": "o", "to_class": "Microwave"}, {"reason": "execution"}
    tried = [
        Deed("e1:1", "HeatObject", "b", "Bread", 1, **there, **failed),
        Deed("e1:2", "SwitchOn", "l", "Television", 2),
        Deed("e1:3", "HeatObject", "b", "Bread", 3, **there),
    ]
    place, model, conversation = home(), ScriptedModel([END] * 3), Conversation()
    planner = agent_of(model)
    for lessons in (Expectations(tried), Expectations([]), Expectations([])):
        what = Known(Recalled(), lambda: 4, str, lessons)
        InstructionExecutor(place, place, planner, conversation=conversation, known=what).execute("bring me the mug")
    first, second, third = (dialogue[1].text for dialogue in model.dialogues)
    assert "Television" not in first + third
    assert "works after SwitchOn Television" in second


def test_goals_tell_of_no_class_that_was_only_looked_up() -> None:
    place = Furnished(*(TinyThing(key, kind) for key, kind in FURNISHED))
    goal = {"kind": "place", "thing": "Mug", "place": "Sink", "words": "put the mug into the sink"}
    calls = [("find", {"name": "Cabinet"}), ("set_goals", {"goals": [goal]})]
    model = ScriptedModel([calls, END])
    carry_out(model, "put the mug into the sink", place)
    told = model.results()[-1]
    assert "Sink" in told
    assert not [name for name in place.kinds.alike_first("Cabinet") if name in told]
