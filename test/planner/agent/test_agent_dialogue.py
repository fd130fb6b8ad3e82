"""What the person says in the middle goes on with the running dialogue; limits end it."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from scripted_model import ScriptedModel, carry_out, home

from memory_node.llm.chat import Message
from memory_node.planner.agent.dialogue import AgentDialogue
from memory_node.planner.agent.tools import agent_tools
from memory_node.planner.planner_config import LlmConfig, ModelAccount

GOAL = (
    "set_goals",
    {"goals": [{"kind": "place", "thing": "Mug", "place": "Fridge", "words": "put the mug into the fridge"}]},
)
WORK = [
    ("OpenObject", {"object": "Fridge"}),
    ("PickupObject", {"object": "Mug"}),
    ("PutObject", {"object": "Mug", "receptacle": "Fridge"}),
]
END = ("done", {"summary": "The mug is in the fridge."})
ASK = ("ask_person", {"question": "The fridge is full. Shall I make room?", "choices": ["yes", "leave it"]})
TOLD = ("tell_person", {"text": "The mug is Anna's."})
INSTRUCTION = "put the mug into the fridge"


def in_turn(*replies: Any) -> ScriptedModel:
    """Return a model that says these, and the last one again and again."""
    said = iter(replies)
    last = [replies[-1]]
    return ScriptedModel(lambda _: next(said, last[0]))


@pytest.mark.parametrize("answer", ["yes", "the other one", "the blue one, please"])
def test_an_answer_goes_on_with_the_running_dialogue(answer: str) -> None:
    model = in_turn([GOAL, ASK], [*WORK, END])
    result = carry_out(model, INSTRUCTION, answers=[answer])
    assert result.success
    assert model.dialogues[1][: len(model.dialogues[0])] == model.dialogues[0]
    assert any(answer in message.text for message in model.dialogues[1])


@pytest.mark.parametrize("answer", ["stop", "leave it", "never mind", "Don't do it."])
@pytest.mark.parametrize("end", [END, ("impossible", {"reason": "The person wants nothing any more."})])
def test_stop_ends_what_was_asked_for(answer: str, end: tuple[str, dict[str, Any]]) -> None:
    place, model = home(), in_turn([GOAL, ASK], [end])
    result = carry_out(model, INSTRUCTION, place, answers=[answer])
    assert result.success
    assert result.outcome.goals == (answer,)
    assert place.calls == []
    assert any(answer in message.text for message in model.dialogues[1])


@pytest.mark.parametrize("answer", ["stop", "leave it"])
def test_a_model_that_goes_on_after_stop_moves_nothing(answer: str) -> None:
    place = home()
    result = carry_out(in_turn([GOAL, ASK], WORK, [GOAL, *WORK]), INSTRUCTION, place, answers=[answer])
    assert not result.success
    assert place.calls == []


def test_another_wish_after_stop_is_carried_out() -> None:
    place, model = home(), in_turn([GOAL, ASK], [ASK], [GOAL, *WORK, END])
    assert carry_out(model, INSTRUCTION, place, answers=["stop", INSTRUCTION]).success
    assert place.things["m"].support_id == "f"


def test_the_next_instruction_is_told_what_was_said_before() -> None:
    model = in_turn([GOAL, *WORK, END], [END])
    result = carry_out(model, INSTRUCTION)
    assert result.success
    again = in_turn([ASK], [ASK], [("done", {"summary": "Nothing."})])
    carry_out(again, "put the cup into the fridge", answers=["no, the other one", "leave it"])
    told = [message.text for message in again.dialogues[-1]]
    assert [one for one in told if one.startswith("the person says")] == [
        "the person says: no, the other one",
        "the person says: leave it",
    ]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_tokens_per_instruction": 2000}, "2000 tokens"),
        ({"max_usd_per_instruction": 0.01, "usd_per_million_in": 5.0}, "0.01 USD"),
        ({"max_model_s_per_instruction": 1}, "1 s of the model"),
        ({"max_steps": 1}, "1 skills"),
        ({"max_idle_replies": 2}, "no progress in 2 replies"),
    ],
)
def test_each_limit_ends_with_an_honest_failure(limits: dict[str, Any], said: str) -> None:
    looks = [("GoToObject", {"object": name}) for name in ("Mug", "Fridge")]

    def slowly(messages: Any) -> Any:
        if "max_model_s_per_instruction" in limits:
            time.sleep(0.6)
        return [GOAL, looks[len(messages) % 2]]

    result = carry_out(ScriptedModel(slowly), INSTRUCTION, **limits)
    assert not result.success
    assert said in " ".join(result.outcome.failures)


def test_a_new_instruction_that_comes_for_an_answer_is_carried_out_with_what_was_told_of_it() -> None:
    other = "the vase would look nicer in the fridge"
    goal = {"kind": "place", "thing": "Vase", "place": "Fridge", "words": other}
    vase = [("OpenObject", {"object": "Fridge"}), ("PickupObject", {"object": "Vase"})]
    vase += [("PutObject", {"object": "Vase", "receptacle": "Fridge"}), END]
    place, model = home(), in_turn([GOAL, ASK], [("set_goals", {"goals": [goal]}), *vase])
    result = carry_out(model, INSTRUCTION, place, answers=[other], told=["The vase is Anna's."])
    assert result.success
    assert place.things["v"].support_id == "f"
    assert place.things["m"].support_id == "t"
    assert any("Anna's" in message.text and other in message.text for message in model.dialogues[1])


@pytest.mark.parametrize("native", [True, False])
def test_what_the_person_said_and_what_memory_recalled_outlasts_folding(native: bool) -> None:
    tools = agent_tools(("GoToObject",), True, True, True)
    go = {"name": "GoToObject", "arguments": {"object": "Mug"}}
    model = ScriptedModel(lambda _: [tuple(go.values())] if native else json.dumps({"calls": [go]}))
    model.native_tools = native
    config = LlmConfig(base_url="http://localhost:1/v1")
    beginning = (Message("system", "rules"), Message("user", "task"))
    dialogue = AgentDialogue(model, tools, beginning, ModelAccount(), config)
    told = {"ask_person": "the person says: " + "blue " * 60, "recall_past": "e1 " * 60, "GoToObject": "news " * 900}
    for _ in range(12):
        [call] = dialogue.ask(5.0).calls
        for name, text in told.items():
            dialogue.tell(replace(call, name=name), text)
        told = {"GoToObject": told["GoToObject"]}
    dialogue.say("Memory: " + "hint " * 60)
    dialogue.ask(5.0)
    texts = "\n".join(message.text for message in model.dialogues[-1])
    assert "blue " * 60 in texts
    assert "e1 " * 60 in texts
    assert "hint " * 60 in texts
    assert len(texts) < 12 * len("news " * 900)
