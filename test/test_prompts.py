"""Every prompt as a model gets it, word by word: a change of a prompt is a change of behaviour.

What a prompt says lies in test/prompts. `ROBOT_MEMORY_WRITE_PROMPTS=1` writes these files anew, to be read in the diff.
"""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest

from memory_node.domain.resources import resource_path
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.skill_text import library_text
from memory_node.short_term.state_reply import STATE_MEANINGS

GOLDEN = Path(__file__).parent / "prompts"
DOCS = Path(__file__).parents[1] / "docs" / "llm.md"
ERROR = {"error": "states: expected a list"}
SKILLS_TOLD = [SKILLS["GoToObject"], SKILLS["PutObject"]]
THINGS = {"things": ["Fridge: closed", "Mug: on CounterTop, dirty"], "held": "Mug"}
FAILED = SkillResult(SkillCall("PutObject", ("Mug", "Fridge")), False, FailureReason.CLOSED, "the Fridge is closed")
ATTEMPT = {
    "query": "put the mug in the fridge",
    "first": ["GoToObject(Mug)", "PickupObject(Mug)"],
    "left_out": 2,
    "last": ["PutObject(Mug, Fridge): closed"],
    "entries": [("put the apple in the fridge", "open it first")],
}
RECORD = SimpleNamespace(task='put the "best" mug away', task_type="place", success=False)
EARLIER = SimpleNamespace(
    task="put the cup away",
    success=True,
    successful_actions=["OpenObject(Fridge)"],
    failure_causes=[],
    recommendations=["open the fridge before"],
)
FILLED: dict[str, dict[str, Any]] = {
    "agent_carry_out": {"instruction": "wash the mug"},
    "compiler_repair": ERROR,
    "compiler_system": {},
    "compiler_task": {
        "entries": ["If the fridge is closed: OpenObject(Fridge) before PutObject"],
        "state": ["Goal: put the mug in the fridge", "Fridge: closed"],
        "taken": "GoToObject(Fridge) done",
        "proposed": "PutObject(Mug, Fridge)",
        "repeated": ["GoToObject(Fridge)", "GoToObject(Mug)"],
    },
    "experience_lesson_repair": ERROR,
    "experience_lesson_system": {"library": library_text(SKILLS_TOLD, {})},
    "experience_lesson_task": {
        "record": RECORD,
        "steps": ["PutObject(Mug, Fridge) failed: closed"],
        "left_out": 1,
        "known": ["OpenObject({receptacle}) before PutObject"],
        "earlier": [EARLIER],
    },
    "object_states": {
        "object_class": "Mug",
        "task": "wash the mug",
        "task_objects": ["Mug", "SinkBasin"],
        "states": {str(state): meaning for state, meaning in STATE_MEANINGS.items()},
    },
    "object_states_repair": ERROR,
    "optimizer_failure": {**ATTEMPT, "message": "the fridge is closed"},
    "optimizer_repair": ERROR,
    "optimizer_success": {**ATTEMPT, "left_out": 0},
    "optimizer_system": {},
    "planner_brief_plan_system": {"library": library_text(SKILLS_TOLD, brief=True)},
    "planner_brief_result": {
        "reason": "closed",
        "unmet": (),
        "news": ["Fridge: closed"],
        "held": "Mug",
        "goals": ["place Mug to Fridge"],
    },
    "planner_brief_system": {},
    "planner_brief_task": {
        **THINGS,
        "memory": "## Guidelines\n- open it first",
        "unknown": ["Plate"],
        "completed": "wash the mug",
        "instruction": "put it in the fridge",
        "goals": ["place Mug to Fridge"],
    },
    "planner_goals": {"kinds": ["place", "clean"], "instruction": "wash the mug"},
    "planner_goals_repair": ERROR,
    "planner_repair": ERROR,
    "planner_replan": {
        **THINGS,
        "failed": FAILED,
        "remedy": "OpenObject(receptacle) first",
        "unmet": (),
        "done": ["GoToObject(Fridge)"],
        "memory": "",
    },
    "planner_step_compiled": {
        "memory": ["Goal: put the mug in the fridge", "Next: OpenObject(Fridge)."],
        "news": ["Fridge: closed"],
        "unmet": ["no Mug of 1 in or on Fridge"],
        "held": "Mug",
    },
    "planner_step_example": {"thoughts": True},
    "planner_step_repair": ERROR,
    "planner_step_result": {
        "reason": "closed",
        "remedy": "OpenObject(receptacle) first",
        "unmet": (),
        "news": [],
        "held": "Mug",
    },
    "planner_step_system": {"skills": SKILLS_TOLD},
    "planner_step_task": {
        **THINGS,
        "memory": "",
        "unknown": [],
        "completed": "wash the mug",
        "instruction": "put it in the fridge",
    },
    "planner_system": {"library": library_text(SKILLS_TOLD, {})},
    "planner_task": {
        **THINGS,
        "skills": library_text([SKILLS["CoolObject"]], {"CoolObject": ["Fridge"]}),
        "memory": "",
        "completed": "wash the mug",
        "instruction": "put it in the fridge",
    },
    "planner_verify": {
        "instruction": "wash the mug and open the fridge",
        "goals": [("clean Mug", "it has no dirt or leftovers on it"), ("open Fridge", "it is open")],
    },
    "planner_verify_repair": ERROR,
}


def filled(name: str) -> str:
    loader = jinja2.FileSystemLoader(str(resource_path("config/prompts")))
    trims = not name.startswith("object_states")  # that one says itself where lines end
    prompts = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=trims)
    return prompts.get_template(f"{name}.j2").render(**FILLED[name]).rstrip() + "\n"


@pytest.mark.parametrize("name", FILLED)
def test_prompt_says_what_it_said(name: str) -> None:
    path, said = GOLDEN / f"{name}.txt", filled(name)
    if os.environ.get("ROBOT_MEMORY_WRITE_PROMPTS"):
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")


def test_every_prompt_is_here_and_in_the_docs() -> None:
    names = {path.stem for path in resource_path("config/prompts").glob("*.j2")}
    assert names == set(FILLED) == {path.stem for path in GOLDEN.glob("*.txt")}
    docs = DOCS.read_text(encoding="utf-8")
    assert [name for name in sorted(names) if f"`{name}`" not in docs] == []
