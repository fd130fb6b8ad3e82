import json
from typing import Any

import pytest

from memory_node.experience.lesson_reply import parse_lesson_reply
from memory_node.experience.record import ExperienceRecord
from memory_node.llm.errors import RejectedReplyError

CLASSES = {"Egg", "Fridge"}
HAPPENED = ExperienceRecord(
    episode_id="e1",
    task="put the egg away",
    task_type="place",
    success=True,
    stamp_ns=1,
    failure_causes=("PutObject(Egg, Fridge): closed, for want of open_or_unlidded(receptacle)",),
    successful_actions=("PickupObject(Egg)", "OpenObject(Fridge)", "PutObject(Egg, Fridge)"),
    failed_actions=("PutObject(Egg, Fridge)",),
)


def good() -> dict[str, Any]:
    repair = {"skill": "PutObject", "reason": "closed", "before": ["OpenObject({receptacle})"]}
    return {
        "success": True,
        "successful_actions": ["OpenObject(Fridge)", "PutObject(Egg,Fridge)"],
        "failed_actions": ["PutObject(Egg, Fridge)"],
        "success_patterns": ["It opened the fridge and tried again."],
        "failure_causes": [],
        "insights": ["A Fridge is closed as a rule."],
        "recommendations": ["Use OpenObject(Fridge) before PutObject."],
        "guidelines": [{"text": "Open a Fridge first.", "object_classes": ["Fridge"], "repair": repair}],
    }


def rejected(text: str) -> str:
    with pytest.raises(RejectedReplyError) as caught:
        parse_lesson_reply(text, HAPPENED, CLASSES)
    return caught.value.reason


def test_reply_that_agrees_with_what_happened_is_taken() -> None:
    reply = parse_lesson_reply("Here it is:\n```json\n" + json.dumps(good()) + "\n```", HAPPENED, CLASSES)
    assert reply.insights == ["A Fridge is closed as a rule."]
    (guideline,) = reply.guidelines
    assert guideline.repair is not None
    assert [str(call) for call in guideline.repair.calls] == ["OpenObject({receptacle})"]


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", "[1, 2]", '{"success": tru', "{" * 50_000, "__import__('os').system('true')"]
)
def test_nonsense_is_not_json(text: str) -> None:
    assert rejected(text) == "not_json"


@pytest.mark.parametrize(
    "change",
    [
        {"success": "yes"},
        {"success": 1},
        {"insights": "one text"},
        {"insights": [7]},
        {"insights": ["x" * 241]},
        {"insights": ["one more"] * 9},
        {"insights": ["two\nlines: ## Guidelines"]},
        {"insights": ["invisible \u202e text"]},
        {"insights": ["\x1b[31mred"]},
        {"successes": 12},
        {"guidelines": [{"text": "Trust me.", "successes": 9, "trials": 9}]},
        {"guidelines": [{"text": "Open it."}] * 7},
        {"guidelines": [{"text": "Open it.", "object_classes": ["Fridge; DROP TABLE"]}]},
        {"guidelines": [{"text": "Open it.", "repair": {"skill": "PutObject", "reason": "closed", "before": []}}]},
    ],
)
def test_reply_outside_the_schema_is_rejected(change: dict[str, Any]) -> None:
    assert rejected(json.dumps({**good(), **change})) == "schema"


def test_missing_part_is_named_in_the_rejection() -> None:
    incomplete = {key: value for key, value in good().items() if key != "insights"}
    with pytest.raises(RejectedReplyError, match="insights"):
        parse_lesson_reply(json.dumps(incomplete), HAPPENED, CLASSES)


@pytest.mark.parametrize(
    "change",
    [
        {"success": False},
        {"successful_actions": ["PickupObject(Egg)", "PickupObject(Egg)"]},
        {"successful_actions": ["CloseObject(Fridge)"]},
        {"failed_actions": ["PutObject(Egg, Fridge)"] * 2},
        {"guidelines": [{"text": "No.", "repair": {"skill": "OpenObject", "reason": "closed", "before": ["x(y)"]}}]},
        {"guidelines": [{"text": "No.", "repair": {"skill": "PutObject", "reason": "timeout", "before": ["x(y)"]}}]},
        {"guidelines": [{"text": "No.", "repair": {"skill": "PutObject", "reason": "gremlins", "before": ["x(y)"]}}]},
    ],
)
def test_reply_that_contradicts_what_happened_is_rejected(change: dict[str, Any]) -> None:
    assert rejected(json.dumps({**good(), **change})) == "contradiction"


def repaired_by(*calls: str) -> dict[str, Any]:
    repair = {"skill": "PutObject", "reason": "closed", "before": list(calls)}
    return {"guidelines": [{"text": "Do that first.", "repair": repair}]}


@pytest.mark.parametrize(
    "change",
    [
        {"successful_actions": ["FlyTo(Moon)"]},
        {"insights": ["Call TeleportObject(Egg) instead."]},
        {"guidelines": [{"text": "Use Hack(everything)."}]},
        repaired_by("FlyTo(Fridge)"),
        repaired_by("OpenObject(Fridge, Egg, Egg)"),
        repaired_by("__import__('os').system('true')"),
    ],
)
def test_unknown_skill_is_rejected(change: dict[str, Any]) -> None:
    assert rejected(json.dumps({**good(), **change})) == "unknown_skill"


@pytest.mark.parametrize(
    "change",
    [
        {"insights": ["The CoffeeMachine helps."]},
        {"guidelines": [{"text": "Open it.", "object_classes": ["Unicorn"]}]},
        repaired_by("OpenObject(Unicorn)"),
        repaired_by("OpenObject({nobody})"),
    ],
)
def test_class_that_the_model_was_not_told_of_is_rejected(change: dict[str, Any]) -> None:
    assert rejected(json.dumps({**good(), **change})) == "unknown_class"
