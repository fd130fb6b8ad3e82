"""The household and instruction benchmarks run from the command line on the real floor plans."""

import argparse
import gc
import gzip
import json
import weakref
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.household import add_experience_arguments, error_counts, experience_config
from benchmarks.household_cases import Case
from benchmarks.household_goals import judge_of
from benchmarks.household_homes import Homes
from benchmarks.household_life import Life, Lives, Trial
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.planner.executor import ExecutedStep, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import PlannedStep, PlanOutcome
from memory_node.planner.reading.understanding import Understander
from memory_node.search.minilm import MiniLmEmbedder


def test_household_reports_a_row_for_each_category(one_task, rows_of) -> None:
    printed = rows_of("household", *one_task)
    assert [row["category"] for row in printed] == ["simple", "all"]
    assert printed[-1]["success_rate"] == 1.0
    assert printed[-1]["reduced_exploration"] == 1.0


def test_rows_of_both_chance_planners_stand_beside_those_of_a_model(one_task, rows_of, endpoint) -> None:
    impossible = json.dumps({"calls": [{"tool": "impossible", "reason": "I do nothing"}]})
    server = endpoint(lambda _: impossible)
    arguments = [*one_task, "--no-baseline", "--planner", "llm", "--endpoint", server.url, "--model", "m"]
    printed = rows_of("household", *arguments)
    assert [row["planner"] for row in printed if row["category"] == "all"] == ["llm", "chance", "chance-valued"]
    assert [row["skills_mean"] > 0 for row in printed if row["category"] == "all"] == [False, True, True]
    printed = rows_of("household", *arguments, "--faults", "--orders", "1", "--rows", "+working")
    beside = [("llm", "+working"), ("chance", "none"), ("chance-valued", "none")]
    assert [(row["planner"], row["experience"]) for row in printed] == beside


def test_eb_alfred_rows_are_carried_out_and_reported_by_subset(shared_dir, tmp_path, rows_of) -> None:
    tasks = shared_dir / "data/alfred_home/tasks_train.jsonl.gz"
    with gzip.open(tasks, "rt") as file:
        task = next(row for row in map(json.loads, file) if row["task_type"] == "pick_and_place_simple")
    words = {"base": task["instructions"][0]["task"], "common_sense": task["instructions"][1]["task"]}
    rows = [{"subset": subset, "instruction": said, "repeat_idx": 0, "task": task} for subset, said in words.items()]
    path = tmp_path / "eb.json"
    path.write_text(json.dumps(rows))
    scenes = str(shared_dir / "data/alfred_home/scenes.json.gz")
    printed = rows_of("household", "--scenes", scenes, "--tasks", str(path), "--suite", "eb-alfred")
    assert [(row["category"], row["tasks"]) for row in printed] == [("base", 1), ("common_sense", 1), ("all", 2)]
    assert printed[-1]["success_rate"] == 1.0


def test_instructions_of_both_formats_are_read(tmp_path, rows_of) -> None:
    params = {
        "object_target": "Book",
        "object_sliced": False,
        "parent_target": "Bed",
        "mrecep_target": "",
        "toggle_target": "",
    }
    task = {
        "task_type": "pick_and_place_simple",
        "pddl_params": params,
        "floor_plan": "FloorPlan301",
        "objects": [{"type": name} for name in ("Book", "Pen", "Laptop", "Pillow", "CD", "AlarmClock", "CellPhone")],
    }
    plain = {
        **task,
        "instructions": [{"task": "put the book on the bed"}, {"task": "Place a book onto the bed."}],
    }
    wrapped = {"subset": "base", "instruction": "move the book to the bed", "repeat_idx": 0, "task": task}
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (plain, wrapped)))
    (row,) = rows_of("instructions", "--tasks", str(path))
    assert (row["instructions"], row["task_type_accuracy"], row["goal_exact"]) == (3, 1.0, 1.0)
    assert row["ms_p50"] > 0


def config_of(*options: str) -> ExperienceConfig:
    parser = argparse.ArgumentParser()
    add_experience_arguments(parser)
    return experience_config(parser.parse_args(options))


def test_defaults_are_the_products() -> None:
    assert config_of() == ExperienceConfig()


def test_parts_are_left_out() -> None:
    config = config_of("--working-memory", "3", "--top-k", "1", "--without-graphs", "rooms", "actions")
    assert (config.window, config.top_k) == (3, 1)
    assert config.graphs == {"relations", "trajectories"}


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="window"):
        config_of("--working-memory", "0")


R = FailureReason


def trial(*reasons: FailureReason, achieved: bool = False, question: str = "", met: int = 0) -> Trial:
    call = SkillCall("PickupObject", ("Mug",))
    steps = tuple(ExecutedStep(PlannedStep(call), SkillResult(call, one is R.NONE, one)) for one in reasons)
    outcome = PlanOutcome(("g",), (achieved,), question=question)
    case = Case("c1", "do it", "FloorPlan1", "simple", {})
    return Trial(case, InstructionResult("do it", outcome, steps, ()), met, 1, (), 0, 0, 0)


@pytest.mark.parametrize(
    ("failed", "kind"),
    [
        (trial(question="Which mug?"), "question"),
        (trial(), "no_plan"),
        (trial(R.NONE, achieved=True), "wrong_termination"),
        (trial(R.CLOSED, R.NONE, R.NOT_FOUND, R.NONE), "perception"),
        (trial(R.NOT_FOUND, R.CLOSED), "planning"),
        (trial(R.TIMEOUT), "execution"),
        (trial(R.NONE), "unfinished"),
    ],
)
def test_a_failure_has_one_kind(failed: Trial, kind: str) -> None:
    assert error_counts([failed]) == {kind: 1}


@pytest.fixture(scope="module")
def homes(shared_dir: Path) -> Homes:
    return Homes(shared_dir / "data/alfred_home/scenes.json.gz", load_catalogue(), 0)


def case(floor_plan: str, instruction: str, conditions: str) -> Case:
    return Case("c", "complex", floor_plan, instruction, {}, conditions)


def test_thing_that_a_condition_puts_back_at_a_place_begins_there(homes: Homes) -> None:
    told = case("FloorPlan422", "put the soap bar back where it belongs", "ON(soapbar,(-1.7, 0.8, 0.3)): 1")
    (soap,) = homes.world(told).of_class("SoapBar")
    assert np.linalg.norm(soap.box.center[:2] - [0.3, 1.7]) < 0.3


def test_what_was_done_to_a_thing_is_undone_where_the_home_is_laid_out_anew(homes: Homes) -> None:
    kinds, answers = load_catalogue(), []
    life = Life("full", MiniLmEmbedder(), OfflinePlanner(Understander(kinds, None, None), kinds))
    for instruction in ("cook the egg and put it on the counter top", "is the egg cooked?"):
        told = case("FloorPlan1", instruction, "STATE(egg, cooked): 1")
        trial = life.run(told, homes.world(told), partial(judge_of, told, kinds=kinds))
        answers.append((trial.met, trial.result.outcome.answer.startswith("Yes")))
    assert answers == [(1, False), (0, False)]


def test_appliances_of_a_floor_plan_stand_where_such_things_stand(homes: Homes) -> None:
    world = homes.world(case("FloorPlan1", "toast the bread, turn off the light", "STATE(bread, heated): 1"))
    (toaster,) = world.of_class("Toaster")
    assert world[toaster.parent_id].class_name in ("CounterTop", "DiningTable")
    assert len(world.of_class("LightSwitch")) == 1


def test_furnishing_is_the_same_for_the_same_seed(homes: Homes, shared_dir) -> None:
    again = Homes(shared_dir / "data/alfred_home/scenes.json.gz", load_catalogue(), 0)
    told = case("FloorPlan1", "put two apples on the table", "ON(apple, table): 1")
    places = [{thing.id: tuple(thing.box.center) for thing in one.world(told)} for one in (homes, again)]
    assert places[0] == places[1]
    assert len(homes.world(told).of_class("Apple")) == 2


def test_life_of_one_case_goes_before_the_next_begins(homes: Homes) -> None:
    kinds, experience = load_catalogue(), Experience(ExperienceConfig(), ExperienceLog(), lambda: 0)
    planner = OfflinePlanner(Understander(kinds, None, None), kinds)
    lives = Lives("full", homes, MiniLmEmbedder(), planner, experience, unknown=0.0)
    told = case("FloorPlan1", "find the egg", "STATE(egg, cooked): 1")
    lives.run(told)
    assert lives.current is not None
    first = weakref.ref(lives.current)
    lives.run(replace(told, id="another"))
    gc.collect()
    assert first() is None
