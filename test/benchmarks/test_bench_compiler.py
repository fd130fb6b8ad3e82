"""The rows of `bench compiler`, and the judge of guidance."""

import json
import random
from dataclasses import replace

import pytest

from benchmarks import compiler
from benchmarks.compiler_household import GuidedMoment, is_precise
from benchmarks.compiler_variants import (
    EMPTY_M,
    HISTORY,
    SHUFFLED_M,
    TEXT,
    OtherMemories,
    StaticInjection,
    WithoutBriefState,
    history_lines,
    retrieval_of,
)
from benchmarks.life.player import RobotPlayer
from memory_node.cli import main
from memory_node.context.beliefs import Beliefs
from memory_node.context.brief_state import BriefState
from memory_node.context.guidance import StepObservation, TakenStep
from memory_node.context.rules_compiler import RulesCompiler
from memory_node.context.task_memory import Entry, EntryKind, TaskMemory
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot

PICK, OPEN = SkillCall("PickupObject", ("Mug",)), SkillCall("OpenObject", ("Mug",))
FIX = Entry("fix", EntryKind.REMINDER, "open it", skill="PickupObject", steps=(SkillCall("OpenObject", ("{object}",)),))


def test_static_injection_is_followed_whatever_is_believed() -> None:
    memory = TaskMemory.of([FIX])
    believed = BriefState(facts=("Mug is opened",))
    guidance = StaticInjection().compile(StepObservation(proposed=PICK), believed, memory).guidance
    assert guidance is not None
    assert guidance.goal == OPEN
    done = StepObservation(proposed=PICK, recent=(TakenStep(OPEN, True),))
    assert StaticInjection().compile(done, believed, memory).guidance is None


def test_without_brief_state_only_the_last_failures_are_known() -> None:
    beliefs = Beliefs(Beliefs().world.standing_at(""))
    observation, brief = StepObservation(proposed=PICK, beliefs=beliefs), beliefs.brief()
    compiler = WithoutBriefState(RulesCompiler())
    assert RulesCompiler().compile(observation, brief, TaskMemory()).guidance is not None
    assert compiler.compile(observation, brief, TaskMemory()).guidance is None
    far = TakenStep(PICK, False, FailureReason.TOO_FAR)
    told = compiler.compile(replace(observation, recent=(far,)), brief, TaskMemory()).guidance
    assert told is not None
    assert told.goal == SkillCall("GoToObject", ("Mug",))


def test_history_is_short() -> None:
    steps = [TakenStep(PICK, False, FailureReason.TOO_FAR)] + [TakenStep(OPEN, True)] * HISTORY
    assert history_lines(steps) == ["OpenObject(Mug): done"] * HISTORY


def test_controls_exchange_m() -> None:
    memories = {"a": TaskMemory.of([FIX]), "b": TaskMemory()}

    def own(episode_id: str, instruction: str, goals: tuple[str, ...]) -> TaskMemory:
        return memories[goals[0]]

    others = OtherMemories(random.Random(0))
    assert retrieval_of(TEXT, others)(own)("e", "", ("a",)) == memories["a"]
    assert retrieval_of(EMPTY_M, others)(own)("e", "", ("a",)) == TaskMemory()
    shuffled = retrieval_of(SHUFFLED_M, others)(own)
    assert shuffled("e", "", ("a",)) == TaskMemory()
    assert shuffled("e", "", ("b",)) == memories["a"]
    assert shuffled("e", "", ("a",)) == memories["b"]


def call(skill: str, *names: str) -> SkillCall:
    return SkillCall(skill, names)


def test_guidance_is_judged_by_the_home() -> None:
    robot = HomeRobot(load_home("apartment"))
    fridge = robot.world.of_class("Fridge")[0].id
    far = max(robot.world.of_class("Sofa") or list(robot.world), key=lambda thing: thing.box.center[0]).id
    robot.run(call("GoToObject", far))
    before = robot.world.revision

    def judged(proposed: SkillCall, goal: SkillCall) -> bool:
        return is_precise(GuidedMoment(robot.world, robot.body.pose, proposed, goal))

    opening = call("OpenObject", fridge)
    assert judged(opening, call("GoToObject", fridge))
    assert not judged(opening, call("GoToObject", far))
    assert not judged(opening, opening)  # it fails: the robot is too far away
    assert not judged(opening, call("PickupObject", fridge))
    assert robot.world.revision == before  # all of it was tried in copies
    robot.run(call("GoToObject", fridge))
    assert judged(opening, opening)
    assert not judged(opening, call("GoToObject", fridge))  # it is there already


def test_every_variant_has_a_row(shared_dir, tmp_path, capsys) -> None:
    rows = json.loads((shared_dir / "data/alfred_l/tasks.json").read_text())
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([row for row in rows if row["floor_plan"] == "FloorPlan19"][:1]))
    scenes = shared_dir / "data/alfred_home/scenes.json.gz"
    files = ["--scenes", str(scenes), "--tasks", str(tasks), "--suite", "alfred-l"]
    assert main(["bench", "compiler", *files, "--compilers", "rules", "--limit", "1", "--json"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["variant"], row["compiler"]) for row in printed] == [
        ("none", "none"),
        ("no-faults", "none"),
        ("static", "none"),
        *[(name, "rules") for name in ("text", "no-brief-state", "no-loop-detection", "empty-m", "shuffled-m")],
    ]
    text = next(row for row in printed if row["variant"] == "text")
    assert text["executor_input_tokens"] > 0
    assert 0.0 <= text["noaction_share"] <= 1.0


def test_files_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compiler"]) == 1
    assert "--scenes and --tasks" in capsys.readouterr().err


def test_rows_with_latent_tokens_need_a_soft_memory(capsys: pytest.CaptureFixture[str]) -> None:
    latent = ["bench", "compiler", "--on", "alfworld", "--variants", "full"]
    assert main(latent) == 1
    assert "need --soft-memory FILE" in capsys.readouterr().err
    assert main([*latent, "--soft-memory", "mine.npz"]) == 1
    assert "needs --games" in capsys.readouterr().err
    assert main(["bench", "compiler", "--on", "scienceworld", "--variants", "full"]) == 1
    assert "has no rows full" in capsys.readouterr().err


def test_chance_stands_beside_a_model_that_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    for place in ("household", "life", "alfworld"):
        monkeypatch.setattr(compiler, f"rows_of_{place}", lambda _, variants, config: asked.append(variants) or [])
    for place, planner, stands in (
        ("household", "offline", False),
        ("household", "llm", True),
        ("life", "offline", False),
        ("life", "llm", True),
        ("alfworld", "offline", True),
    ):
        assert main(["bench", "compiler", "--on", place, "--planner", planner]) == 0
        assert (asked[-1][-2:] == ("chance", "chance-valued")) is stands


def test_household_tasks_are_carried_out_by_chance(shared_dir, tmp_path, capsys) -> None:
    rows = json.loads((shared_dir / "data/alfred_l/tasks.json").read_text())
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([row for row in rows if row["floor_plan"] == "FloorPlan19"][:1]))
    files = ["--scenes", str(shared_dir / "data/alfred_home/scenes.json.gz"), "--tasks", str(tasks)]
    command = ["bench", "compiler", *files, "--suite", "alfred-l", "--variants", "chance-valued", "--json"]
    assert main(command) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["variant"], row["compiler"], row["tasks"]) == ("chance-valued", "none", 1)
    assert row["executor_ms"] > 0
    assert row["guidance_precision"] is None


DAY = """
- id: cup-on-the-bed
  category: lessons
  home: apartment
  events:
    - do: put the cup on the bed
      want: {at: {cup: bed}}
    - restart: true
    - do: put the mug in the sink
      want: {at: {mug: bed}}
"""


def test_memory_is_compiled_in_several_ways_on_days(tmp_path, capsys) -> None:
    days = tmp_path / "days.yaml"
    days.write_text(DAY)
    variants = ["none", "static", "text", "empty-m", "chance"]
    command = ["bench", "compiler", "--on", "life", "--days", str(days), "--compilers", "rules", "--json"]
    assert main([*command, "--variants", *variants]) == 0
    rows = {row["variant"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert list(rows) == variants
    assert {row["tasks"] for row in rows.values()} == {1}
    for variant in ("none", "text"):
        assert (rows[variant]["success_rate"], rows[variant]["progress"]) == (0.0, 0.5)
    for variant in ("none", "chance"):
        assert (rows[variant]["compiler_ms"], rows[variant]["noaction_share"]) == (0.0, None)
    told = [rows[variant]["executor_input_tokens"] for variant in ("none", "text", "static")]
    assert told == sorted(told), "compiled memory is shorter than all of it"
    assert told[0] < told[1]


def test_day_that_crashes_counts_as_not_done_and_is_told(tmp_path, capsys, monkeypatch) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("no planner")

    monkeypatch.setattr(RobotPlayer, "execute", crash)
    days = tmp_path / "days.yaml"
    days.write_text(DAY)
    for bench, variant in (("compiler", ["--variants", "none"]), ("stream", ["--optimizer", "rules", "--orders", "1"])):
        assert main(["bench", bench, "--on", "life", "--days", str(days), *variant, "--json"]) == 0
        told = capsys.readouterr()
        (row,) = map(json.loads, told.out.splitlines())
        assert (row["tasks"], row["success_rate"], row.get("lost", 1)) == (1, 0.0, 1)
        assert "cup-on-the-bed crashed:" in told.err
        assert "RuntimeError: no planner" in told.err


def test_what_means_nothing_on_days_is_refused(tmp_path, capsys) -> None:
    life = ["bench", "compiler", "--on", "life"]
    days = ["--days", str(tmp_path / "days.yaml")]
    for options, said in (
        ([], "needs --days"),
        ([*days, "--orders", "2"], "no order counts"),
        ([*days, "--variants", "static", "--planner", "llm"], "a language model reads memory once"),
        ([*days, "--variants", "no-faults"], "--on life has no rows no-faults"),
    ):
        assert main([*life, *options]) == 1
        assert said in capsys.readouterr().err
