"""What a language model's planner notes and takes reaches the client of ExecuteInstruction."""

from types import SimpleNamespace
from typing import Any

import pytest
from scripted_model import ScriptedModel, carry_out

from memory_node.llm.chat import Reply, ToolCall
from memory_node.nodes.planner import _Feedback, result_to_msg
from memory_node.planner.planner import PlanProgress

INSTRUCTION = "put the mug into the fridge"
CALLS = [
    ("set_goals", {"goals": [{"kind": "place", "thing": "Mug", "place": "Fridge", "words": INSTRUCTION}]}),
    ("tell_person", {"text": "The mug is Anna's."}),
    ("OpenObject", {"object": "Fridge"}),
    ("PickupObject", {"object": "Mug"}),
    ("PutObject", {"object": "Mug", "receptacle": "Fridge"}),
    ("done", {"summary": "The mug is in the fridge."}),
]


def test_notes_reach_the_client_in_feedback_and_result() -> None:
    reports: list[PlanProgress] = []
    result = carry_out(ScriptedModel([CALLS]), INSTRUCTION, reports=reports)
    published: list[list[str]] = []
    goal: Any = SimpleNamespace(publish_feedback=lambda message: published.append(list(message.notes)))
    feedback = _Feedback(goal)
    for report in reports:
        feedback.report(report)
    assert published[-1] == ["The mug is Anna's."]
    assert list(result_to_msg(result, "", "").notes) == ["The mug is Anna's."]


def test_what_the_model_took_is_in_the_metrics() -> None:
    calls = tuple(ToolCall(name, arguments, str(number)) for number, (name, arguments) in enumerate(CALLS))
    model = ScriptedModel([Reply("", 2000, 300, tokens_cached=1500, tool_calls=calls)])
    prices = {"usd_per_million_in": 5.0, "usd_per_million_out": 20.0}
    metrics = result_to_msg(carry_out(model, INSTRUCTION, **prices), "", "").metrics
    assert (metrics.context_tokens, metrics.cached_tokens, metrics.reply_tokens, metrics.replies) == (
        2000,
        1500,
        300,
        1,
    )
    assert metrics.cost == pytest.approx(0.016)
    assert metrics.model_time > 0.0
    assert metrics.skills == 6
