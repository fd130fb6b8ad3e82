"""Ways over roles: learnt, merged, found by their intents, told for another thing, taken back."""

from dataclasses import replace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.config import BankLimits, ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog, Lesson, LessonKind, Preparation, Tally, Wording
from memory_node.lessons.plugmem import in_words, intent_of, is_followed, way_of

KINDS = load_catalogue()
NAMES = KINDS.spoken_names
WASH = (
    ("GoToObject", "{}@1,2,0.9"),
    ("PickupObject", "{}@1,2,0.9"),
    ("PutObject", "{}", "SinkBasin"),
    ("ToggleOn", "Faucet"),
    ("ToggleOff", "Faucet"),
    ("PickupObject", "{}"),
    ("PutObject", "{}", "Shelf"),
)


def steps_of(episode: str, thing: str, calls=WASH, failed: int = -1) -> list[StepRecord]:
    steps = []
    for index, (skill, *arguments) in enumerate(calls):
        call = SkillCall(skill, tuple(text.format(thing) for text in arguments))
        reason = FailureReason.TOO_FAR if index == failed else FailureReason.NONE
        steps.append(StepRecord(episode, index, call, index != failed, reason, index + 1, room="kitchen"))
    return steps


def way(instruction: str, thing: str, episode: str = "e1", task_type: str = "", **more) -> Lesson:
    done = EpisodeSummary(episode, instruction, task_type, 0, 9, True)
    found = way_of(done, steps_of(episode, thing, **more), KINDS)
    assert found is not None
    return found


def test_way_has_roles_and_the_steps_that_showed_it() -> None:
    learnt = way("wash the apple and put it on the shelf", "Apple", failed=2)
    assert learnt.steps == (
        "PickupObject(the thing)",
        "ToggleOn(Faucet)",
        "ToggleOff(Faucet)",
        "PickupObject(the thing)",
        "PutObject(the thing, the place)",
    )
    assert learnt.evidence_for == ("e1:0", "e1:1", "e1:3", "e1:4", "e1:5", "e1:6")
    assert "kitchen" not in learnt.text


def test_what_an_instruction_does_not_name_stands_for_nothing_else() -> None:
    assert way("yes, try it", "Apple").steps[0] == "PickupObject(Apple)"


def test_what_is_done_first_for_a_thing_is_not_the_thing() -> None:
    calls = (("SwitchOn", "LightSwitch"), ("HeatObject", "{}", "Microwave"))
    lit = way("turn on the light switch and heat the potato", "Potato", calls=calls)
    assert lit.steps == ("SwitchOn(LightSwitch)", "HeatObject(the thing, Microwave)")


def test_place_that_nobody_asked_for_stays_a_kind_of_place() -> None:
    assert way("wash the apple", "Apple").steps[-1] == "PutObject(the thing, Shelf)"


TAKEN_OUT = (("OpenObject", "Fridge"), ("PickupObject", "{}"), ("CloseObject", "Fridge"))
WARMED = (("HeatObject", "{}", "Microwave"),)


@pytest.mark.parametrize("fetched", [TAKEN_OUT, TAKEN_OUT[:2]])
def test_what_was_opened_to_take_the_thing_out_is_no_part_of_its_way(fetched) -> None:
    learnt = way("heat the potato", "Potato", calls=(*fetched, *WARMED))
    assert learnt.steps == ("PickupObject(the thing)", "HeatObject(the thing, Microwave)")


def test_what_a_thing_was_put_into_is_opened_again_to_take_it_out() -> None:
    by_hand = (
        *((skill, "Microwave") for skill in ("OpenObject", "CloseObject", "ToggleOn", "ToggleOff", "OpenObject")),
        ("PickupObject", "{}"),
        ("CloseObject", "Microwave"),
    )
    calls = (("PickupObject", "{}"), by_hand[0], ("PutObject", "{}", "Microwave"), *by_hand[1:])
    steps = way("heat the egg", "Egg", calls=calls).steps
    assert steps[-3:] == ("OpenObject(Microwave)", "PickupObject(the thing)", "CloseObject(Microwave)")


def test_what_the_hand_happened_to_hold_is_no_part_of_a_way() -> None:
    wash = (("PickupObject", "{}"), ("CleanObject", "{}", "SinkBasin"))
    held = ("PutObject", "Plate", "DiningTable")
    assert way("wash the cup", "Cup", calls=(held, *wash)).steps == way("wash the cup", "Cup", calls=wash).steps
    opened = ("OpenObject", "Cabinet"), ("PutObject", "Plate", "Cabinet")
    assert way("wash the cup", "Cup", calls=(*opened, *wash)).steps == way("wash the cup", "Cup", calls=wash).steps
    # Who asks for both means it.
    named = way("put the plate on the dining table and wash the cup", "Cup", calls=(held, *wash))
    assert "PutObject(Plate, DiningTable)" in named.steps or "PutObject(Plate, the place)" in named.steps


def test_a_call_that_names_nothing_costs_no_way() -> None:
    wash = (("PickupObject", "{}"), ("CleanObject", "{}", "SinkBasin"))
    learnt = way("wash the cup", "Cup", calls=(("PutObject",), *wash))
    assert "CleanObject(the thing, SinkBasin)" in learnt.steps


def test_what_was_opened_for_more_than_taking_stays_in_the_way() -> None:
    back = (*TAKEN_OUT[:2], *WARMED, ("PutObject", "{}", "Fridge"), TAKEN_OUT[2])
    assert "OpenObject(Fridge)" in way("heat the potato and put it back", "Potato", calls=back).steps
    bread = (("OpenObject", "Microwave"), *WARMED)
    assert "OpenObject(Microwave)" in way("heat the potato", "Potato", calls=bread).steps


@pytest.mark.parametrize("asked", [False, True])
def test_what_was_closed_for_tidying_is_a_step_only_where_somebody_asked(asked: bool) -> None:
    shut = (("PickupObject", "{}"), *WARMED, ("CloseObject", "Cabinet"))
    learnt = way("close the cabinet and heat the potato" if asked else "heat the potato", "Potato", calls=shut)
    assert ("CloseObject(Cabinet)" in learnt.steps) is asked


COOLED_BY_HAND = (("OpenObject", "Fridge"), ("PutObject", "{}", "Fridge"), ("SwitchOn", "LightSwitch"))


@pytest.mark.parametrize(
    ("task_type", "calls", "shown"),
    [
        ("switch_on+heat", (("SwitchOn", "LightSwitch"),), False),  # it was hot before
        ("switch_on+heat", (("SwitchOn", "LightSwitch"), *WARMED), True),
        ("clean+place", WASH, True),
        ("cool", COOLED_BY_HAND, True),
        ("cool", COOLED_BY_HAND[2:], False),
    ],
)
def test_way_is_written_only_where_its_steps_bring_about_what_it_is_for(task_type, calls, shown) -> None:
    done = EpisodeSummary("e1", "do it with the potato", task_type, 0, 9, True)
    assert (way_of(done, steps_of("e1", "Potato", calls=calls), KINDS) is not None) is shown


def test_failed_episode_leaves_no_way() -> None:
    failed = EpisodeSummary("e1", "wash the apple", "", 0, 9, False)
    assert way_of(failed, steps_of("e1", "Apple"), KINDS) is None


@pytest.mark.parametrize("calls", [WASH[:1], WASH[:3], [("Explore", "{}")], []])
def test_way_that_only_finds_and_carries_teaches_nothing(calls) -> None:
    done = EpisodeSummary("e1", "put the apple into the sink", "", 0, 9, True)
    assert way_of(done, steps_of("e1", "Apple", calls=calls), KINDS) is None


def test_way_is_told_with_the_things_of_the_question() -> None:
    learnt = way("wash the apple and put it on the shelf", "Apple")
    said = in_words(learnt, "how do I wash a mug and put it in the cabinet?", load_catalogue())
    title, _, steps = said.partition(": ")
    assert "wash something and put it on something" in title
    assert "Apple" in title
    assert steps.startswith("PickupObject(Mug) -> PutObject(Mug, Sink")
    assert said.endswith("PutObject(Mug, the place asked for)")  # nobody has put it into a cabinet yet


HEATED = (
    ("PickupObject", "{}"),
    ("PutObject", "{}", "Microwave"),
    ("ToggleOn", "Microwave"),
    ("PickupObject", "{}"),
    ("PutObject", "{}", "DiningTable"),
)


def test_place_of_a_way_is_where_the_thing_ended_and_no_appliance() -> None:
    learnt = way("heat the plate in the microwave and put it on the table", "Plate", calls=HEATED)
    said = in_words(learnt, "heat the cup in the microwave", load_catalogue())
    assert said.count("PutObject(Cup, Microwave)") == 1
    assert not said.endswith("Microwave)")
    said = in_words(learnt, "heat the cup in the microwave and put it on the desk", load_catalogue())
    assert said.endswith("PutObject(Cup, the place asked for)")


def test_way_is_followed_by_its_steps_in_order_with_one_thing() -> None:
    learnt = way("wash the apple and put it on the shelf", "Apple")
    done = [class_call(step.action) for step in steps_of("e2", "Mug")]
    done[-1] = SkillCall("PutObject", ("Mug", "Desk"))
    assert is_followed(learnt, done)
    assert not is_followed(learnt, done[:4])
    assert not is_followed(learnt, done[::-1])
    assert not is_followed(learnt, [*done[:5], SkillCall("PickupObject", ("Cup",)), done[-1]])


def test_way_is_not_told_with_a_thing_that_it_cannot_be_done_with() -> None:
    lit = way(
        "turn on the light switch", "LightSwitch", calls=(("SwitchOn", "{}"), ("HeatObject", "Potato", "Microwave"))
    )
    said = in_words(lit, "heat the tomato", load_catalogue())
    assert said.endswith("SwitchOn(LightSwitch) -> HeatObject(Potato, Microwave)")


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("How do I wash a mug?", "wash something"),
        ("wash the butter knife", "wash something"),
        ("put the clean mug on the coffee table", "put the clean something on something"),
        ("make coffee", "make coffee"),
        ("switch off the light switch", "switch off something"),
    ],
)
def test_intent_is_the_same_whatever_it_is_done_with(text: str, intent: str) -> None:
    assert intent_of(text, NAMES) == intent


@pytest.fixture
def experience(word_embedder: TextEmbedder):
    made = Experience(ExperienceConfig(), ExperienceLog(), lambda: 0, embedder=word_embedder)
    yield made
    made.close()


def lived(experience: Experience, episode: str, instruction: str, thing: str, success: bool = True) -> None:
    experience.start(instruction, "clean", episode)
    for step in steps_of(episode, thing):
        experience.record(step)
    experience.end(episode, success)
    assert experience.wait_settled(10.0)


def test_one_way_for_two_things_is_found_by_both_intents(experience: Experience) -> None:
    lived(experience, "e1", "wash the apple", "Apple")
    lived(experience, "e2", "scrub that mug please", "Mug")
    for asked in ("wash the apple", "scrub that mug please", "wash the pan"):
        (found,) = experience.ways_to(asked)
        assert (found.object_classes, found.episodes) == ({"Apple", "Mug"}, ("e1", "e2"))
    assert experience.ways_to("open a window") == ()
    assert experience.ways_to(" ") == ()


def test_intent_that_comes_again_and_again_leaves_room_for_others(experience: Experience) -> None:
    lived(experience, "e0", "scrub that mug please", "Mug")
    for number in range(1, 11):
        lived(experience, f"e{number}", "wash the apple", "Apple")
    (learnt,) = experience.ways_to("scrub that pan please")
    assert experience.ways_to("wash the pan") == (learnt,)
    assert len(learnt.wordings) == 8


def test_forgotten_episode_takes_its_intent_and_evidence_along(experience: Experience) -> None:
    lived(experience, "e1", "wash the apple", "Apple")
    lived(experience, "e2", "scrub that mug please", "Mug")
    experience.forget("e1")
    assert experience.ways_to("wash the apple") == ()
    (left,) = experience.ways_to("scrub that mug please")
    assert (left.episodes, left.support) == (("e2",), 7)
    experience.forget("e2")
    assert experience.lessons() == ()


def test_way_of_an_intent_that_is_not_kept_any_more_outlives_its_episode(experience: Experience) -> None:
    for number in range(9):
        lived(experience, f"e{number}", f"wash the apple of tree {number}", "Apple")
    (learnt,) = experience.ways_to("wash the mug of tree 8")
    left = learnt.without("e0")
    assert "e0" not in left.episodes
    assert learnt.without("e9") == learnt


def test_ways_survive_a_restart_and_are_no_neighbours_of_notes(word_embedder: TextEmbedder) -> None:
    learnt = way("wash the apple", "Apple")
    bank = LessonBank(word_embedder, BankLimits())
    bank.load([Lesson.from_dict(learnt.to_dict())])
    assert bank.ways_to("wash something", 2) == (learnt,)
    assert bank.retrieve("wash the apple") == ()


def test_of_ways_as_near_the_one_that_was_worth_most_comes_first(word_embedder: TextEmbedder) -> None:
    first = way("wash the apple", "Apple")
    bank = LessonBank(word_embedder, BankLimits())
    others = [replace(first, id=f"other {number}", given=Tally(number, 4)) for number in (1, 4, 2)]
    bank.load([replace(first, given=Tally(0.0, 4)), *others])
    assert [one.id for one in bank.ways_to("wash something", 2)] == ["other 4", "other 2"]


def test_place_of_another_instruction_is_told_only_where_that_can_be_done_at_it() -> None:
    heated = way(
        "heat the potato in the microwave",
        "Potato",
        calls=(("PickupObject", "{}"), ("HeatObject", "{}", "Microwave")),
    )
    kinds = load_catalogue()
    assert "HeatObject(Apple, the place)" in in_words(heated, "heat the apple and put it on the dining table", kinds)
    assert "HeatObject(Apple, the place asked for)" in in_words(heated, "heat the apple on the stove burner", kinds)


def test_way_is_told_of_the_things_that_are_there_and_in_whole_sentences() -> None:
    learnt = way("wash the apple, then put it on the shelf", "Apple")
    said = in_words(learnt, "wash the mug", load_catalogue(), {"Mug": "Mug 3", "Faucet": "Faucet"}.get)
    assert " ," not in said
    assert "Apple; not tried with Mug" in said
    assert "PickupObject(Mug 3)" in said
    assert "ToggleOn(Faucet)" in said
    assert "done so with" not in in_words(learnt, "wash the apple", load_catalogue())


def test_way_is_told_without_what_another_kind_of_thing_alone_needs() -> None:
    learnt = way("wash the apple, then put it on the shelf", "Apple")
    faucet = Preparation("ToggleOn", "", "Faucet")
    repair = Lesson(
        "r", LessonKind.REPAIR, (Wording("", "..."),), "CleanObject", frozenset({"Apple"}), before=(faucet,)
    )
    kinds = load_catalogue()
    assert "ToggleOn(Faucet)" not in in_words(learnt, "wash the mug", kinds, repairs=[repair])
    own = replace(repair, object_classes=frozenset({"Mug"}))
    for task, known in (
        ("wash the apple", [repair]),
        ("wash the mug", [repair, own]),
        ("wash the mug", [replace(repair, place_id="sink")]),
    ):
        assert "ToggleOn(Faucet)" in in_words(learnt, task, kinds, repairs=known)
