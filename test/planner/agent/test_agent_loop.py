import json
from dataclasses import replace
from typing import Any

import pytest
from scripted_model import ScriptedModel, agent_of, carry_out, home
from tiny_home import TinyHome, TinyThing
from understood import Understood

from memory_node.context.brief_state import BriefState
from memory_node.context.guidance import Compiled, CompiledStep, Guidance, StepObservation
from memory_node.context.recalled import Recalled
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import ALL_SKILLS
from memory_node.domain.states import ObjectState
from memory_node.domain.step import Deed, StepRecord
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.expectations import Expectations
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.llm.chat import Reply, ToolCall, UnreachableError
from memory_node.planner.agent.tools import agent_tools, exact_calls_form
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import ProgressKind
from memory_node.planner.reading.plain_reader import Known

GOAL = (
    "set_goals",
    {"goals": [{"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug into the fridge"}]},
)
OPEN = ("OpenObject", {"object": "Fridge"})
PICK = ("PickupObject", {"object": "Mug"})
PUT = ("PutObject", {"object": "Mug", "receptacle": "Fridge"})
END = ("done", {"summary": "The mug is in the fridge."})


def test_calls_of_one_reply_are_done_in_order_and_the_robot_drives_by_itself() -> None:
    place, model = home(), ScriptedModel([[GOAL, OPEN, PICK, PUT, END]])
    result = carry_out(model, place=place)
    assert result.success
    assert place.things["m"].support_id == "f"
    assert result.outcome.cost.replies == 1
    assert [call.partition("(")[0] for call in place.calls].count("GoToObject") == 3


def test_words_beside_calls_are_why_these_are_made() -> None:
    def calls(words: str, *made: tuple[str, dict]) -> Reply:
        return Reply(words, 1, 1, tool_calls=tuple(ToolCall(name, told, str(n)) for n, (name, told) in enumerate(made)))

    result = carry_out(ScriptedModel([calls("The fridge\nis shut.", GOAL, OPEN), calls("", PICK, PUT, END)]))
    assert [
        (one.step.call.skill, one.step.reasoning) for one in result.steps if one.step.call.skill != "GoToObject"
    ] == [
        ("OpenObject", "The fridge is shut."),
        ("PickupObject", ""),
        ("PutObject", ""),
    ]


def test_after_a_failure_the_rest_of_a_reply_is_not_done() -> None:
    place = home(PickupObject=FailureReason.EXECUTION)
    model = ScriptedModel([[GOAL, OPEN, PICK, PUT], [PICK, PUT], [END]])
    assert carry_out(model, place=place).success
    told = model.dialogues[1]
    assert any("failed" in message.text for message in told if message.role == "tool")
    assert told[-1].text.startswith("not done")


def test_what_memory_speaks_against_is_told_once_and_may_be_insisted_on() -> None:
    model = ScriptedModel([[GOAL, PICK, PUT], [PUT], [END]])
    result = carry_out(model)
    assert "closed" in model.dialogues[1][-1].text
    assert result.steps[-1].step.call.skill == "PutObject"
    assert result.success


def test_unmet_goals_are_told_back_once_and_then_fail_honestly() -> None:
    model = ScriptedModel([[GOAL, END], [END]])
    result = carry_out(model)
    assert not result.success
    assert "not so" in model.dialogues[1][-1].text
    assert result.outcome.achieved == (False,)


def test_a_question_about_memory_needs_no_goals() -> None:
    model = ScriptedModel([[("find", {"name": "mug"})], [("done", {"summary": "on the table"})]])
    result = carry_out(model, "where is the mug?")
    assert result.success
    assert result.outcome.answer == "on the table"
    assert "DiningTable" in model.results()[0]


def test_a_question_may_be_answered_in_plain_words() -> None:
    result = carry_out(ScriptedModel(["On the table."]), "where is the mug?")
    assert result.success
    assert result.outcome.answer == "On the table."


def test_an_instruction_that_the_model_gave_up_is_not_attempted_again() -> None:
    result = carry_out(ScriptedModel([[("impossible", {"reason": "no"})]]), "fly to the moon")
    assert result.outcome.is_final
    assert not result.success


def test_the_answer_to_a_question_goes_on_with_the_dialogue() -> None:
    model = ScriptedModel(
        [[("ask_person", {"question": "Which cup?", "choices": ["mug", "cup"]})], [GOAL, OPEN, PICK, PUT, END]]
    )
    result = carry_out(model, "put it into the fridge", answers=["put the mug into the fridge"])
    assert result.success
    assert model.dialogues[1][: len(model.dialogues[0])] == model.dialogues[0]


def test_the_beginning_of_the_dialogue_stays_the_same_text() -> None:
    model = ScriptedModel([[GOAL], [OPEN], [PICK], [PUT], [END]])
    carry_out(model)
    for earlier, later in zip(model.dialogues, model.dialogues[1:]):
        assert later[: len(earlier)] == earlier


def test_a_model_without_tool_calls_gets_the_same_loop_in_json() -> None:
    call = '{"name": "done", "arguments": {"summary": "it is here"}}'
    written = f'<think>{{"calls": []}}</think>```json\n{{"calls": [{call}]}}\n```'
    model = ScriptedModel([written])
    model.native_tools = False
    assert carry_out(model, "where is the mug?").outcome.answer == "it is here"
    assert "set_goals" in model.dialogues[0][0].text


def test_the_grammar_serves_where_the_model_fails_and_that_is_said() -> None:
    reports, place = [], home()
    result = carry_out(ScriptedModel([UnreachableError("no answer")]), place=place, reports=reports, fallback=True)
    assert result.success
    assert result.outcome.planner == "offline (fallback)"
    assert any(one.kind is ProgressKind.NOTE and "no answer" in one.text for one in reports)


def test_a_failure_in_the_middle_ends_with_what_was_reached() -> None:
    model = ScriptedModel([[GOAL, OPEN, PICK], UnreachableError("gone")])
    result = carry_out(model, fallback=True)
    assert not result.success
    assert "gone" in " ".join(result.outcome.failures)
    assert len(result.steps) >= 3


@pytest.mark.parametrize(
    ("reply", "limits"),
    [
        ([("find", {"name": "mug"})], {}),
        ([("fly", {"to": "moon"})], {}),
        ([("PickupObject", {"object": "Mug", "speed": 3})], {}),
        ([("PickupObject", {})], {}),
        ([("GoToObject", {"object": "Fridge"})], {}),
        ([GOAL], {}),
        ([("tell_person", {"text": "hello"})], {}),
        ([("find", {"name": "mug"})] * 500, {"max_tokens_per_instruction": 20_000}),
        ("I will put the mug into the fridge.", {}),
        ("", {}),
        (Reply("x" * 100_000, 10, 9000, whole=False), {}),
        (Reply("", 10, 1, refusal="I cannot help with that"), {}),
        (Reply("{" * 5000, 10, 5000), {}),
    ],
)
def test_a_model_that_loops_stalls_or_floods_is_bounded(reply, limits) -> None:
    model = ScriptedModel(lambda _: reply)
    result = carry_out(model, **limits)
    assert not result.success
    assert len(model.dialogues) <= 12
    assert len(result.steps) <= 6
    assert result.failure or result.outcome.failures


def test_limits_of_an_instruction_end_it() -> None:
    areas = iter(range(10_000))
    model = ScriptedModel(lambda _: [("find", {"name": f"thing {next(areas)}"})])
    result = carry_out(model, max_tokens_per_instruction=30_000)
    assert "30000 tokens" in " ".join(result.outcome.failures)
    assert result.outcome.cost.tokens_in < 40_000


@pytest.mark.parametrize("end", [("impossible", {"reason": "it would break"}), END])
def test_what_leaves_no_trace_is_not_taken_for_done(end) -> None:
    throw = {"kind": "throw", "thing": "Mug", "words": "throw the mug"}
    result = carry_out(ScriptedModel([[("set_goals", {"goals": [throw]}), end], [end]]), "throw the mug")
    assert not result.success
    assert not result.steps


def test_the_schema_of_calls_names_every_tool() -> None:
    tools = agent_tools(ALL_SKILLS, asks_memory=True, recalls=True, remembers=True)
    schema = json.dumps(exact_calls_form(tools, 8).schema)
    assert all(f'"{tool.name}"' in schema for tool in tools)


def test_schemas_of_tools_hold_nothing_that_endpoints_refuse() -> None:
    text = json.dumps([dict(tool.parameters) for tool in agent_tools(ALL_SKILLS, True, True, True)])
    assert not any(f'"{word}"' in text for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf"))


def test_nobody_is_asked_where_nobody_is_there() -> None:
    assert "ask_person" in {tool.name for tool in agent_tools(ALL_SKILLS, True, True, True)}
    assert "ask_person" not in {tool.name for tool in agent_tools(ALL_SKILLS, True, True, True, asks=False)}


class Compiling:
    """A guide that advises the same call twice by a lesson, and then what no lesson calls for."""

    def __init__(self, skill: str = "OpenObject", thing: str = "Fridge") -> None:
        self.observed: list[StepObservation] = []
        self._goal = SkillCall(skill, (thing,))

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep:
        self.observed.append(observation)
        goal = self._goal
        told = Guidance(goal, "Next: open the fridge.", "so it was", ("lesson",))
        guidance = told if len(self.observed) < 3 else Guidance(goal, "Next: go on.", "a goal")
        return CompiledStep(Compiled(guidance), BriefState("put it away"))


class OfNoMemory(Experience):
    """An `ExperiencePort` without a memory around it. steps: takes what it is told."""

    def __init__(self, steps: list[StepRecord] | None = None) -> None:
        super().__init__(ExperienceConfig(), ExperienceLog(), lambda: 0)
        self._told_steps = steps if steps is not None else []

    def record(self, step: StepRecord, context_id: str = ""):  # type: ignore[no-untyped-def]
        self._told_steps.append(step)
        return super().record(step)


def carry_out_guided(
    model: ScriptedModel,
    place: TinyHome,
    guide: Compiling | None = None,
    instruction: str = "put the mug into the fridge",
    steps: list[StepRecord] | None = None,
) -> InstructionResult:
    """Let a model carry out an instruction beside experience. steps: takes what experience is told."""
    planner = agent_of(model, described=Understood())
    episodes = OfNoMemory(steps)
    guided = GuidedPlanner(planner, episodes, lambda: 0, guidance=guide)
    result = InstructionExecutor(place, place, guided).execute(instruction)
    episodes.close()
    return result


def told_by_memory(model: ScriptedModel) -> list[str]:
    return [message.text for message in model.dialogues[-1] if message.text.startswith("Memory: ")]


def test_guidance_of_a_step_is_read_by_the_model_which_chooses_the_call() -> None:
    place, model, guide = home(), ScriptedModel([[GOAL], [OPEN], [PICK], [PUT, END]]), Compiling()
    assert carry_out_guided(model, place, guide).success
    # Nothing was put before the model's own calls, and what was told once is not told again.
    assert [call.partition("(")[0] for call in place.calls if not call.startswith("GoTo")] == [
        "OpenObject",
        "PickupObject",
        "PutObject",
    ]
    assert told_by_memory(model) == ["Memory: Next: open the fridge."]
    assert "Fridge" in guide.observed[0].names.values()


def test_no_guidance_is_told_to_look_for_what_is_known_or_when_all_is_done() -> None:
    model = ScriptedModel([[GOAL], [OPEN, PICK, PUT], [END]])
    assert carry_out_guided(model, home(), Compiling("Explore", "Mug")).success
    assert told_by_memory(model) == []
    model, guide = ScriptedModel([[GOAL, OPEN, PICK, PUT], [END]]), Compiling()
    assert carry_out_guided(model, home(), guide).success
    assert told_by_memory(model) == []


class WithOwnIds(TinyHome):
    """A robot that has ids of its own for what memory knows by other ones."""

    def execute(self, call: SkillCall) -> SkillResult:
        done = super().execute(call)
        return replace(done, object_id=f"robot_{done.object_id}" if done.object_id else "")

    def _named(self, reference: str) -> TinyThing | None:
        return super()._named(reference.removeprefix("robot_"))


def test_experience_is_told_which_thing_a_call_by_the_robots_own_id_failed_with() -> None:
    place = WithOwnIds(
        TinyThing("f", "Fridge", states={ObjectState.CLOSED}), failing={"OpenObject": FailureReason.EXECUTION}
    )
    goal = ("set_goals", {"goals": [{"kind": "open", "thing": "Fridge", "words": "open the fridge"}]})
    model = ScriptedModel([[goal, OPEN], [OPEN, ("done", {"summary": "It is open."})]])
    recorded: list[StepRecord] = []
    assert carry_out_guided(model, place, instruction="open the fridge", steps=recorded).success
    opened = [step for step in recorded if step.action.skill == "OpenObject"]
    assert [(step.action.arguments, step.success) for step in opened] == [(("f",), False), (("f",), True)]


def test_whole_plan_is_carried_out_and_made_anew_only_after_what_failed() -> None:
    place = home(PickupObject=FailureReason.EXECUTION)
    model = ScriptedModel([_written(GOAL, OPEN, PICK, PUT, END), _written(PICK, PUT, END)])
    result = carry_out(model, place=place, mode="plan")
    assert result.success
    assert result.outcome.cost.replies == 2
    assert "- find:" not in model.dialogues[0][0].text
    assert "failed" in model.dialogues[1][-1].text


def test_plans_of_one_instruction_are_bounded() -> None:
    model = ScriptedModel(lambda _: _written(GOAL, END))
    result = carry_out(model, mode="plan", max_replans=1)
    assert not result.success
    assert len(model.dialogues) == 2


def _written(*calls) -> str:
    return json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]})


def test_people_are_told_and_meant_by_their_names() -> None:
    place = home()
    place.things["u1"] = TinyThing("u1", "User")
    place.things["u2"] = TinyThing("u2", "User", name="Ada")
    goal = {"kind": "place", "thing": "Mug", "place": "Ada", "words": "bring Ada the mug"}
    calls = [("set_goals", {"goals": [goal]}), PICK, ("PutObject", {"object": "Mug", "receptacle": "Ada"}), END]
    model = ScriptedModel([calls])
    result = carry_out(model, "bring Ada the mug", place=place)
    assert result.success
    assert place.things["m"].support_id == "u2"
    assert "User 2 (Ada)" in model.dialogues[0][1].text


def test_of_several_people_the_one_without_a_name_speaks() -> None:
    place = home()
    place.things["u1"] = TinyThing("u1", "User", name="Ada")
    place.things["u2"] = TinyThing("u2", "User")
    goal = {"kind": "place", "thing": "Mug", "place": "me", "words": "bring me the mug"}
    calls = [("set_goals", {"goals": [goal]}), PICK, ("PutObject", {"object": "Mug", "receptacle": "me"}), END]
    assert carry_out(ScriptedModel([calls]), "bring me the mug", place=place).success
    assert place.things["m"].support_id == "u2"


def test_a_substitute_in_one_goal_does_not_hold_back_another_one() -> None:
    goals = [
        {"kind": "slice", "thing": "Apple", "words": "slice the apple"},
        {"kind": "place", "thing": "Apple", "sliced": True, "place": "Vase", "words": "put a slice on a plate"},
    ]
    goals[1]["reason"] = "there is no plate"
    model = ScriptedModel([[("set_goals", {"goals": goals})], [("impossible", {"reason": "no knife"})]])
    carry_out(model, "slice the apple and put a slice on a plate")
    assert model.results()[0].startswith("taken over")


def test_goals_are_compared_with_the_words_together() -> None:
    goals = [
        {"kind": "open", "thing": "Fridge", "words": "open the fridge"},
        {"kind": "slice", "thing": "Apple", "words": "slice the apple"},
    ]
    model = ScriptedModel([[("set_goals", {"goals": goals})], [("impossible", {"reason": "no knife"})]])
    carry_out(model, "open the fridge and slice the apple")
    assert model.results()[0].startswith("taken over")


def _heating() -> tuple[TinyHome, list[tuple[str, dict[str, Any]]]]:
    goal = {"kind": "heat", "thing": "Apple", "words": "heat the apple"}
    place = TinyHome(
        TinyThing("t", "DiningTable"),
        TinyThing("l", "Television"),
        TinyThing("o", "Microwave", states={ObjectState.CLOSED}),
        TinyThing("a", "Apple", "t"),
    )
    pick, end = ("PickupObject", {"object": "Apple"}), ("done", {"summary": "It is hot."})
    heat = ("HeatObject", {"object": "Apple"})
    return place, [("set_goals", {"goals": [goal]}), pick, ("SwitchOn", {"object": "Television"}), heat, end]


def test_what_a_lesson_says_to_do_first_may_be_done() -> None:
    there, failed = {"to_id": "o", "to_class": "Microwave"}, {"reason": "execution"}
    tried = [
        Deed("e1:1", "HeatObject", "b", "Bread", 1, **there, **failed),
        Deed("e1:2", "SwitchOn", "l", "Television", 2),
        Deed("e1:3", "HeatObject", "b", "Bread", 3, **there),
    ]
    for lessons, switched in ((Expectations(tried), True), (Expectations([]), False)):
        place, calls = _heating()
        carry_out(
            ScriptedModel([calls, calls[3:]]), "heat the apple", place, known=Known(Recalled(), lambda: 4, str, lessons)
        )
        assert any(call.startswith("SwitchOn(Television") for call in place.calls) is switched


def test_treatment_without_a_place_is_done_at_the_usual_one() -> None:
    place, calls = _heating()
    carry_out(ScriptedModel([[*calls[:2], *calls[3:]]]), "heat the apple", place)
    (heated,) = (call for call in place.calls if call.startswith("HeatObject"))
    assert "Microwave" in heated
