"""What a model reads: rules that fit its tools, what was left, and answers of memory that fit the question."""

import re
from dataclasses import replace

import pytest
from scripted_model import ScriptedModel, agent_of, carry_out, home
from tiny_home import TinyHome, TinyThing

from memory_node.context.recalled import Recalled
from memory_node.context.sections import WORKING_MEMORY
from memory_node.domain.context import Context
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.states import ObjectState
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.reading.plain_reader import Known

THINGS = (("t", "DiningTable", ()), ("f", "Fridge", ()), ("m", "Mug", (ObjectState.COLD,)))
END = [("impossible", {"reason": "no"})]
SECOND_NS = 10**9


def deed(source: str, skill: str, thing: str, at_s: int, to: str = "", reason: str = "") -> Deed:
    return Deed(source, skill, thing.lower(), thing, at_s * SECOND_NS, to_class=to, reason=reason)


TRIED = (
    deed("e1:0", "PickupObject", "Mug", 1),
    deed("e1:1", "HeatObject", "Mug", 2, "Microwave", "execution"),
    deed("e2:0", "SwitchOn", "LightSwitch", 3),
    deed("e3:0", "HeatObject", "Mug", 4, "Microwave"),
    deed("e4:0", "OpenObject", "Fridge", 5),
    deed("e4:1", "PickupObject", "Apple", 6),
)
LEFT = (
    EpisodeSummary("e4", "put the apple on the table", "", 5 * SECOND_NS, 7 * SECOND_NS, False),
    EpisodeSummary("e1", "heat the mug", "", 1 * SECOND_NS, 2 * SECOND_NS, False),
)


def known(*unfinished: EpisodeSummary, tried: tuple[Deed, ...] = TRIED) -> Known:
    return Known(Recalled(tried=tried, unfinished=unfinished), lambda: 60 * SECOND_NS, str)


class ToldRobot(TinyHome):
    """Its memory says of the hand what a context says of it."""

    def context(self, instruction, token_budget=2000, episode_id="", sources=()) -> Context:
        line = f"Robot: in kitchen, holding {'Mug' if self.held else 'nothing'}."
        return Context("c", f"## {WORKING_MEMORY}\n{line}", {}, {WORKING_MEMORY: 1})


@pytest.mark.parametrize("held", ["", "m"])
def test_what_the_hand_holds_is_told_once_with_its_states(held: str) -> None:
    place = ToldRobot(*(TinyThing(one, kind, states=set(states)) for one, kind, states in THINGS))
    place.held = held
    model = ScriptedModel([END])
    carry_out(model, place=place)
    state = model.dialogues[0][1].text.partition("# The robot")[2].partition("# Instr")[0]
    assert state.count("Mug") == bool(held)
    assert ("cold" in state) is bool(held)
    assert state.count("hold") == 1


def beginning(instruction: str, what: Known, place: TinyHome | None = None) -> str:
    model = ScriptedModel([END])
    carry_out(model, instruction, place, known=what)
    return model.dialogues[0][1].text


@pytest.mark.parametrize("asks", [True, False])
def test_the_rule_to_ask_is_given_where_there_is_somebody_to_ask(asks: bool) -> None:
    place, model = home(), ScriptedModel([END])
    planner = agent_of(model, asks=asks)
    InstructionExecutor(place, place, planner).execute("put the mug into the fridge")
    assert ("Ask the person" in model.dialogues[0][0].text) is asks
    assert ("ask_person" in [tool.name for tool in model.forms[0].tools]) is asks


def test_what_was_left_last_is_told_without_what_was_done_of_it() -> None:
    text = beginning("put the mug into the fridge", known(*LEFT))
    assert "put the apple on the table" in text
    assert "PickupObject Apple" not in text
    assert "heat the mug" not in text


def test_what_was_done_is_told_where_nobody_can_tell_what_is_left() -> None:
    vague = EpisodeSummary("e4", "make it nice here", "", 5 * SECOND_NS, 7 * SECOND_NS, False)
    resumed = EpisodeSummary("e6", "go on", "", 8 * SECOND_NS, 9 * SECOND_NS, False)
    text = beginning("go on", known(resumed, vague, tried=(*TRIED, deed("e6:0", "PickupObject", "Vase", 8))))
    assert "OpenObject Fridge, PickupObject Apple, PickupObject Vase" in text


def test_what_was_left_before_another_deed_is_told_to_who_goes_on_with_it() -> None:
    older = known(LEFT[1], tried=(*TRIED[:3], *TRIED[4:]))
    assert "heat the mug" not in beginning("put the mug into the fridge", older)
    assert "heat the mug" in beginning("go on", older)
    assert "heat the mug" in beginning("what is left to do?", older)


def test_what_was_done_since_is_not_left_unfinished() -> None:
    assert "heat the mug" not in beginning("go on", known(LEFT[1]))
    # Nothing is left to do, so nothing has to be said before the end.
    end = ("done", {"summary": "Nothing is left."})
    assert carry_out(ScriptedModel([[end]]), "go on", known=known(LEFT[1])).success


def test_what_is_still_to_do_of_an_interrupted_instruction_is_told() -> None:
    taken = (deed("e5:0", "PickupObject", "Apple", 6),)
    left = EpisodeSummary("e5", "heat the mug and put the apple in the fridge", "", 5 * SECOND_NS, 7 * SECOND_NS, False)
    tried = (*taken, deed("e5:1", "HeatObject", "Mug", 6, "Microwave"))
    place = home()
    place.things["a"].support_id = "t"
    text = beginning("go on", known(left, tried=tried), place)
    assert text.count("put the apple in the fridge") == 2  # in the instruction, and as what is left of it
    assert text.count("heat the mug") == 1
    # Somebody has put the apple there since.
    assert "apple" not in beginning("go on", known(left, tried=tried))


def test_the_words_of_what_is_told_to_be_left_and_of_nothing_else_may_be_quoted() -> None:
    words = "put the apple on the table"
    goal = {"kind": "place", "thing": "Apple", "place": "DiningTable", "words": words}
    since = (*TRIED, deed("e5:0", "PickupObject", "Vase", 8))
    for instruction, tried, taken in (("finish the job then", TRIED, True), ("bring me the mug", since, False)):
        model = ScriptedModel([[("set_goals", {"goals": [goal]})], END])
        carry_out(model, instruction, known=known(*LEFT, tried=tried))
        assert (words in model.dialogues[0][1].text) is taken
        assert model.results()[0].startswith("taken over") is taken


def tries(*outcomes: tuple[str, str, bool]) -> tuple[Deed, ...]:
    return tuple(
        Deed(f"e{at}:0", "OpenObject", key, kind, at * SECOND_NS, reason="execution" if fails else "")
        for at, (key, kind, fails) in enumerate(outcomes)
    )


def test_a_failure_without_cause_tells_what_tries_say_of_thing_and_kind() -> None:
    goal = {"kind": "open", "thing": "Fridge", "words": "open the fridge"}
    what = Known(
        Recalled(tried=tries(("f", "Fridge", True), ("f", "Fridge", False), ("g", "Fridge", False))), lambda: 60, str
    )
    again = [("OpenObject", {"object": "Fridge"})]
    model = ScriptedModel([[("set_goals", {"goals": [goal]}), *again], again, END])
    place = home(OpenObject=FailureReason.EXECUTION)
    carry_out(model, "open the fridge", place, known=what)
    failed = model.results()[1]
    # Whether this one and others of its class worked.
    assert re.findall(r"\d of \d", failed) == ["1 of 2", "1 of 1"]
    # That something may have to be done first is told once; of tries nothing where there were none.
    unknown = ScriptedModel([[("set_goals", {"goals": [goal]}), *again], again, END])
    carry_out(unknown, "open the fridge", home(OpenObject=FailureReason.EXECUTION))
    first, second = unknown.results()[1:3]
    assert ("done first" in first, "done first" in second) == (True, False)
    assert not re.findall(r"\d of \d", first + second)


def failing(reason: FailureReason, times: int, *names: str) -> list[str]:
    """Return what a model is told of a call that fails again and again, something being done in between. names: of the
    other cabinets, two of which failed before."""

    class Stuck(TinyHome):
        def execute(self, call: SkillCall) -> SkillResult:
            self.failing["OpenObject"] = reason
            return super().execute(call)

    cabinets = [TinyThing(f"c{number}", "Cabinet", states={ObjectState.CLOSED}) for number in (1, 2, 3)]
    lamps = [TinyThing(f"l{number}", "FloorLamp") for number in range(times)]
    earlier = tries(("c2", "Cabinet", True), ("c3", "Cabinet", False), ("gone", "Cabinet", True))
    wanted = [{"kind": "open", "thing": "Cabinet", "words": "open the cabinet"}]
    wanted += [{"kind": "switch_on", "thing": "FloorLamp", "all": True, "words": "all lamps"}]
    switched = ["FloorLamp", *(f"FloorLamp {number}" for number in range(2, times + 1))]
    calls = [[("OpenObject", {"object": "Cabinet"}), ("SwitchOn", {"object": name})] for name in switched]
    model = ScriptedModel([[("set_goals", {"goals": wanted})], *([one] for each in calls for one in each), END])
    what = Known(Recalled(tried=earlier), lambda: 60, str)
    carry_out(model, "open the cabinet and switch on all lamps", Stuck(*cabinets, *lamps), known=what)
    return [text for text in model.results() if text.startswith("OpenObject")]


def test_a_failure_tells_by_name_at_which_others_the_call_worked() -> None:
    first = failing(FailureReason.EXECUTION, 1)[0]
    assert "Cabinet 2 worked 0 of 1 times" in first
    assert "Cabinet 3 worked 1 of 1 times" in first
    assert "another Cabinet worked 0 of 1 times" in first


def test_a_call_that_fails_again_and_again_is_told_to_be_given_up() -> None:
    told = failing(FailureReason.EXECUTION, 6)
    assert ["end with impossible" in text for text in told] == [False, False, True, True, True, True]
    assert ["do first" in text for text in told[2:]] == [True, True, True, False]


def test_what_cannot_be_reached_has_a_cause() -> None:
    (told,) = failing(FailureReason.UNREACHABLE, 1)
    assert "no cause is known" not in told
    assert "stands in the way" in told


class Cut(TinyHome):
    """A home in which the apple is in pieces once the robot has moved."""

    def execute(self, call: SkillCall) -> SkillResult:
        self.things.pop("a", None)
        pieces = [TinyThing(f"a{number}", "AppleSliced", "t", {ObjectState.SLICED}) for number in (1, 2)]
        self.things |= {one.id: one for one in pieces}
        return super().execute(call)


def test_a_whole_is_not_sought_once_it_is_cut() -> None:
    cut = {"kind": "slice", "thing": "Apple", "words": "slice the apple"}
    put = {"kind": "place", "thing": "Apple", "sliced": True, "all": True, "place": "Fridge", "words": "put it away"}
    fetch = {"kind": "fetch", "thing": "Apple", "words": "the apple"}
    for wanted, is_sought in (([cut, put], False), ([fetch], True)):
        things = (TinyThing("t", "DiningTable"), TinyThing("f", "Fridge"), TinyThing("k", "Knife", "t"))
        said, go = ("set_goals", {"goals": wanted}), ("GoToObject", {"object": "Fridge"})
        model = ScriptedModel([[said], [go], [said], END])
        carry_out(model, "slice the apple and put it away", Cut(*things, TinyThing("a", "Apple", "t")))
        assert ("not known: Apple" in model.results()[2]) is is_sought


def test_the_past_of_a_thing_has_what_made_it_work_and_nothing_else() -> None:
    model = ScriptedModel([[("recall_past", {"about": "mug"})], END])
    carry_out(model, "bring me the mug", known=known(*LEFT))
    told = model.results()[0]
    assert told.index("failed") < told.index("SwitchOn LightSwitch") < told.rindex("HeatObject Mug")
    assert 'unfinished: "heat the mug"' in told
    assert "Apple" not in told
    assert "apple" not in told


def test_the_past_of_a_place_has_what_was_taken_from_it() -> None:
    taken = replace(deed("e4:1", "PickupObject", "Apple", 6), from_class="Fridge")
    model = ScriptedModel([[("recall_past", {"about": "fridge"})], END])
    carry_out(model, "what did you take from the fridge?", known=known(tried=(*TRIED[:-1], taken)))
    assert "PickupObject Apple from Fridge" in model.results()[0]


def test_memory_is_asked_anew_when_the_world_has_changed() -> None:
    goal = {"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug into the fridge"}
    ask = ("find", {"name": "mug"})
    model = ScriptedModel(
        [[("set_goals", {"goals": [goal]}), ask, ask, ask, ("PickupObject", {"object": "Mug"}), ask], END]
    )
    carry_out(model)
    told = model.results()
    assert "DiningTable" in told[1]
    assert told[3] != told[2]
    assert told[5] == "Mug: in the hand"


def test_what_is_not_known_at_all_is_to_be_searched_for() -> None:
    goal = {"kind": "fetch", "thing": "Spoon", "words": "bring me the spoon"}
    model = ScriptedModel([[("set_goals", {"goals": [goal]}), ("PickupObject", {"object": "Spoon"})], END])
    carry_out(model, "bring me the spoon")
    assert "Explore" in model.results()[1]
